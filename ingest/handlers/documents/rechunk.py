"""Rechunk documents from their stored text after settings changed: chunk → embed → swap.

Each document has its own transaction, so an interruption loses one at most. The old chunks stay
searchable until the new ones replace them, and the state of the source does not change.
"""

import time
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final, cast, get_args
from uuid import UUID

from ingest.errors import ErrorCode, LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.documents.chunk_settings import chunk_settings, installation
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, EmbeddingLoss, embed_chunks
from ingest.handlers.documents.new_document import partial_code
from ingest.handlers.registry import handler
from ingest.model import Chunk, ChunkSettings, Coverage
from ingest.postgres.database import Connection, transaction
from ingest.sandbox.messages import RechunkRequest
from ingest.store.documents import documents, rechunks
from ingest.store.documents.documents import chunking_json
from ingest.store.documents.rechunks import NewChunks, RechunkCounts, StoredDocument
from ingest.store.queue import jobs
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob
from ingest.tokens.keywords import keyword_text

# Time slice: then the job goes back to the queue, behind other jobs.
_SECONDS_AT_A_TIME: Final = 120.0
# Tries per document that is changed concurrently each time.
_MOST_LOOKS: Final = 3
# The only paged type with documents that were stored before page ranges existed.
_PAGED_BEFORE: Final = "application/pdf"


@dataclass(slots=True, kw_only=True)
class _Tally:
    """Totals over all attempts that continued the same run."""

    documents: int = 0
    chunks: int = 0
    reused_vectors: int = 0
    changed: int = 0
    """Left alone: the document or the settings changed meanwhile."""
    read_again: int = 0
    """Files queued to be read again because their page ranges are not stored."""
    failed: int = 0
    last_code: str = "internal"
    last_message: str = ""
    """Error message of the last failed document."""


@dataclass(slots=True, kw_only=True)
class _Work:
    job: ClaimedJob
    source_id: UUID
    ctx: Context
    progress: Progress
    tally: _Tally
    after: UUID | None = None
    settings: dict[str, Any] | None = None
    """Settings, as JSON, that the documents up to `after` were chunked with."""
    there: RechunkCounts | None = None
    """Document counts as last read."""
    done: int = 0
    """Documents done since `there` was read."""
    changed: UUID | None = None
    """The last document that changed while it was being rechunked."""
    looks: int = 0
    """How often that happened to it."""

    def payload(self) -> dict[str, Any]:
        """State for the next attempt."""
        return {"after": str(self.after), "chunking": self.settings, "tally": asdict(self.tally)}


