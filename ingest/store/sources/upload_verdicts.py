"""Decide what to do with each uploaded file. Pure: the caller has read the database."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from ingest.postgres.database import new_id
from ingest.quotas import DEFAULTS, Excess, Quotas, Room

Verdict = Literal["accepted", "unchanged", "duplicate", "rejected"]
OnConflict = Literal["update", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file whose bytes are staged in the blob store; with `code`, one already rejected."""

    path: str
    """Normalised: relative, `/`-separated, NFC; identifies the file within its application."""
    size: int
    sha256: bytes
    blob_key: str
    code: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVerdict:
    """The decision for one uploaded file."""

    file: UploadedFile
    verdict: Verdict
    source_id: UUID | None = None
    job_id: UUID | None = None
    duplicate_of: UUID | None = None
    code: str | None = None
    detail: str | None = None
    is_new_source: bool = False
    excess: Excess | None = None
    """With the code `quota_exceeded`: which quota."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadRequest:
    """Settings common to all files of one request."""

    application_id: UUID
    batch_id: UUID | None
    """An existing batch to add to; None: a new one."""
    model_id: int
    """The current embedding model: content embedded with another one is not `unchanged`."""
    metadata: dict[str, Any] | None = None
    priority: int = 0
    on_conflict: OnConflict = "update"
    collection_id: UUID | None = None
    """The collection that accepted and unchanged files join."""
    quotas: Quotas = DEFAULTS
    """The installation's, which the application's settings override."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """A source (not deleted) that already has the path of an uploaded file."""

    id: UUID
    uri: str
    content_hash: bytes | None
    embedding_model_id: int | None
    status: str
    open_job_id: UUID | None
    open_hash: bytes | None
    rejected_hash: bytes | None
    """Hash of the version that a review rejected last."""


def judge(
    upload: UploadRequest,
    files: Sequence[UploadedFile],
    existing: dict[str, Existing],
    originals: dict[bytes, UUID],
    *,
    room: Room,
) -> list[FileVerdict]:
    """One verdict per file, in order.

    `existing` maps paths to live sources, `originals` maps hashes to the first source with them.
    Files that fit into `room` take their part of it; those that do not are rejected.
    """
    seen: dict[str, FileVerdict] = {}
    first_with: dict[bytes, UUID] = dict(originals)
    verdicts = []
    for file in files:
        if file.code is not None:
            verdict = FileVerdict(file=file, verdict="rejected", code=file.code, detail=file.detail)
        elif file.path in seen:
            verdict = _repeated_path(file, seen[file.path])
        else:
            verdict = _within_quotas(_judge_one(upload, file, existing.get(file.path)), room)
            original = first_with.get(file.sha256)
            if verdict.verdict == "accepted" and original not in (None, verdict.source_id):
                verdict = replace(verdict, duplicate_of=original)
            if verdict.source_id is not None:
                first_with.setdefault(file.sha256, verdict.source_id)
            if verdict.verdict != "rejected":
                seen[file.path] = verdict
        verdicts.append(verdict)
    return verdicts


def _within_quotas(verdict: FileVerdict, room: Room) -> FileVerdict:
    if verdict.verdict != "accepted":
        return verdict
    excess = room.take(sources=int(verdict.is_new_source), staged_bytes=verdict.file.size, jobs=1)
    if excess is None:
        return verdict
    return FileVerdict(
        file=verdict.file,
        verdict="rejected",
        code="quota_exceeded",
        detail=str(excess),
        excess=excess,
    )


def _repeated_path(file: UploadedFile, first: FileVerdict) -> FileVerdict:
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


def _judge_one(upload: UploadRequest, file: UploadedFile, known: Existing | None) -> FileVerdict:
    if known is None:
        return FileVerdict(
            file=file,
            verdict="accepted",
            source_id=new_id(),
            job_id=new_id(),
            is_new_source=True,
        )
    if known.rejected_hash == file.sha256:
        return FileVerdict(
            file=file,
            verdict="unchanged",
            source_id=known.id,
            detail="a review rejected these bytes; retry its job to have them reviewed again",
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


def _has_content(upload: UploadRequest, file: UploadedFile, known: Existing) -> bool:
    """Whether the source has these bytes, or an open job will store them."""
    if known.open_job_id is not None:
        return known.open_hash == file.sha256
    return (
        known.status in ("completed", "partial")
        and known.content_hash == file.sha256
        and known.embedding_model_id == upload.model_id
    )
