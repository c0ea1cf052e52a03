"""New versions of files that wait for a review, stored but hidden from everything that reads.

Such a document names the job that made it, counts as deleted, and is known by a uri of its own, so
that the searchable version stays as it is beside it. It lives exactly as long as its job is in
`review_needed`: whoever ends that calls `publish` or `drop` in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.sources import members, sources
from ingest.store.sources.sources import Content

_SQL = load_queries("documents/held_documents.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    source_id: UUID
    content_hash: bytes
    model_id: int
    coverage: dict[str, Any]
    chunk_count: int
    token_count: int
    is_member: bool
    """Whether it is one of several documents of its source."""
    blob_key: str
    size_bytes: int


def held_uri(job_id: UUID) -> str:
    """The uri of what a job holds back; no path is called so before the job has its id."""
    return f"held:{job_id}"


async def publish(conn: Connection, job_id: UUID) -> None:
    """Put what a job holds back, if anything, in the place of what is searchable.

    The caller has locked the job, and settles the source afterwards.
    """
    await conn.execute(_SQL["drop_replaced"], {"job_id": job_id})
    async with conn.cursor(row_factory=class_row(_Published)) as cur:
        await cur.execute(_SQL["publish"], {"job_id": job_id})
        new = await cur.fetchone()
    if new is None:
        return
    if new.is_member:
        await members.recount(conn, new.source_id)
        return
    content = Content(
        source_id=new.source_id,
        content_hash=new.content_hash,
        blob_key=new.blob_key,
        size_bytes=new.size_bytes,
        model_id=new.model_id,
        coverage=new.coverage,
        chunk_count=new.chunk_count,
        token_count=new.token_count,
    )
    await sources.set_content(conn, [content])


async def drop(conn: Connection, job_ids: Sequence[UUID]) -> None:
    """Remove what jobs hold back whose review has ended otherwise."""
    if job_ids:
        await conn.execute(_SQL["drop"], {"job_ids": list(job_ids)})


async def drop_orphans(conn: Connection, limit: int) -> int:
    """Remove up to `limit` documents whose job waits for no review any more; how many."""
    return (await conn.execute(_SQL["drop_orphans"], {"limit": limit})).rowcount
