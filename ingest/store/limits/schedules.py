"""Scheduled ticks that have fired: the first replica to write the row runs the tick."""

from datetime import datetime

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.view import UtcTime, View

_SQL = load_queries("limits/schedules.sql")


class LastFiring(View):
    """The latest firing of a tick that one replica runs for all."""

    name: str
    scheduled_for: UtcTime
    fired_at: UtcTime


async def now(conn: Connection) -> datetime:
    """The current time of the database."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["now"])
        time = await cur.fetchone()
    if not isinstance(time, datetime):
        raise RuntimeError("the database returned no time")
    return time


async def fire(conn: Connection, *, name: str, scheduled_for: datetime) -> bool:
    """Claim a tick; False if another replica has claimed it."""
    done = await conn.execute(_SQL["fire"], {"name": name, "scheduled_for": scheduled_for})
    return done.rowcount == 1


async def last_firings(conn: Connection) -> list[LastFiring]:
    """The latest firing of each tick within the last week, by name; at most 100."""
    async with conn.cursor(row_factory=class_row(LastFiring)) as cur:
        await cur.execute(_SQL["last_firings"])
        return await cur.fetchall()


async def forget_old(conn: Connection) -> int:
    """Remove ticks older than a week; returns how many."""
    return (await conn.execute(_SQL["forget_old"])).rowcount
