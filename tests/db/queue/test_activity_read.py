"""Counts of ended attempts: read in steps, merged into hours, forgotten."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from ingest.postgres.database import Connection, Pool
from ingest.store.overview import activity
from ingest.store.overview.activity import Activity, Amounts, Kind
from tests.support.queue_builders import add_application
from tests.support.retention_fixtures import clean

HOUR: Final = timedelta(hours=1)
NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORKER: Final = UUID(int=7)


async def _add(
    conn: Connection, application_id: UUID, start: datetime, *, worker: UUID = WORKER, n: int = 1
) -> None:
    kind, amounts = Kind(application_id, "file", "completed"), Amounts(n=n, tokens=10, bytes=100)
    await activity.store(conn, worker_id=worker, totals={start: {kind: amounts}})


async def _read(
    conn: Connection, application_id: UUID, *, hours: int = 24, step: timedelta = HOUR
) -> list[Activity]:
    return [
        *await activity.read(
            conn, application_id=application_id, start=NOON, end=NOON + hours * HOUR, step=step
        )
    ]


# ---------------------------------------------------------------- read


async def test_steps_add_up_minutes_of_all_workers_and_leave_out_other_applications(
    conn: Connection, application_id: UUID
) -> None:
    other = await add_application(conn)
    for minutes in (-1, 0, 59, 60, 24 * 60):
        await _add(conn, application_id, NOON + timedelta(minutes=minutes))
    await _add(conn, application_id, NOON, worker=uuid4(), n=5)
    await _add(conn, other, NOON, n=100)

    read = await _read(conn, application_id)

    assert [(row.start, row.jobs, row.files, row.pages, row.tokens) for row in read] == [
        (NOON, 7, 7, 0, 30),
        (NOON + HOUR, 1, 1, 0, 10),
    ]


async def test_steps_begin_at_multiples_of_their_length(
    conn: Connection, application_id: UUID
) -> None:
    await _add(conn, application_id, NOON + timedelta(minutes=7))

    read = await _read(conn, application_id, step=timedelta(minutes=5))

    assert [row.start for row in read] == [NOON + timedelta(minutes=5)]


# ---------------------------------------------------------------- merged and forgotten


async def _ages(conn: Connection) -> list[tuple[bool, float, int]]:
    """Of each row, oldest first: whether it is an hour, its age in days, how many attempts."""
    rows = await conn.execute(
        "select worker_id = '00000000-0000-0000-0000-000000000000', "
        "       round(extract(epoch from now() - minute) / 86400)::int, n "
        "  from rag.activity order by minute, worker_id"
    )
    return await rows.fetchall()


async def test_minutes_become_hours_after_two_days_without_losing_any(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    [(now,)] = await (await conn.execute("select date_trunc('hour', now(), 'UTC')")).fetchall()
    for worker in (WORKER, uuid4()):
        for minute in range(60):
            old = now - timedelta(days=3) + timedelta(minutes=minute)
            await _add(conn, application_id, old, worker=worker)
    await _add(conn, application_id, now - timedelta(days=1))

    await clean(pool)
    # A worker that could not reach the database for days.
    await _add(conn, application_id, now - timedelta(days=3), worker=uuid4(), n=7)
    await clean(pool)

    assert await _ages(conn) == [(True, 3, 127), (False, 1, 1)]


async def test_merging_goes_on_where_it_was_interrupted(
    conn: Connection, application_id: UUID
) -> None:
    for minute in range(10):
        await _add(conn, application_id, NOON + timedelta(minutes=minute))

    merged = [await activity.merge(conn, limit=4) for _ in range(4)]

    assert merged == [4, 4, 2, 0]
    [row] = await _read(conn, application_id)
    assert (row.start, row.jobs, row.tokens, row.bytes) == (NOON, 10, 100, 1000)


async def test_hours_expire(pool: Pool, conn: Connection, application_id: UUID) -> None:
    [(now,)] = await (await conn.execute("select date_trunc('hour', now(), 'UTC')")).fetchall()
    for days in (89, 91):
        await _add(conn, application_id, now - timedelta(days=days))

    await clean(pool)
    await clean(pool)

    assert await _ages(conn) == [(True, 89, 1)]
