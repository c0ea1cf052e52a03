"""Register uploaded files: which are new, which are known, one job for each that needs one."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries, new_id
from ingest.errors import Conflict, NotFound
from ingest.store import applications, events, job_control, jobs

_SQL = load_queries("uploads.sql")

Verdict = Literal["accepted", "unchanged", "duplicate", "rejected"]
OnConflict = Literal["update", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file whose bytes are staged in the blob store; with `code`, one that was refused before."""

    path: str
    """Normalised: relative, `/`-separated, NFC; the identity of the file in its application."""
    size: int
    sha256: bytes
    blob_key: str
    code: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVerdict:
    """What became of one file of an upload."""

    file: UploadedFile
    verdict: Verdict
    source_id: UUID | None = None
    job_id: UUID | None = None
    duplicate_of: UUID | None = None
    code: str | None = None
    detail: str | None = None
    is_new_source: bool = field(default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What all files of one request share."""

    application_id: UUID
    batch_id: UUID | None
    """An existing batch to add to; None: a new one."""
    model_id: int
    """The embedding model in use: content embedded with another one is not `unchanged`."""
    metadata: dict[str, Any] | None = None
    priority: int = 0
    on_conflict: OnConflict = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Existing:
    id: UUID
    uri: str
    content_hash: bytes | None
    embedding_model_id: int | None
    status: str
    open_job_id: UUID | None
    open_hash: str | None


async def register(
    conn: Connection, upload: Upload, files: Sequence[UploadedFile]
) -> tuple[UUID, list[FileVerdict]]:
    """Write sources, jobs and the batch's report in the caller's transaction.

    Returns the batch and one verdict per file, in order. The bytes of accepted files must be
    durable before the transaction commits. Raises NotFound for a batch of somebody else.
    """
    await applications.lock_sources(conn, upload.application_id)
    batch_id = await _batch(conn, upload)
    existing = await _existing(conn, upload.application_id, files)
    originals = await _same_content(conn, upload.application_id, files)
    verdicts = _judge(upload, files, existing, originals)
    await _write_sources(conn, upload, batch_id, verdicts)
    await _write_report(conn, batch_id, verdicts)
    return batch_id, verdicts


async def _batch(conn: Connection, upload: Upload) -> UUID:
    identity = {"id": upload.batch_id or new_id(), "application_id": upload.application_id}
    if upload.batch_id is None:
        await conn.execute(_SQL["ensure_batch"], identity)
    elif await (await conn.execute(_SQL["find_batch"], identity)).fetchone() is None:
        raise NotFound("batch")
    return identity["id"]


async def _existing(
    conn: Connection, application_id: UUID, files: Sequence[UploadedFile]
) -> dict[str, _Existing]:
    digests = [hashlib.md5(file.path.encode(), usedforsecurity=False).hexdigest() for file in files]
    async with conn.cursor(row_factory=class_row(_Existing)) as cur:
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


def _judge(
    upload: Upload,
    files: Sequence[UploadedFile],
    existing: dict[str, _Existing],
    originals: dict[bytes, UUID],
) -> list[FileVerdict]:
    """One verdict per file, in order. Pure: what is in the database was read before."""
    seen: dict[str, FileVerdict] = {}
    first_with: dict[bytes, UUID] = dict(originals)
    verdicts = []
    for file in files:
        if file.code is not None:
            verdict = FileVerdict(
                file=file, verdict="rejected", code=file.code, detail=file.detail
            )
        elif file.path in seen:
            verdict = _second_of_its_path(file, seen[file.path])
        else:
            verdict = _judge_one(upload, file, existing.get(file.path))
            original = first_with.get(file.sha256)
            if verdict.verdict == "accepted" and original not in (None, verdict.source_id):
                verdict = replace(verdict, duplicate_of=original)
            if verdict.source_id is not None:
                first_with.setdefault(file.sha256, verdict.source_id)
            seen[file.path] = verdict
        verdicts.append(verdict)
    return verdicts


def _second_of_its_path(file: UploadedFile, first: FileVerdict) -> FileVerdict:
    if first.file.sha256 == file.sha256:
        return FileVerdict(
            file=file,
            verdict="duplicate",
            source_id=first.source_id,
            job_id=first.job_id,
            detail="the same path and bytes came earlier in this request",
        )
    return FileVerdict(
        file=file,
        verdict="rejected",
        code="duplicate_path",
        detail="another file with this path came earlier in this request; the first one counts",
    )


def _judge_one(upload: Upload, file: UploadedFile, known: _Existing | None) -> FileVerdict:
    if known is None:
        return FileVerdict(
            file=file,
            verdict="accepted",
            source_id=new_id(),
            job_id=new_id(),
            is_new_source=True,
        )
    if _has_content(upload, file, known):
        return FileVerdict(
            file=file, verdict="unchanged", source_id=known.id, job_id=known.open_job_id
        )
    if upload.on_conflict == "skip":
        return FileVerdict(
            file=file,
            verdict="duplicate",
            source_id=known.id,
            detail="this path exists with other content, and onConflict is skip",
        )
    return FileVerdict(file=file, verdict="accepted", source_id=known.id, job_id=new_id())


def _has_content(upload: Upload, file: UploadedFile, known: _Existing) -> bool:
    """Whether the source already holds, or is about to hold, exactly these bytes."""
    if known.open_job_id is not None:
        return known.open_hash == file.sha256.hex()
    return (
        known.status in ("completed", "partial")
        and known.content_hash == file.sha256
        and known.embedding_model_id == upload.model_id
    )


async def _write_sources(
    conn: Connection, upload: Upload, batch_id: UUID, verdicts: Sequence[FileVerdict]
) -> None:
    accepted = [verdict for verdict in verdicts if verdict.verdict == "accepted"]
    new = [verdict for verdict in accepted if verdict.is_new_source]
    updated = [verdict for verdict in accepted if not verdict.is_new_source]
    common = {"application_id": upload.application_id, "batch_id": batch_id}
    if updated:
        # Jobs before sources: the order in which workers lock them.
        await job_control.cancel(
            conn,
            application_id=upload.application_id,
            source_ids=[verdict.source_id for verdict in updated if verdict.source_id],
            reason="superseded by a newer upload",
        )
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
    unchanged = [verdict.source_id for verdict in verdicts if verdict.verdict == "unchanged"]
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


def _job(upload: Upload, batch_id: UUID, verdict: FileVerdict) -> jobs.NewJob:
    return jobs.NewJob(
        id=verdict.job_id or new_id(),
        application_id=upload.application_id,
        type="file",
        source_id=verdict.source_id,
        batch_id=batch_id,
        priority=upload.priority,
        payload={
            "blobKey": verdict.file.blob_key,
            "contentHash": verdict.file.sha256.hex(),
            "sizeBytes": verdict.file.size,
        },
    )


def _event(verdict: FileVerdict) -> events.NewEvent:
    if verdict.source_id is None:
        raise RuntimeError("an accepted file has a source")
    return events.NewEvent(
        source_id=verdict.source_id,
        type="source",
        data={"status": "pending", "jobId": str(verdict.job_id), "percent": 0},
    )


async def _write_report(
    conn: Connection, batch_id: UUID, verdicts: Sequence[FileVerdict]
) -> None:
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


async def replay(
    conn: Connection, *, application_id: UUID, key: str, request_hash: bytes
) -> dict[str, Any] | None:
    """The stored answer to an earlier request with this idempotency key.

    Raises Conflict when the earlier request had another content.
    """
    cursor = await conn.execute(_SQL["replay"], {"application_id": application_id, "key": key})
    row = await cursor.fetchone()
    if row is None:
        return None
    if bytes(row[0]) != request_hash:
        raise Conflict(
            "this Idempotency-Key was used for a request with other content",
            code="idempotency_conflict",
        )
    answer: dict[str, Any] = row[1]
    return answer


async def remember(
    conn: Connection,
    *,
    application_id: UUID,
    key: str,
    request_hash: bytes,
    response: dict[str, Any],
) -> None:
    """Store the answer to a request, in the transaction that carries it out."""
    await conn.execute(
        _SQL["remember"],
        {
            "application_id": application_id,
            "key": key,
            "request_hash": request_hash,
            "response": Jsonb(response),
        },
    )


async def forget_answers(conn: Connection) -> int:
    """Remove stored answers older than a week; how many."""
    return (await conn.execute(_SQL["forget_answers"])).rowcount
