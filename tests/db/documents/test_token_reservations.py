"""Reservations of tokens that are made at the same moment."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ingest.errors import Snooze
from ingest.governor import Governor
from ingest.handlers.documents.token_budget import TokenReservations
from ingest.postgres.database import Connection, Pool
from ingest.store.limits import token_budgets
from tests.db.documents.token_allowances import allow, used
from tests.support.file_fixtures import House
from tests.support.provider_lanes import LANE
from tests.support.running_worker import until

pytestmark = pytest.mark.usefixtures("same_day")


async def test_concurrent_workers_never_exceed_the_budget(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await allow(conn, application_id, 1000)

    async def reserve() -> Any:
        async with pool.session() as own:
            return await token_budgets.reserve(own, application_id=application_id, tokens=300)

    days = await asyncio.gather(*(reserve() for _ in range(10)))

    assert len([day for day in days if day is not None]) == 3
    assert await used(conn, application_id) == 900


async def test_a_file_is_not_parsed_while_its_provider_is_paused(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.embedder.lane = LANE
    await Governor(house.pool).record_failure(LANE, retry_after=timedelta(minutes=10))
    await house.upload(application_id, "a.txt", "text")

    ended = (await house.run()).ended

    assert house.parser.calls == 0
    assert (ended.wait_reason, ended.refund) == ("provider_unavailable", True)


class CountingPool(Pool):
    begun = 0

    def transaction(self, **options: Any) -> Any:
        self.begun += 1
        return super().transaction(**options)


async def test_concurrent_reservations_share_a_transaction(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    counting = CountingPool(pool.connections, application_id)
    reservations = TokenReservations()

    async def spend(tokens: int) -> None:
        async with reservations.hold(counting, application_id=application_id, tokens=tokens):
            pass

    await asyncio.gather(*(spend(3) for _ in range(20)))

    assert counting.begun == 1
    assert await used(conn, application_id) == 60


async def test_of_concurrent_reservations_those_that_fit_are_granted(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await allow(conn, application_id, 100)
    reservations = TokenReservations()

    async def is_granted(tokens: int) -> bool:
        try:
            async with reservations.hold(pool, application_id=application_id, tokens=tokens):
                return True
        except Snooze:
            return False

    granted = await asyncio.gather(*(is_granted(tokens) for tokens in (60, 70, 40)))

    assert granted == [True, False, True]
    assert await used(conn, application_id) == 100


async def test_reservation_that_is_cancelled_before_its_answer_is_returned(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    reservations = TokenReservations()

    async def spend(tokens: int) -> None:
        async with reservations.hold(pool, application_id=application_id, tokens=tokens):
            pass

    async def is_blocked() -> bool:
        async with pool.session() as other:
            waiting = await other.execute(
                "select from pg_stat_activity where wait_event_type = 'Lock'"
            )
            return waiting.rowcount > 0

    async with conn.transaction():
        await token_budgets.reserve(conn, application_id=application_id, tokens=2)
        first, cancelled, last = (asyncio.create_task(spend(tokens)) for tokens in (10, 20, 30))
        await until(is_blocked)
        cancelled.cancel()
        await asyncio.wait([cancelled])
    await asyncio.gather(first, last)

    assert await used(conn, application_id) == 42
