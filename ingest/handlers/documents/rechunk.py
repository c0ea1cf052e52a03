"""Rechunk documents from their stored text after settings changed: chunk → embed → swap.

Each document has its own transaction, so an interruption loses one at most. The old chunks stay
searchable until the new ones replace them, and the state of the source does not change.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import repeat
from typing import Any, Final, cast, get_args
from uuid import UUID

from ingest.errors import ErrorCode, LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.documents.chunk_settings import chunk_settings, chunking_defaults
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, EmbeddingLoss, embed_chunks
from ingest.handlers.documents.new_document import partial_code
from ingest.handlers.registry import handler
from ingest.model import ChunkSettings, Coverage
from ingest.optional_steps import improve
from ingest.payloads import RechunkPayload, RechunkTally
from ingest.postgres.database import Connection, transaction
from ingest.sandbox.messages import RechunkRequest
from ingest.store.documents import documents, rechunks
from ingest.store.documents.chunking_json import chunking_json
from ingest.store.documents.rechunks import NewChunks, RechunkCounts, StoredDocument, Swapped
from ingest.store.queue import jobs
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob
from ingest.web.furniture import MEDIA_TYPES, Removed, leave_out, put_back

# Time slice, after which the job goes back to the queue, behind other jobs.
_TIME_SLICE_SECONDS: Final = 120.0
# Tries per document that is changed concurrently each time.
_MAX_TRIES: Final = 3


@dataclass(slots=True, kw_only=True)
class _RechunkState:
    job: ClaimedJob
    source_id: UUID
    ctx: Context
    progress: Progress
    tally: RechunkTally
    after: UUID | None = None
    settings: dict[str, Any] | None = None
    """Settings, as JSON, that the documents up to `after` were chunked with."""
    extent: RechunkCounts | None = None
    """Document counts as last read."""
    done: int = 0
    """Documents done since `extent` was read."""
    changed: UUID | None = None
    """The last document that changed while it was being rechunked."""
    tries: int = 0
    """How often that happened to it."""

    def payload(self) -> RechunkPayload:
        """State for the next attempt."""
        return RechunkPayload(after=self.after, chunking=self.settings, tally=self.tally)


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
            work.after, work.settings, work.extent = None, chunking_json(settings), None
        document = await _next(work, settings)
        if document is None:
            return await _end(work)
        tries = work.tries = work.tries if work.changed == document.id else 0
        await _rechunk(document, settings, work)
        if tries < work.tries < _MAX_TRIES:
            continue  # Its new version may also be chunked with outdated settings.
        work.after, work.tries = document.id, 0
        work.done += 1
        if time.monotonic() - started > _TIME_SLICE_SECONDS:
            return _continue_later(work)


def _begin(job: ClaimedJob, ctx: Context, progress: Progress) -> _RechunkState:
    if job.knowledge_source_id is None:
        raise Permanent("a rechunk job needs a knowledge source", code="internal")
    earlier = RechunkPayload.of(job)
    return _RechunkState(
        job=job,
        source_id=job.knowledge_source_id,
        ctx=ctx,
        progress=progress,
        tally=earlier.tally or RechunkTally(),
        after=earlier.after,
        settings=earlier.chunking,
    )


async def _next(work: _RechunkState, settings: ChunkSettings) -> StoredDocument | None:
    async with transaction(work.ctx.pool) as conn:
        if work.extent is None:
            work.extent, work.done = (
                await rechunks.count_outdated(conn, work.source_id, settings),
                0,
            )
        cut = work.extent.documents - work.extent.open + work.done
        work.progress.advance_to(95 * cut / max(work.extent.documents, 1))
        return await rechunks.next_document(conn, work.source_id, settings, after=work.after)


async def _rechunk(document: StoredDocument, settings: ChunkSettings, work: _RechunkState) -> None:
    try:
        await _rechunk_and_swap(document, settings, work)
    except Permanent as error:
        # One failed document does not stop the rest.
        work.tally.failed += 1
        work.tally.last_code, work.tally.last_message = error.code, str(error)
        _warn(work, f"not rechunked: {error}", document, code=error.code)


async def _rechunk_and_swap(
    document: StoredDocument, settings: ChunkSettings, work: _RechunkState
) -> None:
    ctx, progress = work.ctx, work.progress
    progress.stage = "chunk"
    text, left_out = await asyncio.to_thread(_without_furniture, document, settings)
    if text == document.text and document.is_cut_by(settings):
        await _mark(document, settings, work)
        return
    # The text is given without its furniture.
    request = RechunkRequest(pages=document.page_ranges(), chunk=replace(settings, furniture=()))
    rechunked = await ctx.parser.rechunk(text, request, owner=work.job.application_id)
    if not rechunked.chunks:
        raise Permanent("chunking the stored text produced no chunks", code="no_text")
    progress.stage = "embed"
    # The embed stage needs its own Progress, whose percent covers this document only. Each step
    # still resets the job's stage timeout.
    part = Progress(work.job, on_progress=progress.on_progress)
    subject = document.subject(rechunked.language)
    vectors = await embed_chunks(rechunked.chunks, repeat(subject), ctx, part)
    progress.stage = "store"
    new = NewChunks(
        settings=settings,
        text=text,
        left_out=left_out,
        chunks=rechunked.chunks,
        language=rechunked.language,
        hashes=vectors.hashes,
        vectors=vectors.vectors,
        embedded=vectors.embedded,
        model_id=ctx.model_id,
        error_code=_error_code(document, vectors.error_code),
    )
    await _swap(document, new, vectors, work)


def _without_furniture(document: StoredDocument, settings: ChunkSettings) -> tuple[str, Removed]:
    """The document's text and what is left out of it, as the settings say."""
    if document.media_type not in MEDIA_TYPES or not (settings.furniture or document.furniture):
        return document.text, ()
    whole = put_back(document.text, document.furniture)
    furniture = dict(settings.furniture)
    return improve(
        "furniture",
        lambda: leave_out(whole, furniture, document.uri),
        otherwise=lambda: (whole, ()),
    )


