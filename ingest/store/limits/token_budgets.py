"""Tokens that applications may have embedded a day, and have. A day begins at midnight, UTC."""

from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.jobs import wake

_SQL = load_queries("limits/token_budgets.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    per_day: int | None
    """None: no limit."""
    used: int
    """Today, with what is reserved."""
    renews_in: timedelta


async def reserve(conn: Connection, *, application_id: UUID, tokens: int) -> date | None:
    """Count tokens that are about to be spent; the day that they count for.

    None: they do not fit into what is left of today, and were not counted.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["reserve"], {"application_id": application_id, "tokens": tokens})
        day: date | None = await cur.fetchone()
    return day


async def give_back(conn: Connection, *, application_id: UUID, day: date, tokens: int) -> None:
    """Tokens that were reserved for that day and not spent."""
    await conn.execute(
        _SQL["give_back"], {"application_id": application_id, "day": day, "tokens": tokens}
    )


async def state(conn: Connection, application_id: UUID) -> Budget | None:
    """The application's budget and what it has used today; None: there is no such application."""
    async with conn.cursor(row_factory=class_row(Budget)) as cur:
        await cur.execute(_SQL["state"], {"application_id": application_id})
        return await cur.fetchone()


async def resume_waiting(conn: Connection, application_id: UUID) -> int:
    """Let the jobs go on that wait for tomorrow's tokens: the budget was changed. How many."""
    resumed = await conn.execute(_SQL["resume_waiting"], {"application_id": application_id})
    if resumed.rowcount:
        await wake(conn)
    return resumed.rowcount


async def forget_old(conn: Connection) -> int:
    """Forget what was used more than 400 days ago; how many days of applications."""
    return (await conn.execute(_SQL["forget_old"])).rowcount
