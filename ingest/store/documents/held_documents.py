"""New versions of files awaiting review: stored, but hidden from all readers.

A held document names the job that made it, counts as deleted, and has a temporary uri, so the
searchable version stays unchanged beside it. It exists exactly as long as its job is in
`review_needed`: code that ends this status calls `publish` or `drop` in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.sources import members, sources
from ingest.store.sources.sources import SourceContent

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
    """Whether its source has several documents."""
    blob_key: str
    size_bytes: int


def held_uri(job_id: UUID) -> str:
    """The temporary uri; no path can equal it, since the job id is new."""
    return f"held:{job_id}"


async def publish(conn: Connection, job_id: UUID) -> None:
    """Replace the searchable version with the one that a job holds, if any.

    The caller has locked the job, and updates the status of the source afterwards.
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
    content = SourceContent(
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
    """Delete the held versions of jobs whose review ended without approval."""
    if job_ids:
        await conn.execute(_SQL["drop"], {"job_ids": list(job_ids)})


async def drop_orphans(conn: Connection, limit: int) -> int:
    """Delete up to `limit` held documents whose job no longer awaits review; return how many."""
    return (await conn.execute(_SQL["drop_orphans"], {"limit": limit})).rowcount
