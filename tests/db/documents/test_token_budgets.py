"""Tokens a day, on a real Postgres."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from ingest.errors import Transient
from ingest.postgres.database import Connection
from ingest.store.limits import token_budgets
from tests.db.documents.token_allowances import allow, used
from tests.support.file_fixtures import House
from tests.support.queue_builders import add_application, job_row
from tests.support.running_worker import truth_of, until

pytestmark = pytest.mark.usefixtures("same_day")


def lines(count: int, prefix: str = "line") -> str:
    """A file of so many chunks, each of three tokens."""
    return "\n".join(f"{prefix} {number}" for number in range(count))


@pytest.mark.parametrize("settings", ['{"tokensPerDay": "many"}', '{"tokensPerDay": 1e40}', "[]"])
async def test_invalid_budget_means_no_budget(
    conn: Connection, application_id: UUID, settings: str
) -> None:
    await conn.execute(
        "update app.applications set settings = %s where id = %s", [settings, application_id]
    )

    days = [
        await token_budgets.reserve(conn, application_id=application_id, tokens=10**9)
        for _ in range(2)
    ]
    state = await token_budgets.state(conn, application_id)

    assert None not in days
    assert state is not None
    assert (state.per_day, state.used) == (None, 2 * 10**9)


async def test_the_tokens_of_a_month_are_those_since_its_first_day(
    conn: Connection, application_id: UUID
) -> None:
    await token_budgets.reserve(conn, application_id=application_id, tokens=5)
    await conn.execute(
        "insert into rag.token_usage (application_id, day, tokens)"
        " select %(id)s, day::date, 100 from generate_series("
        "   date_trunc('month', now() at time zone 'utc') - interval '2 days',"
        "   (now() at time zone 'utc')::date - 1, interval '1 day') as day",
        {"id": application_id},
    )

    state = await token_budgets.state(conn, application_id)

    day = datetime.now(UTC).day
    assert state is not None
    assert (state.used, state.used_this_month) == (5, 5 + 100 * (day - 1))


async def test_budgets_are_per_application_and_day(conn: Connection, application_id: UUID) -> None:
    await allow(conn, application_id, 100)
    await token_budgets.reserve(conn, application_id=application_id, tokens=100)
    other = await add_application(conn)
    await allow(conn, other, 100)

    theirs = await token_budgets.reserve(conn, application_id=other, tokens=100)
    await conn.execute("update rag.token_usage set day = day - 1")
    tomorrow = await token_budgets.reserve(conn, application_id=application_id, tokens=100)

    assert theirs is not None
    assert tomorrow is not None


async def test_tokens_are_counted_without_a_budget(conn: Connection, application_id: UUID) -> None:
    for _ in range(2):
        await token_budgets.reserve(conn, application_id=application_id, tokens=10**9)

    assert await used(conn, application_id) == 2 * 10**9


async def test_a_job_beyond_the_budget_waits_for_midnight_unpaid(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await allow(conn, application_id, 20)
    await house.upload(application_id, "a.txt", lines(5))
    await house.run()
    await house.upload(application_id, "b.txt", lines(5, "other"))
    calls = house.embedder.calls

    ended = (await house.run()).ended

    row = await job_row(conn, ended.job.id)
    assert house.embedder.calls == calls
    assert (row["status"], row["wait_reason"]) == ("pending", "budget_exceeded")
    assert (row["last_error_code"], row["attempts"]) == ("budget_exceeded", 0)
    assert "15 of the application's 20" in row["last_error_message"]
    cursor = await conn.execute(
        "select run_at - ((now() at time zone 'utc')::date + 1) at time zone 'utc' "
        "from rag.processing_jobs where id = %s",
        [ended.job.id],
    )
    [after_midnight] = await cursor.fetchone() or [None]
    assert timedelta(seconds=-1) < after_midnight <= timedelta(minutes=5, seconds=1)


async def test_vectors_that_are_reused_cost_nothing(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await allow(conn, application_id, 20)
    await house.upload(application_id, "a.txt", lines(5))
    await house.run()
    await house.upload(application_id, "b.txt", lines(6))

    ended = (await house.run()).ended

    assert ended.status == "completed"
    assert await used(conn, application_id) == 18


async def test_job_larger_than_a_daily_budget_fails(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await allow(conn, application_id, 1000)
    await house.upload(application_id, "a.txt", lines(400))

    ended = (await house.run()).ended

    assert (ended.status, ended.error_code) == ("failed", "budget_exceeded")
    assert ended.error_message == (
        "the job needs 1,200 tokens; the application may use 1,000 a day"
    )
    assert await used(conn, application_id) == 0


async def test_unused_tokens_are_refunded(
    house: House, conn: Connection, application_id: UUID
) -> None:
    await house.upload(application_id, "a.txt", lines(10))  # three requests, of four at most
    house.embedder.failures = [None, Transient("no", code="embedding_unavailable")]

    await house.run()

    assert await used(conn, application_id) == 12


async def test_cancelled_job_refunds_its_tokens(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.gate = asyncio.Event()
    await house.upload(application_id, "a.txt", lines(10))
    running = asyncio.create_task(house.run())
    await until(lambda: truth_of(house.embedder.under_way))
    reserved = await used(conn, application_id)

    running.cancel()
    await asyncio.wait([running])

    assert reserved == 30
    assert await used(conn, application_id) == 0


async def test_larger_budget_resumes_waiting_jobs_of_the_application(
    house: House, conn: Connection, application_id: UUID
) -> None:
    other = await add_application(conn)
    for application in (application_id, other):
        await allow(conn, application, 20)
        await conn.execute(
            "insert into rag.token_usage (application_id, day, tokens) "
            "values (%s, (now() at time zone 'utc')::date, 20)",
            [application],
        )
        await house.upload(application, "a.txt", lines(5))
        await house.run()
    await allow(conn, application_id, 100)

    resumed = await token_budgets.resume_waiting(conn, application_id)
    ended = (await house.run()).ended

    assert resumed == 1
    assert (ended.job.application_id, ended.status) == (application_id, "completed")
    cursor = await conn.execute(
        "select count(*) from rag.processing_jobs "
        "where run_at is not null and wait_reason = 'budget_exceeded'"
    )
    assert await cursor.fetchone() == (1,)


async def test_old_budget_days_are_pruned(conn: Connection, application_id: UUID) -> None:
    await conn.execute(
        "insert into rag.token_usage (application_id, day, tokens) "
        "select %s, (now() at time zone 'utc')::date - n, 1 from unnest(array[0, 399, 401]) as n",
        [application_id],
    )

    assert await token_budgets.forget_old(conn) == 1
