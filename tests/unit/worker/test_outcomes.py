"""What an exception means for a job."""

import errno
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from ingest.errors import Permanent, Snooze, Transient
from ingest.scheduling.backoff import backoff
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.outcomes import outcome_of_error

_TYPE = JobType(
    type="file",
    handler="file",
    max_attempts=3,
    backoff_base=timedelta(seconds=2),
    backoff_cap=timedelta(minutes=1),
    timeout=timedelta(minutes=5),
    stage_timeout=timedelta(minutes=5),
)


def _job(attempts: int = 1) -> ClaimedJob:
    return ClaimedJob(
        id=uuid4(),
        application_id=uuid4(),
        knowledge_source_id=None,
        batch_id=None,
        parent_job_id=None,
        type="file",
        payload={},
        priority=0,
        attempts=attempts,
        max_attempts=3,
        fence=1,
        position=1,
    )


def test_a_permanent_error_fails_at_the_first_attempt() -> None:
    ended = outcome_of_error(_job(1), _TYPE, Permanent("no", code="corrupt"))

    assert (ended.status, ended.error_code, ended.delay) == ("failed", "corrupt", None)


def test_a_transient_error_waits_and_fails_when_attempts_are_used_up() -> None:
    error = Transient("no", code="embedding_unavailable")

    early, last = outcome_of_error(_job(2), _TYPE, error), outcome_of_error(_job(3), _TYPE, error)

    assert (early.status, early.refund) == ("pending", False)
    assert early.delay is not None
    assert (last.status, last.error_code) == ("failed", "embedding_unavailable")


def test_retry_after_is_obeyed_exactly() -> None:
    wait = timedelta(seconds=17)

    ended = outcome_of_error(
        _job(), _TYPE, Transient("no", code="embedding_unavailable", retry_after=wait)
    )

    assert ended.delay == wait


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_rate_limit_costs_no_attempt_and_never_fails_the_job(attempts: int) -> None:
    wait = timedelta(seconds=3)

    ended = outcome_of_error(
        _job(attempts), _TYPE, Transient("no", code="rate_limited", retry_after=wait)
    )

    assert (ended.status, ended.refund, ended.delay) == ("pending", True, wait)
    assert ended.wait_reason == "rate_limited"


def test_a_snooze_costs_no_attempt() -> None:
    ended = outcome_of_error(_job(3), _TYPE, Snooze(timedelta(minutes=1), reason="paused"))

    assert (ended.status, ended.refund, ended.wait_reason) == ("pending", True, "paused")
    assert (ended.error_code, ended.error_message) == (None, None)


def test_snooze_can_carry_code_and_message() -> None:
    error = Snooze(
        timedelta(hours=1), reason="budget", code="budget_exceeded", message="used up for today"
    )

    ended = outcome_of_error(_job(), _TYPE, error)

    assert (ended.error_code, ended.error_message) == ("budget_exceeded", "used up for today")
    assert (ended.status, ended.refund, ended.wait_reason) == ("pending", True, "budget")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TimeoutError(), "internal"),
        (psycopg.OperationalError("gone"), "internal"),
        (KeyError("secret"), "internal"),
    ],
)
def test_unknown_exception_is_retried_without_internals(error: Any, code: str) -> None:
    ended = outcome_of_error(_job(), _TYPE, error)

    assert (ended.status, ended.error_code) == ("pending", code)
    assert "secret" not in (ended.error_message or "")


def test_full_disk_is_named_and_retried() -> None:
    ended = outcome_of_error(_job(), _TYPE, OSError(errno.ENOSPC, "No space", "/secret/folder"))

    assert (ended.status, ended.error_code) == ("pending", "insufficient_storage")
    assert ended.error_message == "a disk of the worker is full"


def test_backoff_doubles_up_to_its_cap_with_full_jitter() -> None:
    class Highest:
        def random(self) -> float:
            return 1.0

    base, cap = timedelta(seconds=2), timedelta(seconds=30)
    ceilings: list[timedelta] = [
        backoff(attempt, base=base, cap=cap, rng=Highest())  # type: ignore[arg-type]  # no twin needed
        for attempt in range(1, 7)
    ]
    spread = {backoff(3, base=base, cap=cap) for _ in range(50)}

    assert [wait.total_seconds() for wait in ceilings] == [2, 4, 8, 16, 30, 30]
    assert all(timedelta(0) <= wait <= timedelta(seconds=8) for wait in spread)
    assert len(spread) > 40
