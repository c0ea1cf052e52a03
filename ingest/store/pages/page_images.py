"""The cache of pictures of pages: which blob shows which page of which version."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("pages/page_images.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageKey:
    """A picture of a page of one version of a document."""

    document_id: UUID
    page: int
    """1-based."""
    width: int
    """Pixels."""
    content_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    blob_key: str
    size_bytes: int
    is_stale: bool
    """Whether its last use was noted long ago."""


async def find(conn: Connection, key: ImageKey) -> KeptImage | None:
    """The picture, and notes that it is used."""
    async with conn.cursor(row_factory=class_row(KeptImage)) as cur:
        await cur.execute(_SQL["find"], asdict(key))
        kept = await cur.fetchone()
    if kept is not None and kept.is_stale:
        await conn.execute(_SQL["touch"], asdict(key))
    return kept


async def put(
    conn: Connection, key: ImageKey, *, application_id: UUID, blob_key: str, size_bytes: int
) -> list[str]:
    """Keep a picture; returns the blobs that nothing names any more.

    This may be the new one, if the document was deleted or replaced while its page was drawn.
    """
    values = {
        **asdict(key),
        "application_id": application_id,
        "blob_key": blob_key,
        "size_bytes": size_bytes,
    }
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["replaced"], values)
        earlier: str | None = await cur.fetchone()
        await cur.execute(_SQL["put"], values)
        if await cur.fetchone() is None:
            return [blob_key]
    return [] if earlier is None else [earlier]


async def evict(conn: Connection, *, budget: int, limit: int) -> list[str]:
    """Forget the longest unused pictures beyond `budget` bytes; returns up to `limit` blobs."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["evict"], {"budget": budget, "limit": limit})
        return await cur.fetchall()


async def referenced_blobs(conn: Connection, keys: Sequence[str]) -> set[str]:
    """Those of the blobs that are pictures in the cache."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["referenced_blobs"], {"keys": list(keys)})
        return set(await cur.fetchall())
