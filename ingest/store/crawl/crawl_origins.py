"""State of hosts, shared by all workers: robots.txt, pauses, slots for concurrent requests."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("crawl/crawl_origins.sql")

RobotsStatus = Literal["rules", "none", "unavailable"]

# Seconds; for a pause up to this long, a job takes its slot and waits instead of snoozing.
_SHORT_WAIT: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRobots:
    status: RobotsStatus
    body: bytes | None
    age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSlot:
    """Permission for one request after waiting `wait`."""

    wait: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class HostBusy:
    """No slot for now; retry after `delay`."""

    delay: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    wait: float
    delay: float
    fetch_seconds: float


async def robots(conn: Connection, origin: str) -> StoredRobots | None:
    """The last robots.txt that any worker fetched from an origin; None: never fetched."""
    async with conn.cursor(row_factory=class_row(StoredRobots)) as cur:
        await cur.execute(_SQL["robots"], {"origin": origin})
        return await cur.fetchone()


async def save_robots(
    conn: Connection,
    origin: str,
    *,
    status: RobotsStatus,
    body: bytes | None,
    delay: timedelta | None,
) -> None:
    """Store robots.txt for all workers; `delay` is its crawl delay between requests."""
    await conn.execute(
        _SQL["save_robots"], {"origin": origin, "status": status, "body": body, "delay": delay}
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
) -> HostSlot | HostBusy:
    """Try to take a slot for one request to a host. Call it in its own transaction.

    At most `at_once` requests are open, and their starts are `delay` apart, unless robots.txt sets
    another delay. A slot that is not released expires after `for_at_most`.
    """
    await conn.execute(_SQL["add_origin"], {"origin": origin})
    async with conn.cursor(row_factory=class_row(_Origin)) as cur:
        await cur.execute(_SQL["lock_origin"], {"origin": origin, "delay": delay.total_seconds()})
        host = await cur.fetchone()
    if host is None:
        # Deleted between the two statements: treat it as a new host.
        host = _Origin(wait=0.0, delay=delay.total_seconds(), fetch_seconds=0.5)
    await conn.execute(_SQL["free_expired"], {"origin": origin})
    identity = {"origin": origin, "job_id": job_id}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["count_slots"], identity)
        busy = int(await cur.fetchone() or 0)
    if busy >= at_once or host.wait > _SHORT_WAIT:
        spacing = max(host.delay, host.fetch_seconds / at_once)
        return HostBusy(delay=await _next_turn(conn, crawl_id, spacing, at_least=host.wait))
    await conn.execute(_SQL["add_slot"], {**identity, "for_at_most": for_at_most})
    await conn.execute(_SQL["set_next_start"], {"origin": origin, "delay": host.delay})
    return HostSlot(wait=timedelta(seconds=host.wait))


async def _next_turn(
    conn: Connection, crawl_id: UUID, spacing: float, *, at_least: float
) -> timedelta:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["next_turn"], {"crawl_id": crawl_id, "spacing": spacing})
        seconds = await cur.fetchone()
    return timedelta(seconds=max(float(seconds or spacing), at_least))


async def release(
    conn: Connection, *, job_id: UUID, took: timedelta, pause: timedelta = timedelta(0)
) -> None:
    """Release a slot. `pause`: all workers leave the host alone for so long (its Retry-After)."""
    await conn.execute(
        _SQL["release"], {"job_id": job_id, "took": took.total_seconds(), "pause": pause}
    )


async def forget_origins(conn: Connection) -> int:
    """Delete hosts without a fetch for a week; return how many."""
    return (await conn.execute(_SQL["forget_origins"])).rowcount
