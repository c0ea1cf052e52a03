"""The frontier of a run: the addresses found, and the jobs that fetch them.

The caller holds the lock of the run (crawls.lock), so two pages that end at the same time cannot
add an address twice or exceed the limit together.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from psycopg.rows import scalar_row

from ingest.errors import LeaseLost
from ingest.payloads import PagePayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.crawl import crawl_pages
from ingest.store.crawl.crawl_pages import PageForJob
from ingest.store.queue import job_control, jobs

_SQL = load_queries("crawl/frontier.sql")

# Most pages beyond the limit to keep, in case a place within it is given back.
_MOST_WAITING = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPage:
    """An address that was found."""

    uri: str
    fetch_url: str
    url_pattern: str
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPage:
    """An address that needs no job."""

    uri: str
    status: Literal["skipped", "duplicate", "failed"]
    error_code: str | None = None
    error_message: str | None = None
    duplicate_of: str | None = None
    http_status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOwner:
    """The run that pages are added to; their jobs become children of its root job."""

    application_id: UUID
    source_id: UUID
    crawl_id: UUID
    root_job_id: UUID
    priority: int


async def add(
    conn: Connection, owner: RunOwner, found: Sequence[NewPage], *, room: int, variants: int
) -> Counter[str]:
    """Add new addresses to a run, each with a job; return how many were skipped, by reason.

    `room`: how many more pages fit the limit; up to 1,000 pages beyond it wait for a place.
    `variants`: the most pages of one URL pattern.
    The caller holds the lock of the run.
    """
    skipped: Counter[str] = Counter()
    known = await _known(conn, owner.crawl_id, [page.uri for page in found])
    wanted = list({page.uri: page for page in found if page.uri not in known}.values())
    wanted = await _without_traps(conn, owner, wanted, skipped, variants=variants)
    beyond = wanted[room:]
    await _insert(conn, owner, wanted[:room])
    if beyond:
        free = max(_MOST_WAITING - await count_over_limit(conn, owner.crawl_id), 0)
        skipped["limit"] = len(beyond[free:])
        await _insert_rows(
            conn, owner.crawl_id, owner.source_id, beyond[:free], [None] * len(beyond[:free])
        )
    return skipped


async def count_stored_only(conn: Connection, owner: RunOwner, uris: Sequence[str]) -> int:
    """How many of these addresses have a document but are not yet pages of the run."""
    if not uris:
        return 0
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["count_stored_only"],
            {
                "source_id": owner.source_id,
                "crawl_id": owner.crawl_id,
                "digests": [_md5(uri) for uri in uris],
            },
        )
        return int(await cur.fetchone() or 0)


async def count_over_limit(conn: Connection, crawl_id: UUID) -> int:
    """How many pages of a run wait for a place within the limit."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["count_over_limit"], {"crawl_id": crawl_id})
        return int(await cur.fetchone() or 0)


async def promote(conn: Connection, owner: RunOwner, *, room: int) -> int:
    """Queue waiting pages; return how many. The caller holds the lock of the run."""
    if room <= 0:
        return 0
    cursor = await conn.execute(_SQL["promote"], {"crawl_id": owner.crawl_id, "room": room})
    pages = await cursor.fetchall()
    await count(conn, owner.crawl_id, len(pages))
    await enqueue(conn, owner, pages)
    return len(pages)


async def _known(conn: Connection, crawl_id: UUID, uris: Iterable[str]) -> set[str]:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["known"], {"crawl_id": crawl_id, "digests": [_md5(uri) for uri in uris]}
        )
        return set(await cur.fetchall())


async def _without_traps(
    conn: Connection,
    owner: RunOwner,
    wanted: Sequence[NewPage],
    skipped: Counter[str],
    *,
    variants: int,
) -> list[NewPage]:
    many = [page for page in wanted if page.url_pattern != page.uri]
    if not many:
        return list(wanted)
    source = {"crawl_id": owner.crawl_id, "source_id": owner.source_id}
    cursor = await conn.execute(
        _SQL["url_patterns"], {**source, "digests": list({_md5(page.url_pattern) for page in many})}
    )
    known: Counter[str] = Counter(dict(await cursor.fetchall()))
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["stored"], {**source, "digests": [_md5(page.uri) for page in many]})
        stored = set(await cur.fetchall())
    kept = []
    for page in wanted:
        is_new = page.url_pattern != page.uri and page.uri not in stored
        if is_new and known[page.url_pattern] >= variants:
            skipped["trap"] += 1
            continue
        known[page.url_pattern] += is_new
        kept.append(page)
    return kept


async def _insert(conn: Connection, owner: RunOwner, pages: Sequence[NewPage]) -> None:
    if not pages:
        return
    job_ids = [new_id() for _ in pages]
    added = await _insert_rows(conn, owner.crawl_id, owner.source_id, pages, job_ids)
    await count(conn, owner.crawl_id, len(added))
    await enqueue(conn, owner, added)


