"""Bulk actions: each row once, whatever happens to workers, and beside everything else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from ingest.errors import LeaseLost
from ingest.handlers import bulk as handler
from ingest.handlers.context import Outcome, Progress
from ingest.payloads import BulkAction, BulkPayload
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.bulk import bulk_runs
from ingest.store.bulk.bulk_requests import BulkRequest
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import source_control
from ingest.store.tenants import applications
from tests.support.bulk_runs import bulk_context, claim_bulk, finish_bulk
from tests.support.queue_builders import claim, complete, job_row, upload
from tests.support.running_worker import until

ROWS = 12


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_runs, "_PART", 3)
    monkeypatch.setattr(bulk_runs, "_SMALL_PART", 3)


async def start(
    pool: Pool, application_id: UUID, action: BulkAction = "delete", **where: Any
) -> UUID:
    async with transaction(pool.of(application_id)) as conn:
        started = await bulk_runs.start(
            conn,
            BulkRequest(
                application_id=application_id,
                where=SourceFilter(**where),
                ids=None,
                payload=BulkPayload(target="sources", action=action, metadata={"done": True}),
            ),
        )
    return started.job_id


async def add(conn: Connection, application_id: UUID, count: int = ROWS) -> Sequence[UUID]:
    return await upload(conn, application_id, *(f"{n}.txt" for n in range(count)))


async def one(conn: Connection, query: str) -> Any:
    [(value,)] = await (await conn.execute(query.encode())).fetchall()
    return value


async def deleted(conn: Connection) -> int:
    return int(
        await one(conn, "select count(*) from rag.knowledge_sources where deleted_at is not null")
    )


async def die_after(parts: int, pool: Pool, job: ClaimedJob) -> None:
    """Do so many parts as a worker that is killed then: nothing more is written."""
    ctx = bulk_context(pool, job.application_id)
    for _ in range(parts):
        assert await handler._do_next(job, BulkPayload.of(job), ctx)


async def recovered(conn: Connection) -> ClaimedJob:
    """The job, taken from its worker and claimed by another."""
    await conn.execute("update rag.processing_jobs set locked_by = null where type = 'bulk'")
    await conn.execute(
        "update rag.processing_jobs set status = 'pending', fence = fence + 1 where type = 'bulk'"
    )
    return await claim_bulk(conn)


async def test_what_a_killed_worker_did_is_not_done_again_and_the_rest_is(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add(conn, application_id)
    await start(pool, application_id)
    job = await claim_bulk(conn)
    await die_after(2, pool, job)
    assert await deleted(conn) == 6

    again = await recovered(conn)
    with pytest.raises(LeaseLost):  # the first was not dead after all
        await die_after(1, pool, job)
    await finish_bulk(pool, again)

    row = await job_row(conn, job.id)
    assert (row["status"], row["result"]["changed"]) == ("completed", ROWS)
    assert await deleted(conn) == ROWS
    purges = "select count(*) from rag.processing_jobs where type = 'purge'"
    assert await one(conn, purges) == ROWS
    events = (
        "select count(*) from rag.progress_events where data ->> 'errorCode' = 'source_deleted'"
    )
    assert await one(conn, events) == ROWS


async def test_a_part_whose_transaction_is_lost_leaves_nothing(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(conn, application_id)
    await start(pool, application_id, "set_metadata")
    job = await claim_bulk(conn)
    emit = "ingest.store.bulk.bulk_sources.events.emit"

    async def lose(*_: Any) -> None:
        raise ConnectionError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(emit, lose)
        with pytest.raises(ConnectionError):
            await die_after(1, pool, job)
    count = "select count(*) from rag.knowledge_sources where metadata ? 'done'"
    assert await one(conn, count) == 0
    await finish_bulk(pool, await recovered(conn))

    assert await one(conn, count) == ROWS
    # One event of the upload, one of the action.
    assert await one(conn, "select max(event_seq) from rag.knowledge_sources") == 2


async def test_a_cancelled_job_changes_no_more_rows(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add(conn, application_id)
    job_id = await start(pool, application_id)
    job = await claim_bulk(conn)
    await die_after(1, pool, job)
    async with transaction(pool.of(application_id)) as own:
        await source_control.cancel(own, application_id=application_id, job_ids=[job_id])

    await finish_bulk(pool, job)

    row = await job_row(conn, job_id)
    assert (row["status"], await deleted(conn)) == ("cancelled", 3)
    async with transaction(pool.of(application_id)) as own:  # and goes on after a retry
        await source_control.retry(
            own, application_id=application_id, job_ids=[job_id], statuses=["cancelled"]
        )
    await finish_bulk(pool, await claim_bulk(conn))
    assert await deleted(conn) == ROWS


async def test_two_actions_on_the_same_rows_change_each_once(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add(conn, application_id)
    for _ in range(2):
        await start(pool, application_id)
    both = [await claim_bulk(conn) for _ in range(2)]

    await asyncio.gather(*(finish_bulk(pool, job) for job in both))

    results = [(await job_row(conn, job.id))["result"] for job in both]
    assert sum(result["changed"] for result in results) == ROWS
    assert sum(result["skipped"].get("no_longer_matches", 0) for result in results) == ROWS
    assert await deleted(conn) == ROWS


@asynccontextmanager
async def holding_the_application(pool: Pool, application_id: UUID) -> AsyncIterator[Connection]:
    """As the transaction of an upload that has not committed yet."""
    async with transaction(pool.of(application_id)) as other:
        await applications.lock_sources(other, application_id)
        yield other


async def test_an_upload_that_commits_first_takes_its_file_out_of_a_deletion_of_failures(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [source] = await add(conn, application_id, 1)
    await complete(conn, await claim(conn))
    await conn.execute("update rag.knowledge_sources set status = 'failed', error_code = 'x'")
    await start(pool, application_id, status="failed")
    job = await claim_bulk(conn)

    async with holding_the_application(pool, application_id) as other:
        running = asyncio.create_task(finish_bulk(pool, job))
        await _until_waiting(conn)
        await other.execute("update rag.knowledge_sources set status = 'pending'")
    await running

    assert await deleted(conn) == 0
    assert (await job_row(conn, job.id))["result"]["skipped"] == {"no_longer_matches": 1}
    assert source


async def _until_waiting(conn: Connection) -> None:
    """Until somebody waits for an advisory lock."""
    query = "select exists (select from pg_locks where locktype = 'advisory' and not granted)"
    await until(lambda: one(conn, query))


async def test_files_that_are_uploaded_and_read_meanwhile_survive_a_deletion_of_all(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add(conn, application_id)
    await start(pool, application_id)
    job = await claim_bulk(conn)

    async def upload_and_work() -> None:
        async with pool.session() as own:
            for number in range(6):
                await upload(own, application_id, f"new{number}.txt", content=f"{number}")
                await upload(own, application_id, f"{number}.txt", content=f"again {number}")
                await complete(own, await claim(own, 3, types=("file",)))

    await asyncio.gather(finish_bulk(pool, job), upload_and_work())

    assert (await job_row(conn, job.id))["status"] == "completed"
    live = await (
        await conn.execute("select uri from rag.knowledge_sources where deleted_at is null")
    ).fetchall()
    assert {f"new{number}.txt" for number in range(6)} <= {uri for (uri,) in live}
    # A path uploaded before its deletion is the old row, and gone; after it, a new one, and there.
    row = (await job_row(conn, job.id))["result"]
    assert row["changed"] == ROWS == await deleted(conn)


async def test_an_action_goes_on_in_the_next_slice_of_time(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(conn, application_id)
    await start(pool, application_id)
    monkeypatch.setattr(handler, "_TIME_SLICE_SECONDS", -1.0)
    job = await claim_bulk(conn)
    progress = Progress(job)

    outcome = await handler.change_rows(job, bulk_context(pool, application_id), progress)

    assert isinstance(outcome, Outcome)
    assert outcome.wait is not None
    assert (progress.percent, await deleted(conn)) == (25, 3)
