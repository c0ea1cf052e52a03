"""Register uploaded files: match them with existing sources and queue a job where needed."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.errors import NotFound
from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.limits import usage
from ingest.store.queue import job_control, jobs
from ingest.store.sources import collections, events, sources
from ingest.store.sources.upload_verdicts import (
    Existing,
    FileVerdict,
    UploadedFile,
    UploadRequest,
    judge,
)
from ingest.store.tenants import applications

_SQL = load_queries("sources/uploads.sql")


async def register(
    conn: Connection, upload: UploadRequest, files: Sequence[UploadedFile]
) -> tuple[UUID, list[FileVerdict]]:
    """Write sources, jobs and the batch's report in the caller's transaction.

    Returns the batch and one verdict per file, in order. The bytes of accepted files must be
    durable before the transaction commits. Raises NotFound if the application has no such batch or
    collection.
    """
    await _hold_collection(conn, upload)
    await applications.lock_sources(conn, upload.application_id)
    batch_id = await _batch(conn, upload)
    existing = await _existing(conn, upload.application_id, files)
    originals = await _same_content(conn, upload.application_id, files)
    room = await usage.room(conn, upload.application_id, upload.quotas)
    verdicts = judge(upload, files, existing, originals, room=room)
    await _write_sources(conn, upload, batch_id, verdicts)
    await _join_collection(conn, upload, verdicts)
    await _write_report(conn, batch_id, verdicts)
    return batch_id, verdicts


async def preview(
    conn: Connection, upload: UploadRequest, files: Sequence[UploadedFile]
) -> list[FileVerdict]:
    """What `register` would decide now; writes nothing. Ids of new sources and jobs will differ.

    Shows which files must be made durable before `register`. Raises NotFound like `register`.
    """
    if upload.batch_id is not None:
        await _batch(conn, upload)
    await _hold_collection(conn, upload)
    existing = await _existing(conn, upload.application_id, files)
    room = await usage.room(conn, upload.application_id, upload.quotas)
    return judge(upload, files, existing, {}, room=room)


async def changed_though_known(
    conn: Connection, upload: UploadRequest, source_ids: Sequence[UUID]
) -> set[UUID]:
    """The sources whose metadata or collections the upload would change."""
    joining: set[UUID] = set()
    if upload.collection_id is not None:
        joining = await collections.missing(
            conn,
            application_id=upload.application_id,
            id=upload.collection_id,
            source_ids=source_ids,
        )
    if upload.metadata is None:
        return joining
    cursor = await conn.execute(
        _SQL["with_other_metadata"],
        {
            "application_id": upload.application_id,
            "ids": list(source_ids),
            "metadata": Jsonb(upload.metadata),
        },
    )
    return joining | {id for (id,) in await cursor.fetchall()}


async def _hold_collection(conn: Connection, upload: UploadRequest) -> None:
    if upload.collection_id is not None:
        await collections.hold(
            conn, application_id=upload.application_id, ids=[upload.collection_id]
        )


async def _join_collection(
    conn: Connection, upload: UploadRequest, verdicts: Sequence[FileVerdict]
) -> None:
    if upload.collection_id is None:
        return
    joining = {
        verdict.source_id
        for verdict in verdicts
        if verdict.source_id and verdict.verdict in ("accepted", "unchanged")
    }
    await collections.add_sources(
        conn,
        application_id=upload.application_id,
        id=upload.collection_id,
        source_ids=joining,
    )


async def _batch(conn: Connection, upload: UploadRequest) -> UUID:
    identity = {"id": upload.batch_id or new_id(), "application_id": upload.application_id}
    if upload.batch_id is None:
        await conn.execute(_SQL["ensure_batch"], identity)
    elif await (await conn.execute(_SQL["find_batch"], identity)).fetchone() is None:
        raise NotFound("batch")
    return identity["id"]


async def _existing(
    conn: Connection, application_id: UUID, files: Sequence[UploadedFile]
) -> dict[str, Existing]:
    digests = [hashlib.md5(file.path.encode(), usedforsecurity=False).hexdigest() for file in files]
    async with conn.cursor(row_factory=class_row(Existing)) as cur:
        await cur.execute(
            _SQL["existing"], {"application_id": application_id, "uri_digests": digests}
        )
        return {row.uri: row for row in await cur.fetchall()}


async def _same_content(
    conn: Connection, application_id: UUID, files: Sequence[UploadedFile]
) -> dict[bytes, UUID]:
    cursor = await conn.execute(
        _SQL["same_content"],
        {"application_id": application_id, "hashes": [file.sha256 for file in files]},
    )
    return dict(await cursor.fetchall())


async def _write_sources(
    conn: Connection, upload: UploadRequest, batch_id: UUID, verdicts: Sequence[FileVerdict]
) -> None:
    accepted = [verdict for verdict in verdicts if verdict.verdict == "accepted"]
    new = [verdict for verdict in accepted if verdict.is_new_source]
    updated = [verdict for verdict in accepted if not verdict.is_new_source]
    common = {"application_id": upload.application_id, "batch_id": batch_id}
    if updated:
        await job_control.cancel(
            conn,
            application_id=upload.application_id,
            source_ids=[verdict.source_id for verdict in updated if verdict.source_id],
            reason="superseded by a newer upload",
        )
    unchanged = [verdict.source_id for verdict in verdicts if verdict.verdict == "unchanged"]
    rewritten = [verdict.source_id for verdict in updated]
    if upload.metadata is not None:
        rewritten += unchanged
    if rewritten:
        await sources.lock(conn, [id for id in rewritten if id])
    if updated:
        metadata = None if upload.metadata is None else Jsonb(upload.metadata)
        await conn.execute(
            _SQL["update_sources"], {**_columns(updated), **common, "metadata": metadata}
        )
    if new:
        await conn.execute(
            _SQL["insert_sources"],
            {
                **_columns(new),
                **common,
                "names": [PurePosixPath(verdict.file.path).name for verdict in new],
                "uris": [verdict.file.path for verdict in new],
                "metadata": Jsonb(upload.metadata or {}),
            },
        )
    if unchanged and upload.metadata is not None:
        await conn.execute(
            _SQL["update_metadata"], {"ids": unchanged, "metadata": Jsonb(upload.metadata)}
        )
    await jobs.enqueue(conn, [_job(upload, batch_id, verdict) for verdict in accepted])
    await events.emit(conn, [_event(verdict) for verdict in accepted])


def _columns(verdicts: Sequence[FileVerdict]) -> dict[str, Any]:
    return {
        "ids": [verdict.source_id for verdict in verdicts],
        "job_ids": [verdict.job_id for verdict in verdicts],
        "duplicates": [verdict.duplicate_of for verdict in verdicts],
    }


def _job(upload: UploadRequest, batch_id: UUID, verdict: FileVerdict) -> jobs.NewJob:
    return jobs.NewJob(
        id=verdict.job_id or new_id(),
        application_id=upload.application_id,
        type="file",
        source_id=verdict.source_id,
        batch_id=batch_id,
        priority=upload.priority,
        payload=FilePayload(
            blob_key=verdict.file.blob_key,
            content_hash=verdict.file.sha256,
            size_bytes=verdict.file.size,
        ),
    )


def _event(verdict: FileVerdict) -> events.NewEvent:
    if verdict.source_id is None:
        raise RuntimeError("an accepted file has no source")
    return events.NewEvent(
        source_id=verdict.source_id,
        type="source",
        data={"status": "pending", "jobId": str(verdict.job_id), "percent": 0},
    )


async def _write_report(conn: Connection, batch_id: UUID, verdicts: Sequence[FileVerdict]) -> None:
    await conn.execute(
        _SQL["add_files"],
        {
            "batch_id": batch_id,
            "paths": [verdict.file.path for verdict in verdicts],
            "sizes": [verdict.file.size for verdict in verdicts],
            "verdicts": [verdict.verdict for verdict in verdicts],
            "source_ids": [verdict.source_id for verdict in verdicts],
            "job_ids": [verdict.job_id for verdict in verdicts],
            "codes": [verdict.code for verdict in verdicts],
            "details": [verdict.detail for verdict in verdicts],
        },
    )
    counts = Counter(verdict.verdict for verdict in verdicts)
    verdict_counts = {
        name: counts[name] for name in ("accepted", "unchanged", "duplicate", "rejected")
    }
    await conn.execute(_SQL["count_batch"], {"id": batch_id, **verdict_counts})
