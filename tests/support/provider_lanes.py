"""Lanes of the governor in tests: configure them, shift their times, read them."""

from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import dict_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.governor import Governor, Hold
from ingest.postgres.database import Connection, Pool
from ingest.store.limits.worker_config import LaneLimits

LANE = "acme/llm#12345678"


def limited_to(pool: Pool, *, requests: int | None = None, tokens: int | None = None) -> Governor:
    limits = LaneLimits(requests_per_minute=requests, tokens_per_minute=tokens)
    return Governor(pool, limits={LANE: limits})


async def configure(conn: Connection, limits: dict[str, Any]) -> None:
    await conn.execute(
        "insert into rag.worker_config (key, value) values ('limits', %s) "
        "on conflict (key) do update set value = excluded.value",
        [Jsonb(limits)],
    )


async def pass_by(conn: Connection, seconds: float) -> None:
    """Shift the times of all lanes, as if this many seconds had passed."""
    await conn.execute(
        "update rag.lanes set refilled_at = refilled_at - %(time)s, "
        "paused_until = paused_until - %(time)s",
        {"time": timedelta(seconds=seconds)},
    )


async def lane_row(conn: Connection) -> dict[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.lanes where lane = %s", [LANE])
        row = await cur.fetchone()
    assert row is not None
    return row


async def held(governor: Governor, *, requests: int = 1, tokens: int = 0) -> Hold:
    hold = await governor.reserve(LANE, requests=requests, tokens=tokens)
    assert hold is not None
    return hold


async def freeze(conn: Connection) -> None:
    """Stop the refill of token buckets, however long the test takes."""
    await conn.execute("update rag.lanes set refilled_at = now() + interval '1 day'")


async def pauses_for(conn: Connection, seconds: float, failure: Awaitable[object]) -> bool:
    """Whether a failure pauses the lane for this many seconds, by the clock before and after it."""
    before, _, after = await _clock(conn), await failure, await _clock(conn)
    until = (await lane_row(conn))["paused_until"]
    return bool(before <= until - timedelta(seconds=seconds) <= after)


async def _clock(conn: Connection) -> datetime:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute("select clock_timestamp()")
        now: datetime | None = await cur.fetchone()
    assert now is not None
    return now
