"""Pages of jobs by a filter.

No index serves conditions on the sources of jobs (text, metadata, collection), so a request reads
at most `SCANNED` jobs that the other conditions leave, newest first, and says where it stopped.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, fill_in, load_queries
from ingest.store.lists.patterns import containing
from ingest.store.queue import job_views
from ingest.store.queue.job_views import Job, JobFilter, jobs_fragment

_SQL = load_queries("lists/job_lists.sql")

SCANNED: Final = 10_000
# A job is created when its transaction begins, and gets its position when it is queued: a page may
# have an older job above a younger one, but not by the length of the longest transaction.
_SKEW: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    rows: list[Job]
    next: int | None
    """Position before which the next page begins; None: there are no more. A page that read
    `SCANNED` jobs may have few rows, even none, and a next page."""


def parameters(application_id: UUID, where: JobFilter) -> dict[str, Any]:
    """The filter as the statements of this package take it."""
    return {
        "application_id": application_id,
        "status": where.status,
        "type": where.type,
        "source_id": where.source_id,
        "batch_id": where.batch_id,
        "parent_id": where.parent_id,
        "error_code": where.error_code,
        "since": where.since,
        "collection_id": where.collection_id,
        "pattern": None if where.text is None else containing(where.text),
        "metadata": None if where.metadata is None else Jsonb(dict(where.metadata)),
    }


async def page(
    conn: Connection, *, application_id: UUID, where: JobFilter, limit: int, before: int | None
) -> JobPage:
    """Up to `limit` jobs, newest first, before the position `before`."""
    if where.needs_scan:
        found, end = await _search(conn, application_id, where, limit=limit + 1, before=before)
    else:
        found = await job_views.list_jobs(
            conn, application_id=application_id, where=where, limit=limit + 1, before=before
        )
        end = None
    shown = found[:limit]
    next_before = shown[-1].position if len(found) > limit else end
    if where.since is None:
        return JobPage(rows=shown, next=next_before)
    if found and found[-1].created_at < where.since - _SKEW:
        next_before = None  # all that follow are older
    return JobPage(rows=[job for job in shown if job.created_at >= where.since], next=next_before)


class _ScanEnd(NamedTuple):
    position: int | None
    jobs: int
    created_at: datetime | None


async def _scan_end(
    conn: Connection, application_id: UUID, where: JobFilter, *, before: int | None
) -> _ScanEnd:
    values = {**parameters(application_id, where), "before": before, "most": SCANNED}
    cursor = await conn.execute(scan_end_statement(where), values, prepare=False)
    [row] = await cursor.fetchall()
    return _ScanEnd(*row)


async def _search(
    conn: Connection, application_id: UUID, where: JobFilter, *, limit: int, before: int | None
) -> tuple[list[Job], int | None]:
    """Jobs whose sources match; the position up to which was read, if there may be jobs beyond."""
    end = await _scan_end(conn, application_id, where, before=before)
    values = {
        **parameters(application_id, where),
        "before": before,
        "most": SCANNED,
        "oldest": end.position,
        "limit": limit,
    }
    async with conn.cursor(row_factory=class_row(Job)) as cur:
        await cur.execute(search_statement(where), values, prepare=False)
        rows = await cur.fetchall()
    is_end = end.jobs < SCANNED or (
        where.since is not None
        and end.created_at is not None
        and end.created_at < where.since - _SKEW
    )
    return rows, None if is_end else end.position


def scan_end_statement(where: JobFilter) -> bytes:
    return fill_in(_SQL["scan_end"], jobs=jobs_fragment(where))


def search_statement(where: JobFilter) -> bytes:
    return fill_in(_SQL["search"], jobs=jobs_fragment(where))
