"""Queue a job for each file inside a file, except for files that are already stored."""

import asyncio
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ingest.blobs.base import BlobStore, StagedBlob, new_key
from ingest.errors import Permanent
from ingest.formats import catalog
from ingest.handlers.context import ArchiveLimits, Context
from ingest.handlers.documents.file_location import FileLocation
from ingest.handlers.quota_room import require_room
from ingest.model import Member
from ingest.payloads import MemberPayload, Refusal, RefusedMember, StoredMember
from ingest.postgres.database import Connection, transaction
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.store.sources import members, sources
from ingest.store.sources.members import KnownMember

_BLOCK: Final = 1024 * 1024


@dataclass(slots=True)
class FanOut:
    """The jobs for files inside a file, and the files that need none."""

    jobs: list[NewJob] = field(default_factory=list)
    size: int = 0
    """Bytes of the files that the jobs read."""
    kept: list[str] = field(default_factory=list)
    """URIs of unchanged documents."""

    def __bool__(self) -> bool:
        return bool(self.jobs or self.kept)

    async def write(self, conn: Connection, location: FileLocation, ctx: Context) -> None:
        """Raises Permanent: `archive_unsafe` if the uploaded file as a whole exceeds its limits,
        `quota_exceeded` if the application exceeds a quota."""
        await sources.lock(conn, [location.source.id])
        await self._check(conn, location, ctx.archives)
        # Again, because other files have ended meanwhile.
        await require_room(
            ctx,
            location.source.application_id,
            conn=conn,
            staged_bytes=self.size,
            jobs=len(self.jobs),
        )
        if location.is_root:
            await members.mark_awaiting(conn, location.root_job_id)
        await members.mark_unchanged(
            conn, source_id=location.source.id, root_job_id=location.root_job_id, uris=self.kept
        )
        await jobs.enqueue(conn, self.jobs)

    async def _check(self, conn: Connection, location: FileLocation, limits: ArchiveLimits) -> None:
        """Check the limits under a lock: archives of one upload are unpacked concurrently."""
        await members.lock(conn, location.root_job_id)
        taken = await members.children(conn, location.root_job_id)
        if (
            taken.members + len(self.jobs) > limits.members
            or taken.bytes + self.size > limits.total_bytes
        ):
            raise over_limit(limits)


def over_limit(limits: ArchiveLimits) -> Permanent:
    """The error of an uploaded file that exceeds the limits."""
    return Permanent(
        f"The uploaded file holds more than {limits.members} files, or {limits.total_bytes} bytes,"
        " in archives.",
        code="archive_unsafe",
    )


@dataclass(slots=True, kw_only=True)
class _File:
    uri: str
    path: Path
    size: int
    sha256: bytes = b""


async def fan_out(
    job: ClaimedJob, location: FileLocation, found: Sequence[Member], folder: Path, ctx: Context
) -> FanOut:
    """Store the bytes of new and changed files; `write` then queues their jobs.

    If the worker is killed in between, the blob sweep removes the orphaned blobs.
    """
    out = FanOut()
    files: list[_File] = []
    for member in found:
        uri = f"{location.uri}/{member.path}"
        if member.code is not None:
            out.jobs.append(refused_job(job, location, uri, member.code, member.message or ""))
        else:
            files.append(_look(uri, folder / member.file))
    _check_parser(len(found), files, ctx.archives)
    for file in files:
        file.sha256 = await asyncio.to_thread(_digest, file)
    if not files:
        return out
    async with transaction(ctx.pool) as conn:
        known = await members.known(
            conn, source_id=location.source.id, uris=[file.uri for file in files]
        )
    changed = [file for file in files if not _is_known(file, known.get(file.uri), ctx)]
    out.size = sum(file.size for file in changed)
    await require_room(
        ctx,
        location.source.application_id,
        staged_bytes=out.size,
        jobs=len(out.jobs) + len(changed),
    )
    read = {file.uri for file in changed}
    out.kept = [file.uri for file in files if file.uri not in read]
    keys = await _store(changed, location, ctx.blobs)
    out.jobs += [
        _job(
            job,
            location,
            StoredMember(
                uri=file.uri,
                depth=location.depth + 1,
                may_hold_files=_may_hold_files(file.uri),
                blob_key=key,
                content_hash=file.sha256,
                size_bytes=file.size,
            ),
        )
        for file, key in zip(changed, keys, strict=True)
    ]
    return out


def refused_job(
    job: ClaimedJob, location: FileLocation, uri: str, code: str, message: str
) -> NewJob:
    """The job that reports a file that could not be read; it fails with `code`."""
    payload = RefusedMember(
        uri=uri,
        depth=location.depth + 1,
        may_hold_files=_may_hold_files(uri),
        refused=Refusal(code=code, message=message),
    )
    return _job(job, location, payload)


def _job(job: ClaimedJob, location: FileLocation, payload: MemberPayload) -> NewJob:
    return NewJob(
        application_id=job.application_id,
        type="member",
        source_id=location.source.id,
        batch_id=job.batch_id,
        parent_job_id=location.root_job_id,
        priority=job.priority,
        payload=payload,
    )


def _may_hold_files(uri: str) -> bool:
    return catalog.holds_files(catalog.implied_by_name(uri))


def _look(uri: str, path: Path) -> _File:
    descriptor = _open(path)
    try:
        return _File(uri=uri, path=path, size=os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _check_parser(count: int, files: Sequence[_File], limits: ArchiveLimits) -> None:
    """A parser that was taken over may exceed the limits that it was given."""
    sizes = [file.size for file in files]
    if (
        count > limits.members
        or sum(sizes) > limits.total_bytes
        or any(size > limits.member_bytes for size in sizes)
    ):
        raise over_limit(limits)


def _digest(file: _File) -> bytes:
    digest = hashlib.sha256()
    for block in _blocks(file):
        digest.update(block)
    return digest.digest()


def _blocks(file: _File) -> Iterator[bytes]:
    """Its bytes. Raises Permanent if it has others than when it was looked at."""
    left = file.size
    with os.fdopen(_open(file.path), "rb") as source:
        while block := source.read(_BLOCK):
            left -= len(block)
            if left < 0:
                break
            yield block
    if left != 0:
        raise Permanent("the parser changed a file that it had handed over", code="internal")


def _open(path: Path) -> int:
    """Open a file that a parser wrote; refuse symlinks and special files."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Permanent("the parser named a file that does not exist", code="internal") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Permanent("the parser named something that is not a file", code="internal")
    return descriptor


def _is_known(file: _File, known: KnownMember | None, ctx: Context) -> bool:
    """Whether a stored document makes reading the file unnecessary; never if it has members."""
    return (
        known is not None
        and known.content_hash == file.sha256
        and known.embedding_model_id == ctx.model_id
        and known.status == "completed"
        and not known.has_members
    )


async def _store(files: Sequence[_File], location: FileLocation, blobs: BlobStore) -> list[str]:
    """Store the files; returns their keys in order."""
    staged: list[StagedBlob] = []
    try:
        for file in files:
            blob = blobs.stage(new_key(location.source.application_id))
            staged.append(blob)
            await _copy(file, blob)
        await blobs.commit(staged)
    except BaseException:
        await asyncio.gather(*(blob.discard() for blob in staged), return_exceptions=True)
        raise
    return [blob.key for blob in staged]


async def _copy(file: _File, blob: StagedBlob) -> None:
    blocks = _blocks(file)
    while block := await asyncio.to_thread(next, blocks, b""):
        await blob.write(block)
    await blob.finish()
