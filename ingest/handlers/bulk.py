"""Change all rows of a bulk action, a part after the other."""

import math
import time
from datetime import timedelta
from typing import Final

from pydantic import ValidationError

from ingest.errors import Permanent
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.handlers.registry import handler
from ingest.payloads import BulkPayload
from ingest.postgres.database import transaction
from ingest.store.bulk import bulk_runs
from ingest.store.queue.jobs import ClaimedJob

# Time slice, after which the job goes back to the queue, behind other jobs.
_TIME_SLICE_SECONDS: Final = 60.0
_SECONDS_BETWEEN_COUNTS: Final = 1.0  # all parts are read to count them


@handler("bulk")
async def change_rows(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Do the parts that are left: each is done once, also if this attempt ends in the middle."""
    payload = BulkPayload.of(job)
    progress.stage = "store"
    started, counted = time.monotonic(), -math.inf
    while await _do_next(job, payload, ctx):
        if time.monotonic() - counted > _SECONDS_BETWEEN_COUNTS:
            async with transaction(ctx.pool) as conn:
                totals = await bulk_runs.totals(conn, job)
            progress.advance_to(100 * totals.done / max(totals.rows, 1))
            counted = time.monotonic()
        progress.touch()
        if time.monotonic() - started > _TIME_SLICE_SECONDS:
            return Outcome(wait=Wait(delay=timedelta(0), reason="next_rows"))
    async with transaction(ctx.pool) as conn:
        totals = await bulk_runs.totals(conn, job)
    return Outcome(
        result={
            "action": payload.action,
            "rows": totals.rows,
            "changed": totals.changed,
            "skipped": dict(totals.skipped),
        }
    )


async def _do_next(job: ClaimedJob, payload: BulkPayload, ctx: Context) -> bool:
    try:
        async with transaction(ctx.pool) as conn:
            return await bulk_runs.do_next_part(conn, job, payload, chunking_defaults(ctx))
    except ValidationError:
        raise Permanent(
            "the filter of this bulk job was written by another version", code="invalid_payload"
        ) from None
