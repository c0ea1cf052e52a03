"""Desired number of workers; processes share the scaling delays (ingest/autoscaling.py)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.autoscaling import Load, Reason, ScalingRule, ScalingState, settle, wanted
from ingest.postgres.database import Connection, load_queries
from ingest.store.queue.queue_stats import QueueStats, TypeStats
from ingest.store.view import View

_SQL = load_queries("limits/desired_workers.sql")

# Jobs of these types cannot run while the embedding provider is paused.
_EMBEDDING: Final = frozenset({"file", "member", "url", "crawl_page"})


class Desired(View):
    desired: int
    current: int
    """Workers that are alive and not stopping."""
    ready: int
    """Jobs that can start now or within a minute; not those held back by a limit or a pause."""
    paused: int
    """Jobs that wait because their type, or everything, is paused or disabled."""
    oldest_seconds: float
    reason: Reason
    """`paused`: all work is paused; `age`: the oldest ready job has waited too long; `running`:
    running jobs keep their workers; `cooling_down`, `warming_up`: fewer or more workers are
    needed, but not for long enough yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    value: dict[str, Any] | None
    now: float


async def desired(conn: Connection, stats: QueueStats, rule: ScalingRule) -> Desired:
    """The desired number of workers, for an autoscaler. Needs a transaction."""
    current = stats.workers.alive - stats.workers.draining
    asked = wanted(loads(stats), rule, current=current)
    memory = await _settle(conn, asked.workers, rule)
    reason = asked.reason
    if memory.desired != asked.workers:
        reason = "cooling_down" if memory.desired > asked.workers else "warming_up"
    return Desired(
        desired=memory.desired,
        current=current,
        ready=asked.ready,
        paused=asked.paused,
        oldest_seconds=asked.oldest_seconds,
        reason=reason,
    )


def loads(stats: QueueStats) -> Sequence[Load]:
    """The load of each job type."""
    return [_load(row, stats) for row in stats.types]


def _load(row: TypeStats, stats: QueueStats) -> Load:
    state = stats.installation
    is_held = state.embedder_is_paused and row.type in _EMBEDDING
    return Load(
        ready=row.ready + row.due,
        running=row.processing,
        oldest_seconds=row.oldest_seconds or 0.0,
        is_paused=state.is_paused or not row.is_on,
        is_open=not is_held,
        max_concurrent=row.max_concurrent,
        rate_per_minute=row.rate_per_minute,
    )


async def _settle(conn: Connection, asked: int, rule: ScalingRule) -> ScalingState:
    before, now = await _remembered(conn)
    memory = settle(before, asked, rule, now=now)
    if memory != before:
        await conn.execute(_SQL["remember"], {"value": Jsonb(asdict(memory))})
    return memory


async def _remembered(conn: Connection) -> tuple[ScalingState | None, float]:
    async with conn.cursor(row_factory=class_row(_Remembered)) as cur:
        row = await (await cur.execute(_SQL["remembered"])).fetchone()
        if row is None:
            await cur.execute(_SQL["begin"])
            await cur.execute(_SQL["remembered"])
            [row] = await cur.fetchall()
    return ScalingState(**row.value) if row.value else None, row.now
