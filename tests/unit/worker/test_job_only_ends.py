"""Which ends of attempts update nothing but the job, so that one statement writes many."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.worker.commit import Finished

ID = UUID(int=1)
JOB = ClaimedJob(
    id=ID,
    application_id=ID,
    knowledge_source_id=None,
    batch_id=None,
    parent_job_id=None,
    type="noop",
    payload={},
    priority=0,
    attempts=1,
    max_attempts=5,
    fence=1,
    position=1,
)
DONE = Ended(job=JOB, status="completed")


async def _write(conn: Connection) -> None:
    raise AssertionError("not reached")


def test_completion_without_source_parent_or_result_updates_the_job_only() -> None:
    assert Finished(ended=DONE).updates_job_only


@pytest.mark.parametrize(
    "ended",
    [
        replace(DONE, job=JOB._replace(knowledge_source_id=ID)),
        replace(DONE, job=JOB._replace(parent_job_id=ID)),
        replace(DONE, status="failed"),
        replace(DONE, status="pending", refund=True),
        replace(DONE, stage="store"),
        replace(DONE, result={"pages": 1}),
        replace(DONE, embedding_config={"model": "m"}),
    ],
)
def test_an_end_with_source_parent_result_or_failure_updates_more(ended: Ended) -> None:
    assert not Finished(ended=ended).updates_job_only


@pytest.mark.parametrize(
    "more",
    [{"write": _write}, {"lines": [LogLine(job_id=ID, attempt=1, message="done")]}],
)
def test_an_end_with_a_write_or_log_lines_updates_more(more: dict[str, Any]) -> None:
    assert not Finished(ended=DONE, **more).updates_job_only
