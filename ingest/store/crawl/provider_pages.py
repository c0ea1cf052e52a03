"""Add the pages that a provider fetched to a run. Idempotent: repeated reports add a page once.

A page that the provider could not fetch gets a job that fails with the provider's reason.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.errors import ErrorCode, Transient
from ingest.model import JobStatus
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.crawl import crawls, frontier
from ingest.store.crawl.crawl_pages import PageStatus
from ingest.store.crawl.crawls import Crawl, LockedCrawl, RunOfEvent
from ingest.store.crawl.frontier import RunOwner
from ingest.store.queue import jobs

_SQL = load_queries("crawl/provider_pages.sql")

_REOPENABLE: frozenset[JobStatus] = frozenset({"pending", "processing", "failed"})
# A job that found its page gone has completed.
_REOPENABLE_IF_GONE = _REOPENABLE | {"completed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPage:
    """A provider's report of one page."""

    uri: str
    """Normalised final address, after redirects."""
    queued_as: str
    """Normalised address that the provider requested; the only one known of a failure."""
    fetch_url: str
    """The requested address, not normalised."""
    url_pattern: str
    scrape_id: str | None
    """The provider's id of the attempt; the same in every report of it."""
    http_status: int | None = None
    error_code: ErrorCode | None = None
    """None: the page was fetched."""
    error_message: str | None = None
    event_index: int | None = None
    """Index of the page in the event that has its content; None if it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvent:
    """A stored event, and the index of the wanted page in it."""

    body: bytes | None
    blob_key: str | None
    event_index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownPage:
    id: UUID
    uri: str
    fetch_url: str
    scrape_id: str | None
    status: PageStatus
    event_id: int | None
    job_id: UUID | None


class _KnownPages:
    """The pages of a run that reported pages may match."""

    def __init__(self, rows: Iterable[_KnownPage]) -> None:
        self._by_uri: dict[str, _KnownPage] = {}
        self._by_scrape: dict[tuple[str, str], _KnownPage] = {}
        for row in rows:
            self._by_uri[row.uri] = row
            if row.scrape_id is not None:
                self._by_scrape[row.scrape_id, row.fetch_url] = row

    def take(self, page: ProviderPage) -> _KnownPage | None:
        """The row of a reported page; may be the failed row of the address it was requested by.

        A failed row matches only one fetched page.
        """
        same_scrape = self._by_scrape.get((page.scrape_id or "", page.fetch_url))
        found = same_scrape or self._by_uri.get(page.uri)
        if page.error_code is not None:
            return found
        if found is None:
            earlier = self._by_uri.get(page.queued_as)
            found = earlier if earlier is not None and _has_failed(earlier) else None
        if found is not None and _has_failed(found):
            self._by_uri.pop(found.uri, None)
        return found


async def owner_of(conn: Connection, crawl: RunOfEvent | Crawl) -> RunOwner:
    """The run as a target for new pages."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["root_priority"], {"id": crawl.job_id})
        priority = await cur.fetchone()
    return RunOwner(
        application_id=crawl.application_id,
        source_id=crawl.source_id,
        crawl_id=crawl.id,
        root_job_id=crawl.job_id,
        priority=priority or 0,
    )


async def missing(
    conn: Connection, crawl_id: UUID, pages: Sequence[ProviderPage]
) -> list[ProviderPage]:
    """The reported pages that would change the run."""
    known = await _known(conn, crawl_id, pages)
    return [page for page in pages if _is_change(page, known.take(page))]


async def insert(
    conn: Connection,
    owner: RunOwner,
    pages: Sequence[ProviderPage],
    *,
    locked: LockedCrawl,
    event_id: int | None = None,
) -> int:
    """Add reported pages to the run; return how many are new or had failed before.

    Other known pages stay unchanged. `event_id`: the event with the contents. The caller holds
    the lock of the run. Raises Transient while another transaction is ending a page's job.
    """
    wanted = list(_distinct(pages).values())
    known = await _known(conn, owner.crawl_id, wanted)
    found = [(page, known.take(page)) for page in wanted]
    found = [(page, row) for page, row in found if _is_change(page, row)]
    found = await _within_limit(conn, owner.crawl_id, found, locked)
    added = [page for page, row in found if row is None]
    failed = [(page, row) for page, row in found if row is not None]
    await _add(conn, owner, added, event_id)
    renewed = await _renew(conn, owner, failed, event_id)
    used = sum(_limit_usage(*change) for change in [*((page, None) for page in added), *renewed])
    await frontier.count(conn, owner.crawl_id, used)
    return len(added) + len(renewed)


async def page_event(conn: Connection, page_id: UUID) -> PageEvent | None:
    """The event that has the content of a page; None if it has been deleted."""
    async with conn.cursor(row_factory=class_row(PageEvent)) as cur:
        await cur.execute(_SQL["page_event"], {"id": page_id})
        return await cur.fetchone()


async def is_cut_off(conn: Connection, crawl_id: UUID, *, limit: int) -> bool:
    """Whether the provider may have omitted pages because of the limit."""
    cursor = await conn.execute(_SQL["is_cut_off"], {"crawl_id": crawl_id, "limit": limit})
    return await cursor.fetchone() == (True,)


