"""One attempt at a job: call the handler, turn its result or error into an outcome to commit."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import structlog

from ingest.errors import LeaseLost
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.worker.commit import Finished
from ingest.worker.outcomes import outcome_of_error

log = structlog.get_logger()


async def attempt(
    job: ClaimedJob,
    job_type: JobType,
    *,
    handlers: Mapping[str, Handler],
    context: Context,
    progress: Progress,
) -> Finished | None:
    """Run the handler; None if it raised LeaseLost.

    Once the task is cancelled, the handler's exceptions propagate.
    """
    try:
        outcome = await handlers[job_type.handler](job, context, progress)
        if not isinstance(outcome, Outcome):
            got = type(outcome).__name__
            raise TypeError(f"the handler returned {got} instead of an Outcome")
    except LeaseLost:
        return None
    except Exception as error:
        if _is_cancelling():
            raise
        return failed(job, job_type, progress, error)
    except BaseException as error:
        # `exit()` or a panic in a native library must not stop the whole service.
        if isinstance(error, KeyboardInterrupt | GeneratorExit) or _is_cancelling():
            raise
        fault = RuntimeError(f"the handler raised {type(error).__name__}")
        fault.__cause__ = error
        return failed(job, job_type, progress, fault)
    return Finished(
        ended=_ended(job, progress, outcome),
        write=outcome.write,
        grouped=outcome.grouped,
        documents=outcome.documents,
        lines=progress.lines,
    )


def _is_cancelling() -> bool:
    """Whether the task was cancelled; a handler may also raise CancelledError itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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
    """What to commit for an attempt that raised."""
    ended = replace(outcome_of_error(job, job_type, error), stage=progress.stage)
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


def requeued(job: ClaimedJob, progress: Progress) -> Finished:
    """What to commit for an attempt interrupted by a graceful stop: the attempt is refunded."""
    ended = Ended(job=job, status="pending", refund=True)
    return Finished(ended=ended, lines=progress.lines)
