"""Map a handler's exception to the end of its attempt. Pure."""

import errno
from datetime import timedelta

import psycopg

from ingest.errors import Permanent, Snooze, Transient
from ingest.postgres.database import is_database_unavailable, is_timed_out
from ingest.scheduling.backoff import backoff
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob, Ended

# Delay if a provider limits us and names none. A rate limit costs the job no attempt.
_PATIENCE = timedelta(seconds=10)
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def outcome_of_error(job: ClaimedJob, job_type: JobType, error: BaseException) -> Ended:
    """The end of an attempt that raised `error`."""
    match error:
        case Permanent():
            return _failed(job, error.code, str(error))
        case Snooze():
            return _waiting(job, error.delay, error.reason, error)
        case Transient(code="rate_limited"):
            delay = error.retry_after or backoff(1, base=_PATIENCE, cap=_PATIENCE)
            return _waiting(job, delay, "rate_limited", error)
        case Transient():
            return _retry(job, job_type, error.code, str(error), error.retry_after)
        case psycopg.Error() if is_timed_out(error):
            message = "the database ended a statement that took too long"
            return _retry(job, job_type, "database_timeout", message, None)
        case psycopg.OperationalError() if is_database_unavailable(error):
            return _retry(job, job_type, "internal", "the database could not be reached", None)
        case OSError() if error.errno in _DISK_FULL:
            message = "a disk of the worker is full"
            return _retry(job, job_type, "insufficient_storage", message, None)
        case _:
            # Unknown errors may be temporary. The message may hold any data: it stays in our logs.
            message = f"unexpected error ({type(error).__name__})"
            return _retry(job, job_type, "internal", message, None)


def _failed(job: ClaimedJob, code: str, message: str) -> Ended:
    return Ended(job=job, status="failed", error_code=code, error_message=message)


def _waiting(job: ClaimedJob, delay: timedelta, reason: str, error: Snooze | Transient) -> Ended:
    return Ended(
        job=job,
        status="pending",
        delay=delay,
        wait_reason=reason,
        refund=True,
        error_code=error.code,
        error_message=str(error) if error.code else None,
    )


def _retry(
    job: ClaimedJob,
    job_type: JobType,
    code: str,
    message: str,
    retry_after: timedelta | None,
) -> Ended:
    if job.attempts >= job.max_attempts:
        return _failed(job, code, message)
    delay = (
        retry_after
        if retry_after is not None
        else backoff(job.attempts, base=job_type.backoff_base, cap=job_type.backoff_cap)
    )
    return Ended(
        job=job,
        status="pending",
        delay=delay,
        wait_reason="retry",
        error_code=code,
        error_message=message,
    )
