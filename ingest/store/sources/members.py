"""Members, the files inside an uploaded file: their jobs, their documents, the source's totals."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from ingest.payloads import AWAITS_MEMBERS, StoredFile
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/members.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCounts:
    """Counts over the child jobs of a root job."""

    total: int
    open: int
    members: int
    """Jobs that read a file rather than an archive."""
    bytes: int
    """Total size of the files that member jobs read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMember:
    """A stored document of an earlier run."""

    uri: str
    content_hash: bytes
    embedding_model_id: int
    status: str
    has_members: bool
    """Whether the file contained other files."""


async def children(conn: Connection, root_job_id: UUID) -> ChildCounts:
    async with conn.cursor(row_factory=class_row(ChildCounts)) as cur:
        await cur.execute(_SQL["children"], {"root_job_id": root_job_id})
        found = await cur.fetchone()
    if found is None:
        raise RuntimeError("a count returned no row")
    return found


async def lock(conn: Connection, root_job_id: UUID) -> None:
    """Let one transaction at a time add files to a run."""
    await conn.execute(_SQL["lock"], {"root_job_id": root_job_id})


async def mark_awaiting(conn: Connection, root_job_id: UUID) -> None:
    """Mark that a root job waits for its members; for the write of its outcome."""
    await conn.execute(
        _SQL["mark_awaiting"], {"root_job_id": root_job_id, "awaits_members": AWAITS_MEMBERS}
    )


async def known(
    conn: Connection, *, source_id: UUID, uris: Sequence[str]
) -> dict[str, KnownMember]:
    """Documents of the source with these URIs, by URI."""
    async with conn.cursor(row_factory=class_row(KnownMember)) as cur:
        await cur.execute(_SQL["known"], {"source_id": source_id, "uri_digests": _digests(uris)})
        return {row.uri: row for row in await cur.fetchall()}


async def mark_unchanged(
    conn: Connection, *, source_id: UUID, root_job_id: UUID, uris: Sequence[str]
) -> None:
    """Record that a run found these documents unchanged."""
    await conn.execute(
        _SQL["mark_unchanged"],
        {"source_id": source_id, "root_job_id": root_job_id, "uri_digests": _digests(uris)},
    )


async def drop_unseen(
    conn: Connection, *, source_id: UUID, root_job_id: UUID, keep_uri: str | None = None
) -> int:
    """Remove documents that are no longer in the file; returns how many.

    Call only at the end of a run. `keep_uri` is the document that this transaction writes.
    """
    done = await conn.execute(
        _SQL["drop_unseen"],
        {"source_id": source_id, "root_job_id": root_job_id, "keep_uri": keep_uri},
    )
    return done.rowcount


async def recount(conn: Connection, source_id: UUID) -> None:
    """Recompute a source's totals from its stored documents."""
    await conn.execute(_SQL["recount"], {"source_id": source_id})


async def finish_run(
    conn: Connection,
    source_id: UUID,
    *,
    root_job_id: UUID,
    file: StoredFile,
    model_id: int,
) -> bool:
    """Make the source match its file at the end of a run; False if the source was deleted."""
    done = await conn.execute(
        _SQL["update_source"],
        {
            "source_id": source_id,
            "root_job_id": root_job_id,
            "content_hash": file.content_hash,
            "blob_key": file.blob_key,
            "size_bytes": file.size_bytes,
            "model_id": model_id,
        },
    )
    await drop_unseen(conn, source_id=source_id, root_job_id=root_job_id)
    await recount(conn, source_id)
    return done.rowcount == 1


async def reopen(conn: Connection, root_job_id: UUID) -> None:
    """Queue the root job again if the run has already ended."""
    await conn.execute(_SQL["reopen"], {"root_job_id": root_job_id})


def _digests(uris: Sequence[str]) -> list[str]:
    return [hashlib.md5(uri.encode(), usedforsecurity=False).hexdigest() for uri in uris]
