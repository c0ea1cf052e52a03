"""Delete expired rows: progress events, deliveries, cached vectors, tombstoned documents.

Each call is one bounded step in the caller's transaction. See retention_jobs.py for jobs and
retention_runs.py for crawl runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("retention/retention.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class OldEvent:
    source_id: UUID
    seq: int
    created_at: datetime


async def old_events(
    conn: Connection, *, older_than: timedelta, after: OldEvent | None, limit: int
) -> list[OldEvent]:
    """Up to `limit` progress events past their retention, oldest first, starting after `after`."""
    async with conn.cursor(row_factory=class_row(OldEvent)) as cur:
        await cur.execute(
            _SQL["old_events"],
            {
                "older_than": older_than,
                "after_time": after.created_at if after else None,
                "after_source": after.source_id if after else None,
                "after_seq": after.seq if after else None,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def events_seen(conn: Connection) -> OldEvent | None:
    """The time to resume from; None: start with the oldest event.

    Of earlier events, only each source's last one is left. Without this, each round would read one
    row per source.
    """
    row = await (await conn.execute(_SQL["events_seen"])).fetchone()
    return None if row is None else OldEvent(source_id=UUID(int=0), seq=0, created_at=row[0])


async def see_events(conn: Connection, until: datetime) -> None:
    """Record that the events up to this time have been processed."""
    await conn.execute(_SQL["see_events"], {"until": until})


async def forget_events(conn: Connection, old: Sequence[OldEvent]) -> int:
    """Delete `old` and all earlier events, except each source's last event; return how many."""
    values = {
        "source_ids": [event.source_id for event in old],
        "seqs": [event.seq for event in old],
    }
    return (await conn.execute(_SQL["forget_events"], values)).rowcount


async def forget_deliveries(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Delete outgoing deliveries that have succeeded or were given up; return how many."""
    return await _forget(conn, "deliveries", older_than, limit)


async def forget_cached_vectors(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Delete cached vectors whose job never stored them; return how many."""
    return await _forget(conn, "cached_vectors", older_than, limit)


async def forget_documents(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Delete old tombstoned documents, their chunks first; return how many rows were deleted."""
    chunks = await _forget(conn, "chunks", older_than, limit)
    return chunks or await _forget(conn, "documents", older_than, limit)


async def _forget(conn: Connection, what: str, older_than: timedelta, limit: int) -> int:
    values = {"older_than": older_than, "limit": limit}
    return (await conn.execute(_SQL[what], values)).rowcount
