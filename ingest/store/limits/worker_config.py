"""Settings of the whole installation: the global pause and provider limits."""

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries
from ingest.store.lenient_json import positive_integer
from ingest.store.queue.config_lock import lock_config_exclusive
from ingest.store.queue.jobs import wake

_SQL = load_queries("limits/worker_config.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLimits:
    """Rate limits of a provider over all workers, in any minute; None: no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    paused: bool
    """Whether the workers claim nothing at all."""
    limits: dict[str, LaneLimits]
    """By lane: `provider/model`, or `provider/model#key`, which takes precedence."""


async def get(conn: Connection) -> WorkerConfig:
    """The current settings; invalid stored values are left out."""
    stored = dict(await (await conn.execute(_SQL["all"])).fetchall())
    lanes = stored.get("limits")
    return WorkerConfig(
        paused=stored.get("paused") is True,
        limits={
            lane: LaneLimits(
                requests_per_minute=positive_integer(limits.get("requestsPerMinute")),
                tokens_per_minute=positive_integer(limits.get("tokensPerMinute")),
            )
            for lane, limits in (lanes.items() if isinstance(lanes, dict) else ())
            if isinstance(limits, dict)
        },
    )


async def set_paused(conn: Connection, paused: bool) -> None:
    """Set the global pause: once the caller's transaction commits, no job starts while it is on."""
    await lock_config_exclusive(conn)
    await conn.execute(_SQL["put"], {"key": "paused", "value": Jsonb(paused)})
    await wake(conn)


async def set_limits(conn: Connection, limits: Mapping[str, LaneLimits]) -> None:
    """Replace the limits of all lanes; lanes not named have none."""
    value = {
        lane: {
            "requestsPerMinute": of_lane.requests_per_minute,
            "tokensPerMinute": of_lane.tokens_per_minute,
        }
        for lane, of_lane in limits.items()
    }
    await conn.execute(_SQL["put"], {"key": "limits", "value": Jsonb(value)})
    await wake(conn)


async def applied_migrations(conn: Connection) -> set[int]:
    """Versions of the migrations applied to the database."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["applied_migrations"])
        return set(await cur.fetchall())
