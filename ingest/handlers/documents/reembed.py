"""Embed an application's stored documents with another model, then search them by it.

Vectors are stored in batches, each in its own transaction, so an interruption loses one at most.
The old vectors are searched until all documents have new ones (store/embeddings/model_changes.py).
"""

import asyncio
import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from ingest.errors import LeaseLost, Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, embed_chunks
from ingest.handlers.registry import handler
from ingest.payloads import ReembedPayload, ReembedTally
from ingest.postgres.database import Connection, transaction
from ingest.store.documents import chunking, documents, rechunks
from ingest.store.embeddings import fresh_vectors, model_changes
from ingest.store.embeddings.model_changes import OpenDocument, StoredChunk
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob

# Time slice, after which the job goes back to the queue, behind other jobs.
_TIME_SLICE_SECONDS: Final = 120.0
# Documents and chunks of a batch; a longer document takes several batches.
_DOCUMENTS: Final = 64
_CHUNKS: Final = 256
_DROPPED_AT_ONCE: Final = 2000
_SECONDS_BETWEEN_DROPS: Final = 0.05
_SECONDS_BETWEEN_COUNTS: Final = 5.0  # all documents are read to count them
_OTHER_MODEL: Final = timedelta(seconds=30)
_LOSSES: Final = ("embedding_rejected", "embedding_mismatch")


@dataclass(slots=True, kw_only=True)
class _State:
    job: ClaimedJob
    ctx: Context
    progress: Progress
    tally: ReembedTally
    after: UUID | None
    counted_at: float = -math.inf

    @property
    def application_id(self) -> UUID:
        return self.job.application_id


@handler("reembed")
async def reembed_application(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Make the missing vectors, switch the application over, and drop the old vectors."""
    payload = ReembedPayload.of(job)
    if payload.model_id != ctx.model_id:
        # A worker with other settings, as in the middle of a deployment: leave it to the others.
        return Outcome(wait=Wait(delay=_OTHER_MODEL, reason="other_model"))
    await ctx.embedder.ready()
    work = _State(
        job=job,
        ctx=ctx,
        progress=progress,
        tally=payload.tally or ReembedTally(),
        after=payload.after,
    )
    started = time.monotonic()
    while True:
        found = await _next(work)
        if found:
            await _fill(work, found)
            work.after = found[-1].id
        elif work.after is not None:
            work.after = None  # those that changed meanwhile
        elif await _switch(work):
            break
        if time.monotonic() - started > _TIME_SLICE_SECONDS:
            return _continue_later(work)
    progress.stage = "store"
    while await _drop(work):
        if time.monotonic() - started > _TIME_SLICE_SECONDS:
            return _continue_later(work)
        await asyncio.sleep(_SECONDS_BETWEEN_DROPS)
    return Outcome(result=work.tally.model_dump(by_alias=True))


async def _next(work: _State) -> list[OpenDocument]:
    """The next documents to fill: as many as have chunks for one batch, but at least one."""
    model_id = work.ctx.model_id
    async with transaction(work.ctx.pool) as conn:
        if time.monotonic() - work.counted_at > _SECONDS_BETWEEN_COUNTS:
            counts = await model_changes.count(conn, work.application_id, model_id)
            open_share = (counts.open - counts.ready) / max(counts.documents, 1)
            work.progress.advance_to(95 * (1 - open_share))
            work.counted_at = time.monotonic()
        found = await model_changes.next_documents(
            conn, work.application_id, model_id, after=work.after, limit=_DOCUMENTS
        )
    batch: list[OpenDocument] = []
    chunks = 0
    for document in found:
        chunks += document.chunk_count
        if batch and chunks > _CHUNKS:
            break
        batch.append(document)
    return batch


async def _fill(work: _State, batch: list[OpenDocument]) -> None:
    """Store vectors for all chunks of some documents, then record that they are filled."""
    after: StoredChunk | None = None
    while True:
        async with transaction(work.ctx.pool) as conn:
            missing = await model_changes.missing_chunks(
                conn, batch, work.ctx.model_id, after=after, limit=_CHUNKS
            )
        work.progress.stage = "embed"
        vectors = await _embed(work, missing) if missing else None
        is_last = len(missing) < _CHUNKS
        work.progress.stage = "store"
        await _store(work, batch, missing, vectors, is_last=is_last)
        if is_last:
            return
        after = missing[-1]


async def _embed(work: _State, missing: list[StoredChunk]) -> EmbeddedChunks | None:
    """Vectors for chunks; None if the provider refuses all of them: words still find them."""
    # The embed stage needs its own Progress, whose percent covers this batch only.
    part = Progress(work.job, on_progress=work.progress.on_progress)
    try:
        found = await embed_chunks(
            [one.chunk() for one in missing], [one.subject() for one in missing], work.ctx, part
        )
    except Permanent as error:
        if error.code not in _LOSSES:
            raise
        work.tally.refused_chunks += len(missing)
        return None
    work.tally.reused_vectors += found.reused
    work.tally.refused_chunks += int((~found.embedded).sum())
    return found


async def _store(
    work: _State,
    batch: list[OpenDocument],
    missing: list[StoredChunk],
    found: EmbeddedChunks | None,
    *,
    is_last: bool,
) -> None:
    application_id, model_id = work.application_id, work.ctx.model_id
    vectors, hashes = {}, {}
    if found is not None:
        hashes = dict(zip((chunk.id for chunk in missing), found.hashes, strict=True))
        vectors = {
            chunk.id: found.vectors[index]
            for index, chunk in enumerate(missing)
            if found.embedded[index]
        }
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        same = await model_changes.lock_unchanged(conn, batch)
        work.tally.vectors += await model_changes.add_vectors(
            conn, same, vectors, hashes, application_id=application_id, model_id=model_id
        )
        if found is not None and found.is_cached:
            await documents.drop_cached(
                conn, application_id=application_id, model_id=model_id, hashes=found.hashes
            )
        if is_last:
            await model_changes.mark(conn, same, application_id=application_id, model_id=model_id)
    if is_last:
        work.tally.documents += len(same)


async def _switch(work: _State) -> bool:
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        if not await model_changes.switch(conn, work.application_id, work.ctx.model_id):
            return False
        too_long = await model_changes.oversized_sources(
            conn, work.application_id, most=work.ctx.model.max_tokens
        )
        # The model reads only the beginning of chunks that were cut for one that reads more.
        await chunking.rechunk_sources(conn, work.application_id, too_long)
        return True


async def _drop(work: _State) -> bool:
    """Delete some old vectors; False if there are no more."""
    async with transaction(work.ctx.pool) as conn:
        if not await jobs.hold(conn, [work.job]):
            raise LeaseLost(work.job.id)
        if not await fresh_vectors.lock_moving(conn):
            return True  # both would delete the same rows: try again
        dropped = await model_changes.drop_vectors(
            conn, work.application_id, work.ctx.model_id, limit=_DROPPED_AT_ONCE
        )
    work.tally.dropped_vectors += dropped
    work.progress.touch()
    return dropped > 0


def _continue_later(work: _State) -> Outcome:
    payload = ReembedPayload(model_id=work.ctx.model_id, after=work.after, tally=work.tally)

    async def write(conn: Connection) -> None:
        await rechunks.save_progress(conn, work.job.id, payload)

    return Outcome(wait=Wait(delay=timedelta(0), reason="next_documents"), write=write)
