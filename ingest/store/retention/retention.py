"""Forgetting what is kept for a time only: events, deliveries, vectors, documents.

Each call is one bounded step in the caller's transaction. Jobs are in retention_jobs.py, runs of
sites in retention_runs.py.
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
    """Up to `limit` progress events of so long ago, oldest first, later than `after`."""
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
    """Where to begin: behind the events of which only the last ones of their sources are left.

    None: at the first. Without this each round would read a row of every source there is.
    """
    row = await (await conn.execute(_SQL["events_seen"])).fetchone()
    return None if row is None else OldEvent(source_id=UUID(int=0), seq=0, created_at=row[0])


async def see_events(conn: Connection, until: datetime) -> None:
    """Note that the events up to this time have been looked at."""
    await conn.execute(_SQL["see_events"], {"until": until})


async def forget_events(conn: Connection, old: Sequence[OldEvent]) -> int:
    """Remove `old`, and what is left from before, but for the last one of each source; how many."""
    values = {
        "source_ids": [event.source_id for event in old],
        "seqs": [event.seq for event in old],
    }
    return (await conn.execute(_SQL["forget_events"], values)).rowcount


async def forget_deliveries(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Remove outgoing notifications that were delivered or given up; how many."""
    return await _forget(conn, "deliveries", older_than, limit)


async def forget_cached_vectors(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Remove vectors that were paid for by a job that never stored them; how many."""
    return await _forget(conn, "cached_vectors", older_than, limit)


async def forget_documents(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Remove documents that have been hidden for so long, chunks first; how many rows of each."""
    chunks = await _forget(conn, "chunks", older_than, limit)
    return chunks or await _forget(conn, "documents", older_than, limit)


async def _forget(conn: Connection, what: str, older_than: timedelta, limit: int) -> int:
    values = {"older_than": older_than, "limit": limit}
    return (await conn.execute(_SQL[what], values)).rowcount
