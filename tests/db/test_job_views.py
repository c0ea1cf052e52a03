"""Lists of jobs: how their statements are made."""

from uuid import UUID

import pytest

from ingest.db import Connection
from ingest.store import job_views
from ingest.store.job_views import JobFilter


def test_a_statement_has_the_conditions_that_were_given_and_no_others() -> None:
    statement = job_views.statement("job", ["status", "before"])

    assert b"job.status = %(status)s" in statement
    assert b"job.position < %(before)s" in statement
    assert b"batch_id =" not in statement


async def test_lists_are_planned_for_their_values_however_often_they_are_asked_for(
    conn: Connection, application_id: UUID
) -> None:
    where = JobFilter(status="failed", type="file")
    for _ in range(8):
        for read in (job_views.list_jobs, job_views.list_ids):
            await read(conn, application_id=application_id, where=where, limit=1, before=None)

    cursor = await conn.execute("select statement from pg_prepared_statements", prepare=False)
    prepared = [text for (text,) in await cursor.fetchall()]
    assert [text for text in prepared if "processing_jobs" in text] == []


@pytest.mark.parametrize("field", JobFilter.__dataclass_fields__)
def test_every_filter_has_its_condition(field: str) -> None:
    assert job_views.statement("id", [field]).count(b"and job.") == 1
