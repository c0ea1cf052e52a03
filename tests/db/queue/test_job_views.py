"""Lists of jobs: complete, in order, and planned for their values."""

from itertools import product
from typing import get_args
from uuid import UUID

import pytest

from ingest.model import JobStatus
from ingest.postgres.database import Connection
from ingest.store.queue import job_views
from ingest.store.queue.job_views import JobFilter
from ingest.store.tenants import applications
from tests.support.queue_builders import enqueue


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


@pytest.mark.parametrize("type", [None, "file", "purge"])
@pytest.mark.parametrize("status", [None, *get_args(JobStatus)])
async def test_a_list_page_by_page_has_all_that_match_newest_first(
    conn: Connection, application_id: UUID, status: JobStatus | None, type: str | None
) -> None:
    wanted = []
    for _ in range(3):
        for of_status, of_type in product(get_args(JobStatus), ("file", "purge", "notification")):
            [id] = await enqueue(conn, application_id)
            await conn.execute(
                "update rag.processing_jobs set status = %s, type = %s where id = %s",
                (of_status, of_type, id),
            )
            if status in (None, of_status) and type in (None, of_type):
                wanted.append(id)
    other = await applications.add(conn, name="another")
    await enqueue(conn, other.id, 3)

    where = JobFilter(status=status, type=type)
    seen: list[UUID] = []
    before = None
    while page := await job_views.list_jobs(
        conn, application_id=application_id, where=where, limit=2, before=before
    ):
        seen.extend(job.id for job in page)
        before = page[-1].position

    assert seen == wanted[::-1]
