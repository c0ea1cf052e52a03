"""An uploaded file becomes a searchable document: extract → chunk → embed → store.

Files inside it (of a message or an archive) become documents of the same source, each in its own
job. The job of the uploaded file waits for them and ends last (finish_members.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import repeat
from typing import Any, Final, cast

from ingest.analysis.subject import Subject
from ingest.errors import ErrorCode, IsArchive, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Review, Wait
from ingest.handlers.documents.archive import archive_job
from ingest.handlers.documents.chunk_settings import (
    chunking_defaults,
    rechunk_if_settings_changed,
    settings_of,
)
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, embed_chunks
from ingest.handlers.documents.fan_out import FanOut
from ingest.handlers.documents.file_location import FileLocation, locate_file
from ingest.handlers.documents.finish_members import finish_members
from ingest.handlers.documents.new_document import new_document
from ingest.handlers.documents.read_file import read_file
from ingest.handlers.documents.review_rules import required_review
from ingest.handlers.documents.source_content import SourceContentWrite
from ingest.handlers.quota_room import require_room
from ingest.handlers.registry import handler
from ingest.model import ChunkSettings
from ingest.payloads import FilePayload, RefusedMember, StoredFile, member_payload
from ingest.postgres.database import Connection, transaction
from ingest.sandbox.messages import Parsed
from ingest.store.crawl import site_documents
from ingest.store.documents import documents
from ingest.store.documents.chunking import AppliedChunking
from ingest.store.documents.documents import NewDocument
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import members, sources
from ingest.store.sources.sources import SourceContent

# Fallback: normally the last file wakes the waiting job.
_WAIT: Final = Wait(delay=timedelta(seconds=15), reason="members")


@handler("file")
async def ingest_file(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Read an uploaded file, or check whether the jobs of its inner files have ended."""
    file = FilePayload.of(job)
    location = await locate_file(job, ctx)
    if not file.awaits_members:
        return await _ingest(job, file, location, ctx, progress)
    async with transaction(ctx.pool) as conn:
        children = await members.children(conn, job.id)
    return Outcome(wait=_WAIT) if children.open else finish_members(job, file, location, ctx)


