"""What becomes of each file of an upload. Pure: what is in the database was read before."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from ingest.postgres.database import new_id

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
    is_new_source: bool = False


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
class Existing:
    """A live source with the path of an uploaded file."""

    id: UUID
    uri: str
    content_hash: bytes | None
    embedding_model_id: int | None
    status: str
    open_job_id: UUID | None
    open_hash: str | None
    rejected_hash: str | None
    """Of the version that a review has rejected last."""


def judge(
    upload: Upload,
    files: Sequence[UploadedFile],
    existing: dict[str, Existing],
    originals: dict[bytes, UUID],
) -> list[FileVerdict]:
    """One verdict per file, in order.

    `existing` holds the live sources by path, `originals` the first source with the same bytes.
    """
    seen: dict[str, FileVerdict] = {}
    first_with: dict[bytes, UUID] = dict(originals)
    verdicts = []
    for file in files:
        if file.code is not None:
            verdict = FileVerdict(file=file, verdict="rejected", code=file.code, detail=file.detail)
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


def _judge_one(upload: Upload, file: UploadedFile, known: Existing | None) -> FileVerdict:
    if known is None:
        return FileVerdict(
            file=file,
            verdict="accepted",
            source_id=new_id(),
            job_id=new_id(),
            is_new_source=True,
        )
    if known.rejected_hash == file.sha256.hex():
        return FileVerdict(
            file=file,
            verdict="unchanged",
            source_id=known.id,
            detail="a review rejected these bytes; retry its job to have them looked at again",
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


def _has_content(upload: Upload, file: UploadedFile, known: Existing) -> bool:
    """Whether the source already holds, or is about to hold, exactly these bytes."""
    if known.open_job_id is not None:
        return known.open_hash == file.sha256.hex()
    return (
        known.status in ("completed", "partial")
        and known.content_hash == file.sha256
        and known.embedding_model_id == upload.model_id
    )