def _distinct(pages: Sequence[ProviderPage]) -> dict[str, ProviderPage]:
    """One page per address; a fetched page takes precedence over a failed one."""
    chosen: dict[str, ProviderPage] = {}
    for page in sorted(pages, key=lambda page: page.error_code is not None):
        chosen.setdefault(page.uri, page)
    return chosen


def _has_failed(row: _KnownPage) -> bool:
    """Whether a page has no content so far."""
    return row.status in ("failed", "gone") or (row.status == "queued" and row.event_id is None)


def _is_change(page: ProviderPage, row: _KnownPage | None) -> bool:
    if row is None:
        return True
    is_same_scrape = page.scrape_id is not None and page.scrape_id == row.scrape_id
    return page.error_code is None and _has_failed(row) and not is_same_scrape


async def _known(conn: Connection, crawl_id: UUID, pages: Sequence[ProviderPage]) -> _KnownPages:
    addresses = {address for page in pages for address in (page.uri, page.queued_as)}
    async with conn.cursor(row_factory=class_row(_KnownPage)) as cur:
        await cur.execute(
            _SQL["known"],
            {
                "crawl_id": crawl_id,
                "digests": [_md5(address) for address in addresses],
                "scrape_ids": [page.scrape_id for page in pages if page.scrape_id],
            },
        )
        return _KnownPages(await cur.fetchall())


async def _within_limit(
    conn: Connection,
    crawl_id: UUID,
    found: Sequence[tuple[ProviderPage, _KnownPage | None]],
    locked: LockedCrawl,
) -> list[tuple[ProviderPage, _KnownPage | None]]:
    """Keep the pages that fit the limit; count the others as skipped."""
    room = max(locked.settings.limit - locked.page_count, 0)
    kept = []
    for page, row in found:
        used = _limit_usage(page, row)
        room -= used
        if room >= 0 or not used:
            kept.append((page, row))
    await crawls.add_skipped(conn, crawl_id, {"limit": -room} if room < 0 else {})
    return kept


def _limit_usage(page: ProviderPage, row: _KnownPage | None) -> int:
    """Places within the limit that a page takes: 0 if it failed or was counted before, else 1."""
    is_counted = row is not None and row.event_id is not None
    return int(page.error_code is None and not is_counted)


async def _add(
    conn: Connection, owner: RunOwner, pages: Sequence[ProviderPage], event_id: int | None
) -> None:
    if not pages:
        return
    pairs = [(new_id(), new_id()) for _ in pages]
    await conn.execute(
        _SQL["add"],
        {
            **_columns(pages),
            "crawl_id": owner.crawl_id,
            "source_id": owner.source_id,
            "event_id": event_id,
            "ids": [page_id for page_id, _ in pairs],
            "job_ids": [job_id for _, job_id in pairs],
            "codes": [page.error_code for page in pages],
            "messages": [page.error_message for page in pages],
        },
    )
    await frontier.enqueue(conn, owner, pairs)


async def _renew(
    conn: Connection,
    owner: RunOwner,
    pages: Sequence[tuple[ProviderPage, _KnownPage]],
    event_id: int | None,
) -> Sequence[tuple[ProviderPage, _KnownPage]]:
    """Requeue failed pages and their jobs; return the pages for which this was possible."""
    if not pages:
        return []
    states = await _lock_jobs(conn, [row.job_id for _, row in pages if row.job_id is not None])
    pages = [
        (page, row)
        for page, row in pages
        # A cancelled job stays cancelled.
        if row.job_id is None
        or states.get(row.job_id, "failed")
        in (_REOPENABLE_IF_GONE if row.status == "gone" else _REOPENABLE)
    ]
    job_ids = [row.job_id if row.job_id in states else new_id() for _, row in pages]
    await conn.execute(
        _SQL["renew"],
        {
            **_columns([page for page, _ in pages]),
            "event_id": event_id,
            "ids": [row.id for _, row in pages],
            "job_ids": job_ids,
        },
    )
    await conn.execute(_SQL["reopen_jobs"], {"ids": [id for id in job_ids if id in states]})
    await jobs.wake(conn)
    pairs = [(row.id, id) for (_, row), id in zip(pages, job_ids, strict=True) if id not in states]
    await frontier.enqueue(conn, owner, [(page_id, id) for page_id, id in pairs if id])
    return pages


async def _lock_jobs(conn: Connection, ids: Sequence[UUID]) -> Mapping[UUID | None, JobStatus]:
    """Lock the jobs that still exist; status by id. Raises Transient if one is locked already."""
    cursor = await conn.execute(_SQL["lock_jobs"], {"ids": list(ids)})
    states: dict[UUID | None, JobStatus] = {}
    for id, status, is_locked in await cursor.fetchall():
        if not is_locked:
            raise Transient("another transaction is ending the job of a page", code="internal")
        states[id] = status
    return states


def _columns(pages: Sequence[ProviderPage]) -> dict[str, Any]:
    return {
        "uris": [page.uri for page in pages],
        "fetch_urls": [page.fetch_url for page in pages],
        "url_patterns": [page.url_pattern for page in pages],
        "scrape_ids": [page.scrape_id for page in pages],
        "http_statuses": [page.http_status for page in pages],
        "indexes": [page.event_index for page in pages],
    }


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
