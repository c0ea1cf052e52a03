"""What is left out of the pages of a site: a sample of them to decide by, and the decision."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.chunking_json import furniture_digest

_SQL = load_queries("crawl/site_furniture.sql")

SampledPage = tuple[str, str, str, list[tuple[int, str]]]
"""Position in the sample, uri, text, and the parts left out of it."""


async def sample(
    conn: Connection,
    source_id: UUID,
    *,
    after: str,
    limit: int,
    longest: int,
    media_types: Sequence[str],
) -> list[SampledPage]:
    """The next pages of a site after a position; `longest`: characters of the text of a page."""
    cursor = await conn.execute(
        _SQL["sample"],
        {
            "source_id": source_id,
            "after": after,
            "limit": limit,
            "longest": longest,
            "media_types": list(media_types),
        },
    )
    return await cursor.fetchall()


async def known(conn: Connection, source_id: UUID) -> dict[str, str]:
    """The decision: keys of blocks, each with the uri of the page that keeps it, or empty."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["known"], {"source_id": source_id})
        return dict(await cur.fetchone() or [])


async def is_due(conn: Connection, source_id: UUID, *, pages: int) -> bool:
    """Whether nothing was decided yet, although so many pages are stored."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["is_due"], {"source_id": source_id, "pages": pages})
        return bool(await cur.fetchone())


async def save(
    conn: Connection, source_id: UUID, *, application_id: UUID, furniture: Mapping[str, str]
) -> None:
    """Store the decision. The caller holds the lock of the source."""
    blocks = sorted(furniture.items())
    await conn.execute(
        _SQL["save"],
        {
            "source_id": source_id,
            "application_id": application_id,
            "blocks": Jsonb(blocks),
            "digest": furniture_digest(blocks),
        },
    )
