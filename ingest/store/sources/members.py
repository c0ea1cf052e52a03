"""Files inside of uploaded files: what a run knows of them, and what it makes of the source."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/members.sql")

AWAITED: Final = "awaitsMembers"
"""In the payload of a root job whose files are in the queue, or have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """The jobs that a root job has put into the queue."""

    total: int
    open: int
    members: int
    """Those that read a file, not an archive."""
    bytes: int
    """Of the files that they read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMember:
    """A document of an earlier run."""

    uri: str
    content_hash: bytes
    embedding_model_id: int | None
    status: str
    has_members: bool
    """Whether there were files in it."""


async def children(conn: Connection, root_job_id: UUID) -> Children:
    async with conn.cursor(row_factory=class_row(Children)) as cur:
        await cur.execute(_SQL["children"], {"root_job_id": root_job_id})
        found = await cur.fetchone()
    if found is None:
        raise RuntimeError("a count always has a row")
    return found


async def lock(conn: Connection, root_job_id: UUID) -> None:
    """Let one transaction at a time add files to a run."""
    await conn.execute(_SQL["lock"], {"root_job_id": root_job_id})


async def begin(conn: Connection, root_job_id: UUID) -> None:
    """For the write of a root job that waits for the files in its file from now on."""
    await conn.execute(_SQL["begin"], {"root_job_id": root_job_id, "awaited": AWAITED})


async def known(
    conn: Connection, *, source_id: UUID, uris: Sequence[str]
) -> dict[str, KnownMember]:
    """Documents of these uris, by uri."""
    async with conn.cursor(row_factory=class_row(KnownMember)) as cur:
        await cur.execute(_SQL["known"], {"source_id": source_id, "uri_digests": _digests(uris)})
        return {row.uri: row for row in await cur.fetchall()}


async def keep(
    conn: Connection, *, source_id: UUID, root_job_id: UUID, uris: Sequence[str]
) -> None:
    """Say that a run has found these documents unchanged."""
    await conn.execute(
        _SQL["keep"],
        {"source_id": source_id, "root_job_id": root_job_id, "uri_digests": _digests(uris)},
    )


async def drop_unseen(
    conn: Connection, *, source_id: UUID, root_job_id: UUID, keep_uri: str | None = None
) -> int:
    """Remove documents that are no longer in the file; how many.

    Only for the end of a run. `keep_uri` is the document that this transaction writes.
    """
    done = await conn.execute(
        _SQL["drop_unseen"],
        {"source_id": source_id, "root_job_id": root_job_id, "keep_uri": keep_uri},
    )
    return done.rowcount


async def recount(conn: Connection, source_id: UUID) -> None:
    """Sum up what the documents of a source have, once they are stored."""
    await conn.execute(_SQL["recount"], {"source_id": source_id})


async def end(
    conn: Connection,
    source_id: UUID,
    *,
    root_job_id: UUID,
    payload: dict[str, Any],
    model_id: int,
) -> bool:
    """The source is what its file holds now; False when it was deleted.

    `payload` is that of the root job, which names the bytes.
    """
    done = await conn.execute(
        _SQL["content"],
        {
            "source_id": source_id,
            "root_job_id": root_job_id,
            "content_hash": bytes.fromhex(payload["contentHash"]),
            "blob_key": payload["blobKey"],
            "size_bytes": payload["sizeBytes"],
            "model_id": model_id,
        },
    )
    await drop_unseen(conn, source_id=source_id, root_job_id=root_job_id)
    await recount(conn, source_id)
    return done.rowcount == 1


async def reopen(conn: Connection, root_job_id: UUID) -> None:
    """Have the end of a run looked at again, if it has ended."""
    await conn.execute(_SQL["reopen"], {"root_job_id": root_job_id})


def _digests(uris: Sequence[str]) -> list[str]:
    return [hashlib.md5(uri.encode(), usedforsecurity=False).hexdigest() for uri in uris]
