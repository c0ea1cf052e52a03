"""Bulk actions: what one would do, its start, and its work, a part in each transaction.

The job's rows are stored when it starts (rag.bulk_parts). A part is changed and closed in one
transaction under the application's lock: it is done once, whatever happens to workers.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.errors import LeaseLost, NotFound
from ingest.payloads import BulkAction, BulkPayload
from ingest.postgres.database import Connection, load_queries
from ingest.store.bulk import bulk_jobs, bulk_sources
from ingest.store.bulk.bulk_requests import (
    BulkRequest,
    filter_json,
    filter_of,
    filter_parameters,
)
from ingest.store.documents.chunking import ChunkingDefaults
from ingest.store.lists import source_lists
from ingest.store.lists.counts import MOST_COUNTED
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.queue import job_views, jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.store.sources import collections
from ingest.store.tenants import applications
from ingest.store.view import View

_SQL = load_queries("bulk/bulk_parts.sql")

MOST_ROWS: Final = 1_000_000
"""Rows of one bulk action; the newest are taken."""
_PART: Final = 1000
# Actions with statements of their own for each row, and those with more rows behind each.
_SMALL_PART: Final = 100
_SMALL: Final[frozenset[BulkAction]] = frozenset(
    {"fetch_again", "read_again", "set_schedule", "retry"}
)
# A person waits for it.
_PRIORITY: Final = 10

# Rows that left the filter, or were deleted, after the action was asked for.
_LEFT: Final = "no_longer_matches"
_COLLECTION_GONE: Final = "not_found"


class Refused(View):
    reason: str
    count: int


class BulkPlan(View):
    """What a bulk action would do now."""

    matched: int
    """Rows of the filter, counted up to 10,000."""
    is_exact: bool
    """False: there are at least so many."""
    eligible: int
    """Rows among them that the action would change."""
    not_eligible: list[Refused]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedBulk:
    job_id: UUID
    rows: int


async def plan(conn: Connection, request: BulkRequest) -> BulkPlan:
    """Count the rows that the action would change, and those that it would leave alone, by reason.

    At most 10,000 rows are counted, of those that a page of the list would read.
    """
    where, most = request.where, MOST_COUNTED + 1
    is_cut = False
    if isinstance(where, SourceFilter):
        end = await source_lists.scan_end(conn, application_id=request.application_id, where=where)
        rows = await bulk_sources.refusals(conn, request, limit=most, oldest=end)
        is_cut = end is not None and request.ids is None
    else:
        newest = request
        if request.ids is None:
            # No index has the order of all jobs, so the newest are looked up first.
            found = await job_views.list_ids(
                conn,
                application_id=request.application_id,
                where=where,
                limit=most,
                before=None,
            )
            newest = replace(request, ids=[id for id, _ in found])
            is_cut = len(found) == most
        rows = await bulk_jobs.refusals(conn, newest)
    shown = rows[:MOST_COUNTED]
    reasons = Counter(reason for _, reason in shown if reason is not None)
    return BulkPlan(
        matched=len(shown),
        is_exact=len(rows) <= MOST_COUNTED and not is_cut,
        eligible=len(shown) - reasons.total(),
        not_eligible=[
            Refused(reason=reason, count=count) for reason, count in reasons.most_common()
        ],
    )


async def start(conn: Connection, request: BulkRequest) -> StartedBulk:
    """Queue the job, with the rows that match now: those that match later are left alone."""
    payload = request.payload.model_copy(update={"filter": filter_json(request.where)})
    [job_id] = await jobs.enqueue(
        conn,
        [
            NewJob(
                application_id=request.application_id,
                type="bulk",
                payload=payload,
                priority=_PRIORITY,
            )
        ],
    )
    is_of_sources = isinstance(request.where, SourceFilter)
    cursor = await conn.execute(
        _SQL["add_sources" if is_of_sources else "add_jobs"],
        {
            **filter_parameters(request),
            "job_id": job_id,
            "part_size": _SMALL_PART if payload.action in _SMALL else _PART,
            "most": MOST_ROWS,
        },
        prepare=False,
    )
    [(rows,)] = await cursor.fetchall()
    return StartedBulk(job_id=job_id, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTotals:
    """What a bulk job has done so far."""

    rows: int
    done: int
    changed: int
    skipped: Mapping[str, int]
    """Rows left alone, by reason."""


async def totals(conn: Connection, job: ClaimedJob) -> BulkTotals:
    async with conn.cursor(row_factory=class_row(BulkTotals)) as cur:
        await cur.execute(_SQL["totals"], _of(job))
        return await cur.fetchone() or BulkTotals(rows=0, done=0, changed=0, skipped={})


async def do_next_part(
    conn: Connection, job: ClaimedJob, payload: BulkPayload, defaults: ChunkingDefaults
) -> bool:
    """Change the rows of the next part, and close it; False if there is none.

    Must be the first in its transaction. Raises LeaseLost if the job was cancelled or is another
    worker's by now.
    """
    is_gone = not await _hold_collection(conn, job, payload)
    await applications.lock_sources(conn, job.application_id)
    cursor = await conn.execute(_SQL["is_held"], {"job_id": job.id, "fence": job.fence})
    if await cursor.fetchone() != (True,):
        raise LeaseLost(job.id)
    part = await (await conn.execute(_SQL["hold_next"], _of(job))).fetchone()
    if part is None:
        return False
    number, ids = part
    request = BulkRequest(
        application_id=job.application_id, where=filter_of(payload), ids=ids, payload=payload
    )
    if is_gone:
        changed, skipped = 0, Counter({_COLLECTION_GONE: len(ids)})
    else:
        changed, skipped = await _change(conn, request, ids, defaults)
    await conn.execute(
        _SQL["close"],
        {**_of(job), "part": number, "changed": changed, "skipped": Jsonb(dict(skipped))},
    )
    return True


async def _hold_collection(conn: Connection, job: ClaimedJob, payload: BulkPayload) -> bool:
    """False: the collection that sources go into, or leave, was deleted."""
    if payload.collection_id is None:
        return True
    try:
        await collections.hold(conn, application_id=job.application_id, ids=[payload.collection_id])
    except NotFound:
        return False
    return True


async def _change(
    conn: Connection, request: BulkRequest, ids: list[UUID], defaults: ChunkingDefaults
) -> tuple[int, Counter[str]]:
    is_of_sources = isinstance(request.where, SourceFilter)
    if is_of_sources:
        rows = await bulk_sources.refusals(conn, request, limit=len(ids), oldest=None)
    else:
        rows = await bulk_jobs.refusals(conn, request)
    eligible = [id for id, reason in rows if reason is None]
    skipped = Counter(reason for _, reason in rows if reason is not None)
    if len(rows) < len(ids):
        skipped[_LEFT] = len(ids) - len(rows)
    if eligible and is_of_sources:
        await bulk_sources.change(conn, request, eligible, defaults)
    elif eligible:
        await bulk_jobs.change(conn, request, eligible)
    return len(eligible), skipped


def _of(job: ClaimedJob) -> dict[str, Any]:
    return {"application_id": job.application_id, "job_id": job.id}
