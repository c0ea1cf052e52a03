"""One attempt at a job: from the handler's call to what has to be committed."""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.store.job_logs import LogLine
from ingest.store.job_types import JobType
from ingest.store.jobs import ClaimedJob, Ended
from ingest.worker.calls import Calls
from ingest.worker.deadlines import deadlines
from ingest.worker.finish import Finished
from ingest.worker.outcomes import judge

log = structlog.get_logger()


async def attempt(
    job: ClaimedJob,
    job_type: JobType,
    *,
    handlers: Mapping[str, Handler],
    context: Context,
    progress: Progress,
    calls: Calls,
) -> Finished | None:
    """Run the handler; None when the job turned out not to be ours. Cancellation passes through."""
    try:
        async with deadlines(job_type, progress):
            outcome = await calls.run(handlers[job_type.handler], job, context, progress)
    except LeaseLost:
        return None
    except Exception as error:
        return failed(job, job_type, progress, error)
    return Finished(
        ended=_ended(job, progress, outcome),
        write=outcome.write,
        grouped=outcome.grouped,
        documents=outcome.documents,
        lines=progress.lines,
    )


def _ended(job: ClaimedJob, progress: Progress, outcome: Outcome) -> Ended:
    ended = Ended(
        job=job,
        status="completed",
        stage=progress.stage,
        result=outcome.result,
        embedding_config=outcome.embedding_config,
    )
    if outcome.wait is not None:
        wait = outcome.wait
        return replace(
            ended, status="pending", delay=wait.delay, wait_reason=wait.reason, refund=True
        )
    if outcome.review is not None:
        return replace(
            ended,
            status="review_needed",
            error_message=outcome.review.message,
            review_reason=outcome.review.reason,
        )
    return ended


def failed(job: ClaimedJob, job_type: JobType, progress: Progress, error: Exception) -> Finished:
    """What is committed for an attempt that raised."""
    ended = replace(judge(job, job_type, error), stage=progress.stage)
    if ended.error_code == "internal":
        log.error("job.unexpected_error", job_id=str(job.id), type=job.type, exc_info=error)
    line = LogLine(
        job_id=job.id,
        attempt=job.attempts,
        level="error" if ended.status == "failed" else "warning",
        stage=progress.stage,
        message=ended.error_message or ended.wait_reason or "",
        details={"code": ended.error_code, "next": ended.status},
    )
    return Finished(ended=ended, lines=[*progress.lines, line])


def given_back(job: ClaimedJob, progress: Progress) -> Finished:
    """What is committed for an attempt that a graceful stop interrupted: nothing is spent."""
    ended = Ended(job=job, status="pending", refund=True)
    return Finished(ended=ended, lines=progress.lines)
