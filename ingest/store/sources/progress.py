"""Progress of sources and applications, and the positions of their events."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row, scalar_row

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("sources/progress.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationProgress:
    """Counts of jobs (of a source) or of sources (of an application).

    They add up: total = completed + failed + cancelled + review_needed + processing + pending.
    """

    total: int
    completed: int
    failed: int
    processing: int
    pending: int
    cancelled: int
    review_needed: int
    percent: int | None
    """0 to 100; None while the total is unknown, and for an application without sources."""
    eta_seconds: int | None
    """Estimated from the last minute; 0 if nothing is open, None if unknown."""
    status: SourceStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress(ApplicationProgress):
    """Initial snapshot of a source for clients."""

    id: UUID
    source_type: str
    name: str
    uri: str
    error_code: str | None
    error_message: str | None
    chunk_count: int
    event_seq: int
    """Number of the last event that this state reflects."""
    oldest_position: int
    """Events up to this one are no longer kept."""


async def of_sources(
    conn: Connection, *, application_id: UUID, ids: Sequence[UUID]
) -> list[SourceProgress]:
    """The sources in `ids` that belong to the application, in no particular order."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["sources"], {"application_id": application_id, "ids": list(ids)})
        return [_source_progress(row) for row in await cur.fetchall()]


async def of_application(conn: Connection, *, application_id: UUID) -> ApplicationProgress:
    """Counts over the application's sources; `partial` ones count as completed.

    The status is `processing` while any source is pending or processing, then `review_needed`
    while one is; else `partial` when some but not all failed, `failed` when nothing is searchable
    and something failed, `cancelled` when all were cancelled, and `completed`.
    """
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["application"], {"application_id": application_id})
        row = await cur.fetchone()
    if row is None:
        raise RuntimeError("an aggregate returned no row")
    partial, ended_lately = row.pop("partial"), row.pop("ended_lately")
    total = row["total"]
    still_open = row["pending"] + row["processing"]
    ended = total - still_open - row["review_needed"]
    return ApplicationProgress(
        **row,
        percent=ended * 100 // total if total else None,
        eta_seconds=_eta(still_open, still_open, ended_lately),
        status=_summary(row, partial),
    )


def _summary(counts: Mapping[str, int], partial: int) -> SourceStatus:
    if counts["pending"] or counts["processing"]:
        return "processing"
    if counts["review_needed"]:
        return "review_needed"
    if counts["completed"] and (counts["failed"] or partial):
        return "partial"
    if counts["failed"]:
        return "failed"
    if counts["cancelled"] and not counts["completed"]:
        return "cancelled"
    return "completed"


def _source_progress(row: dict[str, Any]) -> SourceProgress:
    points, ended_lately = int(row.pop("points")), row.pop("ended_lately")
    is_counting = row.pop("is_counting")
    ended_job_counts = row.pop("ended_job_counts")
    if row["total"] == 0:
        # Its ended jobs were removed: use their saved counts, or else the state of the source.
        counts = ended_job_counts or _count_of_one(row["status"])
        return SourceProgress(
            **row | counts | {"total": sum(counts.values())},
            percent=0 if row["status"] in ("pending", "processing", "review_needed") else 100,
            eta_seconds=_eta(1 if row["status"] in ("pending", "processing") else 0, 1, 0),
        )
    total = row["total"]
    return SourceProgress(
        **row,
        percent=None if is_counting else min(100, points // total),
        eta_seconds=None
        if is_counting
        else _eta(row["pending"] + row["processing"], total - points / 100, ended_lately),
    )


def _count_of_one(status: SourceStatus) -> dict[str, int]:
    return {"completed" if status == "partial" else status: 1}


def _eta(still_open: int, remaining: float, ended_in_a_minute: int) -> int | None:
    """Estimated seconds until all has ended, at the rate of the last minute; None if unknown.

    `remaining` counts jobs or sources; running ones count as fractions.
    """
    if still_open == 0:
        return 0
    if ended_in_a_minute == 0:
        return None
    return math.ceil(remaining * 60 / ended_in_a_minute)


async def unfinished_and_newest(
    conn: Connection, *, application_id: UUID, limit: int, newest: int
) -> list[UUID]:
    """Up to `limit` sources that are not finished and up to `newest` that are, newest first."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["unfinished_and_newest"],
            {"application_id": application_id, "limit": limit, "newest": newest},
        )
        return await cur.fetchall()


async def positions(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, int]:
    """The number of each source's last event; purged sources are missing.

    The caller has checked that the sources belong to the requesting applications.
    """
    return dict(await (await conn.execute(_SQL["positions"], {"ids": list(ids)})).fetchall())


async def visible_before(conn: Connection) -> datetime:
    """A time before which all events are visible; no earlier event can still appear."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["visible_before"])
        time = await cur.fetchone()
    if not isinstance(time, datetime):
        raise RuntimeError("an aggregate returned no row")
    return time


async def recently_changed(
    conn: Connection, followed: Mapping[UUID, datetime], *, within: timedelta
) -> list[tuple[UUID, UUID, int]]:
    """Id, application and last event number of sources that changed recently.

    `followed` maps each application to the time from which its changes count.
    """
    cursor = await conn.execute(
        _SQL["recently_changed"],
        {
            "application_ids": list(followed),
            "since": list(followed.values()),
            "within": within,
        },
    )
    return await cursor.fetchall()


async def replay_starts(
    conn: Connection,
    heard: Mapping[UUID, UUID],
    *,
    followed: Mapping[UUID, datetime],
    horizon: timedelta,
) -> dict[UUID, int]:
    """Per source, the number of the last event before the cutoff; 0 if there is none.

    The cutoff is the later of the application's time in `followed` and now - `horizon`. `heard`
    maps sources to applications; deleted sources and wrong pairs are left out.
    """
    cursor = await conn.execute(
        _SQL["replay_starts"],
        {
            "ids": list(heard),
            "application_ids": list(heard.values()),
            "since": [followed[application_id] for application_id in heard.values()],
            "horizon": horizon,
        },
    )
    return dict(await cursor.fetchall())