@handler("member")
async def ingest_member(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Read a file inside another. Errors include its path: the source has the outer file's name."""
    member = member_payload(job)
    location = await locate_file(job, ctx, member)
    inner = location.uri.removeprefix(f"{location.source.uri}/")
    try:
        if isinstance(member, RefusedMember):
            raise Permanent(member.refused.message, code=cast(ErrorCode, member.refused.code))
        return await _ingest(job, member, location, ctx, progress)
    except Permanent as error:
        raise Permanent(f"{inner}: {error}", code=error.code) from error


async def _ingest(
    job: ClaimedJob, file: StoredFile, location: FileLocation, ctx: Context, progress: Progress
) -> Outcome:
    """Extract, chunk and embed; the outcome stores the document, or holds it for a review."""
    await ctx.embedder.ready()
    settings = settings_of(location.source, ctx)
    try:
        parsed, inside = await read_file(job, file, location, settings, ctx, progress)
    except IsArchive:
        return _hand_over(job, file, location, ctx)
    if not parsed.chunks:
        return _only_files(file, location, inside, ctx)
    text = parsed.document.text
    if len(text) > file.size_bytes:  # compressed; the upload has counted the size
        await require_room(ctx, job.application_id, text=text)
    with progress.run_stage("embed", at=40) as details:
        subject = Subject.of(parsed.document, location.uri, name=location.given_name)
        vectors = await embed_chunks(parsed.chunks, repeat(subject), ctx, progress)
        details |= {"chunks": len(parsed.chunks), "reused": vectors.reused}
    progress.stage = "store"
    progress.advance_to(95)
    review = None
    if not inside:  # otherwise the review would cover only a part of the upload
        review = await required_review(parsed.document, ctx, application_id=job.application_id)
    return _Ingested(
        job=job,
        file=file,
        location=location,
        settings=settings,
        parsed=parsed,
        inside=inside,
        vectors=vectors,
        review=review,
        ctx=ctx,
    ).outcome()


def _hand_over(job: ClaimedJob, file: StoredFile, location: FileLocation, ctx: Context) -> Outcome:
    """Queue the job that unpacks the file, which is an archive."""
    unpacking = archive_job(job, file, location, ctx)

    async def write(conn: Connection) -> None:
        if location.is_root:
            await members.mark_awaiting(conn, job.id)
        await jobs.enqueue(conn, [unpacking])

    return Outcome(
        write=write, wait=_WAIT if location.is_root else None, result={"isArchive": True}
    )


def _only_files(file: StoredFile, location: FileLocation, inside: FanOut, ctx: Context) -> Outcome:
    """Queue the jobs of the files inside; the file itself has no text and gets no document."""

    async def write(conn: Connection) -> None:
        await sources.lock(conn, [location.source.id])
        await _write_inside(conn, file, location, inside, ctx)

    return Outcome(
        write=write,
        wait=_WAIT if location.is_root and inside.jobs else None,
        result={"holdsOnlyFiles": True},
    )


async def _write_inside(
    conn: Connection,
    file: StoredFile,
    location: FileLocation,
    inside: FanOut,
    ctx: Context,
    *,
    stored: Sequence[str] = (),
) -> None:
    """Queue the jobs for files inside; without any, end the run of an uploaded file now.

    stored: URIs of documents that this transaction writes.
    """
    if not location.is_root:
        await inside.write(conn, location, ctx)
        await members.reopen(conn, location.root_job_id)
    elif inside.jobs:
        await inside.write(conn, location, ctx)
    else:
        await members.mark_unchanged(
            conn,
            source_id=location.source.id,
            root_job_id=location.root_job_id,
            uris=[*inside.kept, *stored],
        )
        await members.finish_run(
            conn,
            location.source.id,
            root_job_id=location.root_job_id,
            file=file,
            model_id=ctx.model_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ingested:
    """A file that was read and embedded, and its write."""

    job: ClaimedJob
    file: StoredFile
    location: FileLocation
    settings: ChunkSettings
    parsed: Parsed
    inside: FanOut
    vectors: EmbeddedChunks
    review: Review | None
    ctx: Context

    def outcome(self) -> Outcome:
        new = new_document(
            source_id=self.location.source.id,
            application_id=self.location.source.application_id,
            uri=self.location.uri,
            source_name=self.location.given_name,
            content_hash=self.file.content_hash,
            parsed=self.parsed,
            vectors=self.vectors,
            model_id=self.ctx.model_id,
            chunking=self.settings,
            held_by_job_id=None if self.review is None else self.job.id,
            last_seen_job_id=self.location.root_job_id,
        )

        async def write(conn: Connection) -> None:
            await self._write(conn, new)

        is_whole_source = self.review is None and self.location.is_root and not self.inside
        return Outcome(
            write=write,
            grouped=[self._content(new)] if is_whole_source else [],
            review=self.review,
            wait=_WAIT if self.location.is_root and self.inside.jobs else None,
            documents=[new],
            result=self._result(new),
            embedding_config={
                "provider": self.ctx.model.provider,
                "model": self.ctx.model.name,
                "dimension": self.ctx.model.dimension,
            },
        )

    def _content(self, new: NewDocument) -> SourceContentWrite:
        """A file without inner files is the whole content of its source."""
        return SourceContentWrite(
            job_id=self.job.id,
            content=SourceContent(
                source_id=new.source_id,
                content_hash=new.content_hash,
                blob_key=self.file.blob_key,
                size_bytes=self.file.size_bytes,
                model_id=new.model_id,
                coverage=documents.coverage_json(new.document.coverage),
                chunk_count=len(new.chunks),
                token_count=_tokens(new),
            ),
            applied=AppliedChunking(
                application_id=new.application_id, source_id=new.source_id, used=self.settings
            ),
            defaults=chunking_defaults(self.ctx),
        )

    async def _write(self, conn: Connection, new: NewDocument) -> None:
        if self.review is not None:
            await self._rechunk_if_settings_changed(conn, new)
        elif self.location.is_root and not self.inside:
            await self._drop_earlier(conn, new)
        else:
            await self._write_part(conn, new)
            await self._rechunk_if_settings_changed(conn, new)
        if self.vectors.is_cached:
            # The vectors are now stored with the chunks.
            await documents.drop_cached(
                conn,
                application_id=new.application_id,
                model_id=new.model_id,
                hashes=self.vectors.hashes,
            )

    async def _rechunk_if_settings_changed(self, conn: Connection, new: NewDocument) -> None:
        await rechunk_if_settings_changed(
            conn,
            application_id=new.application_id,
            source_id=new.source_id,
            used=self.settings,
            ctx=self.ctx,
        )

    async def _drop_earlier(self, conn: Connection, new: NewDocument) -> None:
        """Remove documents of inner files that earlier content had."""
        if self.location.source.blob_key is not None:
            await members.drop_unseen(
                conn, source_id=new.source_id, root_job_id=self.job.id, keep_uri=new.uri
            )

    async def _write_part(self, conn: Connection, new: NewDocument) -> None:
        """Write one of several documents: add its counts to the source, queue its inner files."""
        await sources.lock(conn, [new.source_id])
        await _write_inside(conn, self.file, self.location, self.inside, self.ctx, stored=[new.uri])
        chunks, tokens = await site_documents.counts(conn, new.source_id, new.uri)
        await site_documents.add_counts(
            conn,
            new.source_id,
            chunks=len(new.chunks) - chunks,
            tokens=_tokens(new) - tokens,
            model_id=new.model_id,
        )

    def _result(self, new: NewDocument) -> dict[str, Any]:
        return {
            "chunks": len(new.chunks),
            "tokens": _tokens(new),
            "reusedVectors": self.vectors.reused,
            "extractor": new.document.extractor,
            # The document under review.
            **({} if self.review is None else {"documentId": str(new.id)}),
        }


def _tokens(new: NewDocument) -> int:
    return sum(chunk.token_count for chunk in new.chunks)
