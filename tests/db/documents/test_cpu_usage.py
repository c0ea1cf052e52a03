"""Processor time per application and day, on a real Postgres."""

from uuid import UUID, uuid4

import psycopg
import pytest

from ingest.postgres.database import Connection, Pool
from ingest.store.limits import cpu_usage, token_budgets
from ingest.worker.cpu_ledger import CpuLedger
from tests.support.queue_builders import add_application

pytestmark = pytest.mark.usefixtures("same_day")


async def test_seconds_add_up_per_application_and_leave_tokens_alone(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    other = await add_application(conn)
    await token_budgets.reserve(conn, application_id=application_id, tokens=5)
    async with CpuLedger(pool) as ledger:
        ledger.add(application_id, 1.5)
        ledger.add(other, 0.25)
        await ledger.store()
        ledger.add(application_id, 0.5)

    budget = await token_budgets.state(conn, application_id)
    assert await cpu_usage.today(conn, application_id) == 2.0
    assert await cpu_usage.today(conn, other) == 0.25
    assert budget is not None
    assert budget.used == 5


async def test_a_deleted_application_costs_nothing(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    async with CpuLedger(pool) as ledger:
        ledger.add(uuid4(), 1.0)
        ledger.add(application_id, 1.0)

    assert await cpu_usage.today(conn, application_id) == 1.0


async def test_what_could_not_be_stored_is_stored_later(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise psycopg.OperationalError

    async with CpuLedger(pool) as ledger:
        ledger.add(application_id, 1.0)
        with monkeypatch.context() as patch:
            patch.setattr(cpu_usage, "charge", refuse)
            await ledger.store()
        ledger.add(application_id, 1.0)

    assert await cpu_usage.today(conn, application_id) == 2.0