async def _insert_rows(
    conn: Connection,
    crawl_id: UUID,
    source_id: UUID,
    pages: Sequence[NewPage],
    job_ids: Sequence[UUID | None],
) -> list[tuple[UUID, UUID]]:
    """Page id and job id of each inserted row; known addresses are skipped."""
    cursor = await conn.execute(
        _SQL["add"],
        {
            "crawl_id": crawl_id,
            "source_id": source_id,
            "ids": [new_id() for _ in pages],
            "job_ids": job_ids,
            "uris": [page.uri for page in pages],
            "fetch_urls": [page.fetch_url for page in pages],
            "url_patterns": [page.url_pattern for page in pages],
            "depths": [page.depth for page in pages],
        },
    )
    return await cursor.fetchall()


async def ensure_single_page(
    conn: Connection, *, crawl_id: UUID, source_id: UUID, uri: str, fetch_url: str, job_id: UUID
) -> PageForJob:
    """Return the page of a single-page run; insert it if missing."""
    page = await crawl_pages.first_page(conn, crawl_id)
    if page is None:
        new = NewPage(uri=uri, fetch_url=fetch_url, url_pattern=uri, depth=0)
        await _insert_rows(conn, crawl_id, source_id, [new], [job_id])
        page = await crawl_pages.first_page(conn, crawl_id)
    if page is None:
        raise LeaseLost(job_id)
    return page


async def enqueue(conn: Connection, owner: RunOwner, pages: Sequence[tuple[UUID, UUID]]) -> None:
    """Queue jobs for pages, given as pairs of page id and job id."""
    await jobs.enqueue(
        conn,
        [
            jobs.NewJob(
                id=job_id,
                application_id=owner.application_id,
                type="crawl_page",
                source_id=owner.source_id,
                parent_job_id=owner.root_job_id,
                payload=PagePayload(crawl_id=owner.crawl_id, page_id=page_id),
                priority=owner.priority,
            )
            for page_id, job_id in pages
        ],
    )


async def count(conn: Connection, crawl_id: UUID, change: int) -> None:
    """Add `change` to the number of pages counted towards the limit."""
    if change:
        await conn.execute(_SQL["count"], {"crawl_id": crawl_id, "change": change})


async def add_seen(
    conn: Connection, crawl_id: UUID, source_id: UUID, pages: Sequence[SeenPage]
) -> None:
    """Record addresses that need no job; known addresses stay unchanged."""
    if not pages:
        return
    await conn.execute(
        _SQL["add_seen"],
        {
            "crawl_id": crawl_id,
            "source_id": source_id,
            "ids": [new_id() for _ in pages],
            "uris": [page.uri for page in pages],
            "statuses": [page.status for page in pages],
            "codes": [page.error_code for page in pages],
            "duplicates": [page.duplicate_of for page in pages],
            "http_statuses": [page.http_status for page in pages],
            "messages": [page.error_message for page in pages],
        },
    )


async def requeue_orphans(conn: Connection, owner: RunOwner) -> int:
    """Requeue pages whose canonical URL has no document, now to be stored; return how many.

    Locks jobs: call it before locking the run (docs/locks.md).
    """
    cursor = await conn.execute(_SQL["orphans"], {"crawl_id": owner.crawl_id})
    orphans = dict(await cursor.fetchall())
    retried = await job_control.retry(
        conn,
        application_id=owner.application_id,
        job_ids=list(orphans.values()),
        statuses=("completed",),
    )
    has_job = {job.id for job in retried}
    ids = [id for id, job_id in orphans.items() if job_id in has_job]
    await conn.execute(_SQL["ignore_canonical"], {"ids": ids})
    await count(conn, owner.crawl_id, len(ids))
    return len(ids)


async def requeue(conn: Connection, owner: RunOwner, *, all: bool = False) -> int:
    """Requeue the failed pages of a run, or all; reuse their jobs if possible. Returns how many.

    Locks jobs: call it before locking the run (docs/locks.md).
    """
    cursor = await conn.execute(_SQL["requeueable"], {"crawl_id": owner.crawl_id, "all": all})
    pages = await cursor.fetchall()
    retried = await job_control.retry(
        conn,
        application_id=owner.application_id,
        job_ids=[job_id for _, job_id, _ in pages],
        statuses=("failed", "cancelled", "completed"),
    )
    has_job = {job.id for job in retried}
    again = [(id, job_id if job_id in has_job else new_id()) for id, job_id, _ in pages]
    await count(conn, owner.crawl_id, sum(gave_place_back for _, _, gave_place_back in pages))
    await conn.execute(_SQL["forget_unseen"], {"crawl_id": owner.crawl_id})
    await conn.execute(
        _SQL["requeue"],
        {"ids": [id for id, _ in again], "job_ids": [job_id for _, job_id in again]},
    )
    await enqueue(conn, owner, [pair for pair in again if pair[1] not in has_job])
    return len(again)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
