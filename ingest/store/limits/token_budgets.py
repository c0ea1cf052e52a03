"""Daily token budgets of applications for embedding. A day starts at midnight UTC."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.jobs import wake

_SQL = load_queries("limits/token_budgets.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    per_day: int | None
    """None: no limit."""
    used: int
    """Used today, including reserved tokens."""
    used_this_month: int
    """Since its first day (UTC), including today's."""
    renews_at: datetime
    renews_in: timedelta


async def reserve(conn: Connection, *, application_id: UUID, tokens: int) -> date | None:
    """Reserve tokens before they are spent; returns the day they count for.

    None: they exceed what is left of today's budget, and were not counted.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["reserve"], {"application_id": application_id, "tokens": tokens})
        day: date | None = await cur.fetchone()
    return day


async def give_back(conn: Connection, *, application_id: UUID, day: date, tokens: int) -> None:
    """Return tokens that were reserved for that day but not spent."""
    await conn.execute(
        _SQL["give_back"], {"application_id": application_id, "day": day, "tokens": tokens}
    )


async def state(conn: Connection, application_id: UUID) -> TokenBudget | None:
    """The application's budget and today's usage; None: there is no such application."""
    async with conn.cursor(row_factory=class_row(TokenBudget)) as cur:
        await cur.execute(_SQL["state"], {"application_id": application_id})
        return await cur.fetchone()


async def resume_waiting(conn: Connection, application_id: UUID) -> int:
    """Make jobs that wait for tomorrow's budget ready, after a budget change; returns how many."""
    resumed = await conn.execute(_SQL["resume_waiting"], {"application_id": application_id})
    if resumed.rowcount:
        await wake(conn)
    return resumed.rowcount


async def forget_old(conn: Connection) -> int:
    """Remove usage rows older than 400 days; returns how many."""
    return (await conn.execute(_SQL["forget_old"])).rowcount