@handler("rechunk")
async def rechunk_source(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Rechunk the documents of a source that were chunked with outdated settings."""
    await ctx.embedder.ready()
    work = _begin(job, ctx, progress)
    started = time.monotonic()
    while True:
        settings = await chunk_settings(work.source_id, ctx)
        if work.settings != chunking_json(settings):
            # The first attempt, or the settings have changed: start over.
            work.after, work.settings, work.there = None, chunking_json(settings), None
        document = await _next(work, settings)
        if document is None:
            return await _end(work)
        looks = work.looks = work.looks if work.changed == document.id else 0
        await _rechunk(document, settings, work)
        if looks < work.looks < _MOST_LOOKS:
            continue  # Its new version may also be chunked with outdated settings.
        work.after, work.looks = document.id, 0
        work.done += 1
        if time.monotonic() - started > _SECONDS_AT_A_TIME:
            return _go_on_later(work)


def _begin(job: ClaimedJob, ctx: Context, progress: Progress) -> _Work:
    if job.knowledge_source_id is None:
        raise Permanent("a rechunk job needs a knowledge source", code="internal")
    earlier = job.payload
    return _Work(
        job=job,
        source_id=job.knowledge_source_id,
        ctx=ctx,
        progress=progress,
        tally=_Tally(**earlier.get("tally", {})),
        after=UUID(earlier["after"]) if "after" in earlier else None,
        settings=earlier.get("chunking"),
    )


async def _next(work: _Work, settings: ChunkSettings) -> StoredDocument | None:
    async with work.ctx.pool.connection() as conn:
        if work.there is None:
            work.there, work.done = await rechunks.count_outdated(conn, work.source_id, settings), 0
        cut = work.there.documents - work.there.open + work.done
        work.progress.reached(95 * cut / max(work.there.documents, 1))
        return await rechunks.next_document(conn, work.source_id, settings, after=work.after)


async def _rechunk(document: StoredDocument, settings: ChunkSettings, work: _Work) -> None:
    if document.pages is None and document.media_type == _PAGED_BEFORE:
        await _read_again(document, work)
        return
    try:
        await _cut_and_swap(document, settings, work)
    except Permanent as error:
        # One failed document does not stop the rest.
        work.tally.failed += 1
        work.tally.last_code, work.tally.last_message = error.code, str(error)
        _warn(work, f"not cut again: {error}", document, code=error.code)


async def _cut_and_swap(document: StoredDocument, settings: ChunkSettings, work: _Work) -> None:
    ctx, progress = work.ctx, work.progress
    progress.stage = "chunk"
    request = RechunkRequest(pages=document.page_ranges(), chunk=settings)
    chunks = await ctx.parser.rechunk(document.text, request)
    if not chunks:
        raise Permanent("the stored text makes no chunk", code="no_text")
    progress.stage = "embed"
    # Its percent covers one document only; each move still resets the job's stage timeout.
    part = Progress(work.job, on_move=progress.on_move)
    vectors = await embed_chunks(chunks, ctx, part)
    progress.stage = "store"
    await _swap(document, _new_cut(document, settings, chunks, vectors, ctx), vectors, work)


def _new_cut(
    document: StoredDocument,
    settings: ChunkSettings,
    chunks: list[Chunk],
    vectors: EmbeddedChunks,
    ctx: Context,
) -> NewChunks:
    return NewChunks(
        settings=settings,
        chunks=chunks,
        keywords=[keyword_text(chunk.text) for chunk in chunks],
        vectors=vectors.vectors,
        embedded=vectors.embedded,
        model_id=ctx.model_id,
        error_code=_error_code(document, vectors.error_code),
    )


def _error_code(document: StoredDocument, embedding: EmbeddingLoss | None) -> str | None:
    """The document's error code after rechunking; the new chunks may all have vectors."""
    if embedding is None and document.error_code not in get_args(EmbeddingLoss):
        return document.error_code
    stored = document.coverage
    coverage = Coverage(
        pages=stored["pages"],
        with_text=stored["withText"],
        empty=stored["empty"],
        failed=stored["failed"],
        unread=stored.get("unread", 0),
    )
    return partial_code(embedding, coverage)


async def _swap(
    document: StoredDocument, new: NewChunks, vectors: EmbeddedChunks, work: _Work
) -> None:
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        outcome = await rechunks.swap(conn, document, new, installation(work.ctx))
        if vectors.is_cached and outcome == "swapped":
            await documents.drop_cached(
                conn,
                application_id=document.application_id,
                model_id=new.model_id,
                hashes=vectors.hashes,
            )
    if outcome == "swapped":
        if work.looks and work.changed == document.id:
            work.tally.changed -= 1  # Swapped on a later try.
        work.tally.documents += 1
        work.tally.chunks += len(new.chunks)
        work.tally.reused_vectors += vectors.reused
        return
    if work.changed != document.id:
        work.changed, work.looks = document.id, 0
        work.tally.changed += 1
    work.looks += 1


async def _read_again(document: StoredDocument, work: _Work) -> None:
    """Queue the stored file to be read again: its stored text has no page numbers."""
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        begun = await rechunks.queue_reread(conn, document, priority=work.job.priority)
    if begun:
        work.tally.read_again += 1
    else:
        work.tally.changed += 1
        _warn(work, "left as it is: stored without its pages, and there is no file", document)


def _warn(work: _Work, message: str, document: StoredDocument, **details: Any) -> None:
    line = LogLine(
        job_id=work.job.id,
        attempt=work.job.attempts,
        level="warning",
        stage=work.progress.stage,
        message=message,
        details={"documentId": str(document.id), **details},
    )
    work.progress.lines.append(line)


def _go_on_later(work: _Work) -> Outcome:
    async def write(conn: Connection) -> None:
        await rechunks.save_progress(conn, work.job.id, work.payload())

    return Outcome(wait=Wait(delay=timedelta(0), reason="next_documents"), write=write)


async def _end(work: _Work) -> Outcome:
    tally = work.tally
    if tally.failed:
        # A retry starts over; it skips documents that already have the current settings.
        async with transaction(work.ctx.pool) as conn:
            if await jobs.hold(conn, [work.job]):
                await rechunks.save_progress(conn, work.job.id, {})
        raise Permanent(
            f"{tally.failed} of {tally.failed + tally.documents} documents could not be cut again;"
            f" the last: {tally.last_message}",
            code=cast(ErrorCode, tally.last_code),
        )
    return Outcome(
        result={
            "documents": tally.documents,
            "chunks": tally.chunks,
            "reusedVectors": tally.reused_vectors,
            "changedMeanwhile": tally.changed,
            "readAgain": tally.read_again,
        },
        embedding_config={
            "provider": work.ctx.model.provider,
            "model": work.ctx.model.name,
            "dimension": work.ctx.model.dimension,
        },
    )
