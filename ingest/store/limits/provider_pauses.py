"""Pauses of single providers by the operator, until the operator ends them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("limits/provider_pauses.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPause:
    since: datetime | None
    """None: the stored value was changed by hand, and says no time."""
    note: str | None
    """Who paused it and why, in the operator's words."""


def names_of(lane: str) -> tuple[str, str, str]:
    """The names by which a lane is paused: itself, without the endpoint, without that and the key.

    `provider/model` stays paused when the key or the endpoint changes.
    """
    return lane, lane.partition("@")[0], lane.partition("#")[0]


async def pause(conn: Connection, lane: str, *, note: str | None) -> ProviderPause:
    """Pause a lane; one that is paused keeps its time and note. Requests that run are answered."""
    await conn.execute(_SQL["pause"], {"lane": lane, "note": note})
    return (await paused(conn))[lane]


async def resume(conn: Connection, lane: str) -> bool:
    """End the pause; False if there was none. Waiting jobs are released apart."""
    return (await conn.execute(_SQL["resume"], {"lane": lane})).rowcount == 1


async def paused(conn: Connection) -> dict[str, ProviderPause]:
    """All pauses by lane."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["all"])
        stored: Any = await cur.fetchone()
    return (
        {lane: _read(value) for lane, value in stored.items()} if isinstance(stored, dict) else {}
    )


async def is_paused(conn: Connection, lane: str) -> bool:
    """Whether the lane is paused by one of its names."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["is_paused"], {"lane": lane})
        return bool(await cur.fetchone())


def _read(value: Any) -> ProviderPause:
    fields: dict[str, Any] = value if isinstance(value, dict) else {}
    note = fields.get("note")
    return ProviderPause(
        since=_time(fields.get("at")), note=note if isinstance(note, str) else None
    )


def _time(value: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return None if at.tzinfo is None else at
