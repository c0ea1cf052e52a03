"""Knowledge sources as the worker sees them; reading them for people is in source_views.py."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/sources.sql")

TERMINAL: frozenset[SourceStatus] = frozenset({"completed", "partial", "failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The state that was derived for a source."""

    id: UUID
    status: SourceStatus
    was: SourceStatus
    """Before; equal when nothing has changed."""
    error_code: str | None
    error_message: str | None
    chunk_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceForJob:
    id: UUID
    application_id: UUID
    name: str
    uri: str
    type: str
    metadata: dict[str, Any]
    content_hash: bytes | None
    blob_key: str | None
    application_chunking: Any = None
    """As it is stored (chunking.py), as `own_chunking`."""
    own_chunking: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is searchable of a source that is one document."""

    source_id: UUID
    content_hash: bytes
    blob_key: str
    size_bytes: int
    model_id: int
    coverage: dict[str, Any]
    chunk_count: int
    token_count: int


async def settle(conn: Connection, ids: Sequence[UUID]) -> list[Settled]:
    """Derive the state of sources whose jobs have changed in this transaction."""
    if not ids:
        return []
    await lock(conn, ids)
    async with conn.cursor(row_factory=class_row(Settled)) as cur:
        await cur.execute(_SQL["derive"], {"ids": list(ids)})
        return await cur.fetchall()


async def for_jobs(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, SourceForJob]:
    """The sources of jobs, without those that were deleted."""
    async with conn.cursor(row_factory=class_row(SourceForJob)) as cur:
        await cur.execute(_SQL["for_jobs"], {"ids": list(ids)})
        return {source.id: source for source in await cur.fetchall()}


async def lock(conn: Connection, ids: Collection[UUID]) -> None:
    """Lock the rows of sources until the end of the transaction, in the order that all keep."""
    await conn.execute(_SQL["lock"], {"ids": list(ids)})


async def set_content(conn: Connection, contents: Sequence[Content]) -> set[UUID]:
    """Say what is searchable now, in the transaction that makes it so; of which sources it could.

    Not of those that were deleted. The rows are locked before, when they are several.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["set_content"],
            {
                "ids": [content.source_id for content in contents],
                "content_hashes": [content.content_hash for content in contents],
                "blob_keys": [content.blob_key for content in contents],
                "sizes": [content.size_bytes for content in contents],
                "model_ids": [content.model_id for content in contents],
                "coverages": [Jsonb(content.coverage) for content in contents],
                "chunk_counts": [content.chunk_count for content in contents],
                "token_counts": [content.token_count for content in contents],
            },
        )
        return set(await cur.fetchall())


async def tombstone(conn: Connection, *, application_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """Hide sources from everything, at once; those that were there. Cancel their jobs before."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["tombstone"], {"application_id": application_id, "ids": list(ids)})
        return await cur.fetchall()


async def purge_chunks(conn: Connection, id: UUID, *, limit: int) -> int:
    """Remove up to `limit` chunks of a tombstoned source, with their vectors; how many."""
    return (await conn.execute(_SQL["purge_chunks"], {"id": id, "limit": limit})).rowcount


async def blob_keys(conn: Connection, id: UUID) -> list[str]:
    """The files of a tombstoned source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["blob_keys"], {"id": id})
        return await cur.fetchall()


async def purge(conn: Connection, id: UUID) -> None:
    """Remove a tombstoned source with everything that hangs on it."""
    await conn.execute(_SQL["purge"], {"id": id})


async def referenced_blobs(conn: Connection, keys: Sequence[str]) -> set[str]:
    """Those of `keys` that are the searchable version of a source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["referenced_blobs"], {"keys": list(keys)})
        return set(await cur.fetchall())


async def unsettled(conn: Connection) -> list[UUID]:
    """Up to 1,000 sources that are open although none of their jobs is."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["unsettled"])
        return await cur.fetchall()


async def fail_jobless(conn: Connection, ids: Sequence[UUID]) -> list[Settled]:
    """Fail those of `ids` whose job no longer exists."""
    async with conn.cursor(row_factory=class_row(Settled)) as cur:
        await cur.execute(_SQL["fail_jobless"], {"ids": list(ids)})
        return await cur.fetchall()
