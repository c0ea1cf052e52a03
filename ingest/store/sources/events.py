"""Durable progress events: numbered per source, announced once per transaction."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/events.sql")

# Postgres limits a payload to 8,000 bytes; an application and 200 sources take 6,700.
_SOURCES_PER_NOTIFICATION = 200

EventType = Literal["progress", "job", "source", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    source_id: UUID
    type: EventType
    data: Mapping[str, Any]
    """As sent to clients: camelCase keys, JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    source_id: UUID
    seq: int
    type: EventType
    data: dict[str, Any]
    created_at: datetime


async def emit(conn: Connection, events: Sequence[NewEvent]) -> None:
    """Append events in the caller's transaction; listeners are notified when it commits."""
    if not events:
        return
    cursor = await conn.execute(
        _SQL["emit"],
        {
            "source_ids": [event.source_id for event in events],
            "types": [event.type for event in events],
            "data": [Jsonb(dict(event.data)) for event in events],
        },
    )
    touched: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for source_id, application_id in await cursor.fetchall():
        touched[application_id].append(source_id)
    if touched:
        await conn.execute(_SQL["notify"], {"payloads": list(_payloads(touched))})


def _payloads(touched: Mapping[UUID, Sequence[UUID]]) -> Iterator[str]:
    for application_id, source_ids in touched.items():
        for start in range(0, len(source_ids), _SOURCES_PER_NOTIFICATION):
            part = source_ids[start : start + _SOURCES_PER_NOTIFICATION]
            yield f"{application_id.hex}:{','.join(source_id.hex for source_id in part)}"


def parse_notification(payload: str) -> tuple[UUID, list[UUID]]:
    """Parse a notification into the application and its sources that have new events."""
    application_id, _, sources = payload.partition(":")
    return UUID(application_id), [UUID(source) for source in sources.split(",") if source]


async def after(
    conn: Connection, positions: Mapping[UUID, int], *, limit: int = 5000
) -> list[Event]:
    """Events of several sources, each after its given `seq`; sorted by source, then `seq`.

    The caller has checked that the sources belong to the requesting application.
    """
    async with conn.cursor(row_factory=class_row(Event)) as cur:
        await cur.execute(
            _SQL["after"],
            {"source_ids": list(positions), "after": list(positions.values()), "limit": limit},
        )
        return await cur.fetchall()
