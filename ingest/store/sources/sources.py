"""Knowledge sources for the worker; views for the API are in source_views.py."""

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
    """The state derived for a source."""

    id: UUID
    status: SourceStatus
    was: SourceStatus
    """The previous status; equal to `status` if it did not change."""
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
    """Stored JSON (chunking.py); so is `own_chunking`."""
    own_chunking: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContent:
    """Searchable content of a source that consists of one document."""

    source_id: UUID
    content_hash: bytes
    blob_key: str
    size_bytes: int
    model_id: int
    coverage: dict[str, Any]
    chunk_count: int
    token_count: int


async def settle(conn: Connection, ids: Sequence[UUID]) -> list[Settled]:
    """Derive the state of sources whose jobs changed in this transaction."""
    if not ids:
        return []
    await lock(conn, ids)
    async with conn.cursor(row_factory=class_row(Settled)) as cur:
        await cur.execute(_SQL["derive"], {"ids": list(ids)})
        return await cur.fetchall()


async def for_jobs(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, SourceForJob]:
    """Sources by id, without deleted ones."""
    async with conn.cursor(row_factory=class_row(SourceForJob)) as cur:
        await cur.execute(_SQL["for_jobs"], {"ids": list(ids)})
        return {source.id: source for source in await cur.fetchall()}


async def lock(conn: Connection, ids: Collection[UUID]) -> None:
    """Lock the rows of sources until the transaction ends."""
    await conn.execute(_SQL["lock"], {"ids": list(ids)})


async def set_content(conn: Connection, contents: Sequence[SourceContent]) -> set[UUID]:
    """Record the searchable content, in the transaction that stores it.

    Returns the updated sources; deleted ones are skipped. For several sources, the caller must
    `lock` the rows first.
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
    """Mark sources as deleted; returns those that existed. Cancel their jobs first."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["tombstone"], {"application_id": application_id, "ids": list(ids)})
        return await cur.fetchall()


async def purge_chunks(conn: Connection, id: UUID, *, limit: int) -> int:
    """Remove up to `limit` chunks of a tombstoned source and their vectors; returns how many."""
    return (await conn.execute(_SQL["purge_chunks"], {"id": id, "limit": limit})).rowcount


async def blob_keys(conn: Connection, id: UUID) -> list[str]:
    """Keys of all blobs of a tombstoned source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["blob_keys"], {"id": id})
        return await cur.fetchall()


async def purge(conn: Connection, id: UUID) -> None:
    """Remove a tombstoned source and all rows that reference it."""
    await conn.execute(_SQL["purge"], {"id": id})


async def referenced_blobs(conn: Connection, keys: Sequence[str]) -> set[str]:
    """The subset of `keys` that are the searchable version of a source."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["referenced_blobs"], {"keys": list(keys)})
        return set(await cur.fetchall())


async def unsettled(conn: Connection) -> list[UUID]:
    """Up to 1,000 open sources without an open job."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["unsettled"])
        return await cur.fetchall()


async def fail_jobless(conn: Connection, ids: Sequence[UUID]) -> list[Settled]:
    """Fail the sources in `ids` whose job no longer exists."""
    async with conn.cursor(row_factory=class_row(Settled)) as cur:
        await cur.execute(_SQL["fail_jobless"], {"ids": list(ids)})
        return await cur.fetchall()