def _error_code(document: StoredDocument, embedding: EmbeddingLoss | None) -> str | None:
    """The document's error code after rechunking: an earlier loss of vectors may be gone."""
    if embedding is None and document.error_code not in get_args(EmbeddingLoss):
        return document.error_code
    stored = document.coverage
    coverage = Coverage(
        pages=stored["pages"],
        with_text=stored["withText"],
        empty=stored["empty"],
        failed=stored["failed"],
        unread=stored["unread"],
    )
    return partial_code(embedding, coverage)


async def _swap(
    document: StoredDocument, new: NewChunks, vectors: EmbeddedChunks, work: _RechunkState
) -> None:
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        outcome = await rechunks.swap(conn, document, new, chunking_defaults(work.ctx))
        if vectors.is_cached and outcome == "swapped":
            await documents.drop_cached(
                conn,
                application_id=document.application_id,
                model_id=new.model_id,
                hashes=vectors.hashes,
            )
    if outcome == "swapped":
        work.tally.chunks += len(new.chunks)
        work.tally.reused_vectors += vectors.reused
    _tally(document, outcome, work)


async def _mark(document: StoredDocument, settings: ChunkSettings, work: _RechunkState) -> None:
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        outcome = await rechunks.mark(conn, document, settings, chunking_defaults(work.ctx))
    _tally(document, outcome, work)


def _tally(document: StoredDocument, outcome: Swapped, work: _RechunkState) -> None:
    if outcome == "swapped":
        if work.tries and work.changed == document.id:
            work.tally.changed -= 1  # Swapped on a later try.
        work.tally.documents += 1
        return
    if work.changed != document.id:
        work.changed, work.tries = document.id, 0
        work.tally.changed += 1
    work.tries += 1


def _warn(work: _RechunkState, message: str, document: StoredDocument, **details: Any) -> None:
    line = LogLine(
        job_id=work.job.id,
        attempt=work.job.attempts,
        level="warning",
        stage=work.progress.stage,
        message=message,
        details={"documentId": str(document.id), **details},
    )
    work.progress.lines.append(line)


def _continue_later(work: _RechunkState) -> Outcome:
    async def write(conn: Connection) -> None:
        await rechunks.save_progress(conn, work.job.id, work.payload())

    return Outcome(wait=Wait(delay=timedelta(0), reason="next_documents"), write=write)


async def _end(work: _RechunkState) -> Outcome:
    tally = work.tally
    if tally.failed:
        # A retry starts over; it skips documents that already have the current settings.
        async with transaction(work.ctx.pool) as conn:
            if await jobs.hold(conn, [work.job]):
                await rechunks.save_progress(conn, work.job.id, RechunkPayload())
        raise Permanent(
            f"{tally.failed} of {tally.failed + tally.documents} documents could not be rechunked;"
            f" the last: {tally.last_message}",
            code=cast(ErrorCode, tally.last_code),
        )
    return Outcome(
        result={
            "documents": tally.documents,
            "chunks": tally.chunks,
            "reusedVectors": tally.reused_vectors,
            "changedMeanwhile": tally.changed,
        },
        embedding_config={
            "provider": work.ctx.model.provider,
            "model": work.ctx.model.name,
            "dimension": work.ctx.model.dimension,
        },
    )
