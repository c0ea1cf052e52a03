"""Documents of web pages: keep, flag or remove them, and update the counts of their source."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from psycopg.rows import scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.documents import FromWeb

_SQL = load_queries("crawl/site_documents.sql")


async def seen_unchanged(conn: Connection, id: UUID, *, content_hash: bytes, seen: FromWeb) -> None:
    """Keep a document, and store the response's validators, hash and links."""
    await conn.execute(
        _SQL["seen_unchanged"],
        {
            "id": id,
            "content_hash": content_hash,
            "etag": seen.etag,
            "last_modified": seen.last_modified,
            "links": list(seen.links),
        },
    )


async def texts_of_pattern(
    conn: Connection, source_id: UUID, *, pattern: str, length: int, except_for: str
) -> list[tuple[str, str]]:
    """Addresses and texts of the documents of a URL pattern whose length is closest to `length`."""
    cursor = await conn.execute(
        _SQL["texts_of_pattern"],
        {"source_id": source_id, "pattern": pattern, "length": length, "uri": except_for},
    )
    return await cursor.fetchall()


async def flag_collapsed(conn: Connection, id: UUID) -> None:
    """Keep a document whose page has lost most of its text; add the warning `text_collapsed`."""
    await conn.execute(_SQL["flag_collapsed"], {"id": id})


async def counts(conn: Connection, source_id: UUID, uri: str) -> tuple[int, int]:
    """Chunk and token counts of the live document at this address; zeros if there is none."""
    cursor = await conn.execute(_SQL["counts"], {"source_id": source_id, "uri": uri})
    row = await cursor.fetchone()
    return (0, 0) if row is None else (row[0], row[1])


async def add_counts(
    conn: Connection, source_id: UUID, *, chunks: int, tokens: int, model_id: int
) -> None:
    """Add to the source's counts; negative numbers subtract."""
    await conn.execute(
        _SQL["add_counts"],
        {"source_id": source_id, "chunks": chunks, "tokens": tokens, "model_id": model_id},
    )


async def unseen(conn: Connection, *, source_id: UUID, crawl_id: UUID, variants: int) -> list[UUID]:
    """Documents whose page the run has not found; none of a URL pattern with `variants` pages."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["unseen"],
            {
                "source_id": source_id,
                "crawl_id": crawl_id,
                "most_variants": variants,
            },
        )
        return await cur.fetchall()


async def list_unseen(
    conn: Connection, ids: Sequence[UUID], *, crawl_id: UUID, status: Literal["held", "removed"]
) -> None:
    """Add the documents that the run removes, or holds for review, to its pages."""
    if ids:
        await conn.execute(
            _SQL["list_unseen"], {"crawl_id": crawl_id, "ids": list(ids), "status": status}
        )


async def decide_held(
    conn: Connection, crawl_id: UUID, *, status: Literal["kept", "removed"]
) -> None:
    """Store the review decision for the pages whose removal was held."""
    await conn.execute(_SQL["decide_held"], {"crawl_id": crawl_id, "status": status})


async def live(conn: Connection, source_id: UUID) -> int:
    """How many documents of a source are searchable."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["live"], {"source_id": source_id})
        return int(await cur.fetchone() or 0)


async def remove(conn: Connection, ids: Sequence[UUID]) -> int:
    """Tombstone documents and delete their chunks; return how many were live."""
    if not ids:
        return 0
    await conn.execute(_SQL["remove_chunks"], {"ids": list(ids)})
    return (await conn.execute(_SQL["tombstone"], {"ids": list(ids)})).rowcount


async def recount(conn: Connection, *, source_id: UUID, crawl_id: UUID) -> int:
    """Recompute counts and coverage of a source from its documents; return its chunk count."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["recount"], {"source_id": source_id, "crawl_id": crawl_id})
        return int(await cur.fetchone() or 0)
