"""What all workers share about the hosts they fetch from: robots.txt, pauses, open requests."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("crawl/crawl_origins.sql")

RobotsStatus = Literal["rules", "none", "unavailable"]

# A job that comes this much too early may just as well wait with its slot in hand.
_SHORT_WAIT: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRobots:
    status: RobotsStatus
    body: bytes | None
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Permission for one request, after a pause."""

    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """The host has enough to do; come back after `delay`."""

    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    wait: float
    delay: float
    fetch_seconds: float


async def robots(conn: Connection, origin: str) -> StoredRobots | None:
    """What robots.txt of an origin said when somebody last asked."""
    async with conn.cursor(row_factory=class_row(StoredRobots)) as cur:
        await cur.execute(_SQL["robots"], {"origin": origin})
        return await cur.fetchone()


async def keep_robots(
    conn: Connection,
    origin: str,
    *,
    status: RobotsStatus,
    body: bytes | None,
    delay: timedelta | None,
) -> None:
    """Share what robots.txt said; `delay` is the pause it wants between requests."""
    await conn.execute(
        _SQL["keep_robots"], {"origin": origin, "status": status, "body": body, "delay": delay}
    )


async def take_slot(
    conn: Connection,
    origin: str,
    *,
    job_id: UUID,
    crawl_id: UUID,
    at_once: int,
    delay: timedelta,
    for_at_most: timedelta,
) -> Slot | Busy:
    """Ask for one request to a host, in a transaction of its own.

    At most `at_once` requests are under way, and their starts are `delay` apart, unless robots.txt
    says otherwise. A slot that is not released runs out after `for_at_most`.
    """
    await conn.execute(_SQL["know"], {"origin": origin})
    async with conn.cursor(row_factory=class_row(_Origin)) as cur:
        await cur.execute(_SQL["lock_origin"], {"origin": origin, "delay": delay.total_seconds()})
        host = await cur.fetchone()
    if host is None:
        # Forgotten between two statements: as good as never seen.
        host = _Origin(wait=0.0, delay=delay.total_seconds(), fetch_seconds=0.5)
    await conn.execute(_SQL["free_expired"], {"origin": origin})
    identity = {"origin": origin, "job_id": job_id}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["busy"], identity)
        busy = int(await cur.fetchone() or 0)
    if busy >= at_once or host.wait > _SHORT_WAIT:
        spacing = max(host.delay, host.fetch_seconds / at_once)
        return Busy(delay=await _queue_up(conn, crawl_id, spacing, at_least=host.wait))
    await conn.execute(_SQL["take"], {**identity, "for_at_most": for_at_most})
    await conn.execute(_SQL["move_on"], {"origin": origin, "delay": host.delay})
    return Slot(wait=timedelta(seconds=host.wait))


async def _queue_up(
    conn: Connection, crawl_id: UUID, spacing: float, *, at_least: float
) -> timedelta:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["queue_up"], {"crawl_id": crawl_id, "spacing": spacing})
        seconds = await cur.fetchone()
    return timedelta(seconds=max(float(seconds or spacing), at_least))


async def release(
    conn: Connection, *, job_id: UUID, took: timedelta, pause: timedelta = timedelta(0)
) -> None:
    """Give a slot back. `pause`: nobody may ask that host for so long (its Retry-After)."""
    await conn.execute(
        _SQL["release"], {"job_id": job_id, "took": took.total_seconds(), "pause": pause}
    )


async def forget_origins(conn: Connection) -> int:
    """Remove hosts that nobody has fetched from for a week; how many."""
    return (await conn.execute(_SQL["forget_origins"])).rowcount
