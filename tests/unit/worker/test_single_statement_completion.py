"""When the end of an attempt is so plain that one statement writes many of them."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.worker.finish import Finished

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
BARE = Ended(job=JOB, status="completed")


async def _write(conn: Connection) -> None:
    raise AssertionError("not reached")


def test_job_without_source_and_write_completes_in_one_statement() -> None:
    assert Finished(ended=BARE).is_plain_completion


@pytest.mark.parametrize(
    "ended",
    [
        replace(BARE, job=JOB._replace(knowledge_source_id=ID)),
        replace(BARE, job=JOB._replace(parent_job_id=ID)),
        replace(BARE, status="failed"),
        replace(BARE, status="pending", refund=True),
        replace(BARE, stage="store"),
        replace(BARE, result={"pages": 1}),
        replace(BARE, embedding_config={"model": "m"}),
    ],
)
def test_completion_with_subscribers_emits_event(ended: Ended) -> None:
    assert not Finished(ended=ended).is_plain_completion


@pytest.mark.parametrize(
    "more",
    [{"write": _write}, {"lines": [LogLine(job_id=ID, attempt=1, message="done")]}],
)
def test_completion_with_writes_needs_a_transaction(more: dict[str, Any]) -> None:
    assert not Finished(ended=BARE, **more).is_plain_completion
