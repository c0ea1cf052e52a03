"""Fetch one page politely: obey robots.txt, limit the rate per host, use conditional requests."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from ingest.errors import Permanent, Snooze, Transient
from ingest.handlers.context import Context
from ingest.handlers.crawl.check_robots import robots_for
from ingest.postgres.database import transaction
from ingest.providers.fetch.fetcher import Fetched
from ingest.providers.retry_after import retry_after
from ingest.store.crawl import crawl_origins, crawl_pages
from ingest.store.crawl.crawl_origins import HostBusy
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.queue.jobs import ClaimedJob
from ingest.temporary_folders import scratch_folder
from ingest.web import urls
from ingest.web.scope import Scope, SkipReason

# Upper bound on Retry-After.
_LONGEST_PAUSE: Final = timedelta(hours=24)
_LOGIN_ADDRESS: Final = re.compile(
    r"[/.](?:log-?in|sign-?in|sso|oauth2?|openid|saml2?|adfs|idp|(?:auth|accounts)(?=\.))(?![a-z])",
    re.IGNORECASE,
)
_LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResponse:
    """A server's response for a page. `path` holds the body inside the `fetch_page` block."""

    fetched: Fetched
    path: Path
    is_unchanged: bool
    """The server responded with 304: the stored version is current."""


class RedirectOutOfScope(Exception):
    """The page redirects to an address outside the scope of the crawl."""

    def __init__(self, url: str, reason: SkipReason) -> None:
        super().__init__(f"redirects to {url}")
        self.url = url
        self.reason = reason

    @property
    def leads_to_login(self) -> bool:
        """Whether the address is a login on another host (single sign-on)."""
        return self.reason == "off_site" and _LOGIN_ADDRESS.search(self.url) is not None


class PageUnavailable(Permanent):
    """The server responded with a status that a retry will not change."""

    def __init__(self, http_status: int) -> None:
        super().__init__(f"the server responded with HTTP {http_status}", code="fetch_status")
        self.http_status = http_status

    @property
    def is_gone(self) -> bool:
        return self.http_status in (404, 410)


class PageTemporarilyUnavailable(Transient):
    """The server responded with a temporary error status."""

    def __init__(self, http_status: int, *, retry_after: timedelta | None) -> None:
        super().__init__(
            f"the server responded with HTTP {http_status}",
            code="fetch_status",
            retry_after=retry_after,
        )
        self.http_status = http_status


@asynccontextmanager
async def fetch_page(
    job: ClaimedJob,
    page: PageForJob,
    stored: StoredPage | None,
    ctx: Context,
    *,
    scope: Scope | None,
) -> AsyncIterator[PageResponse]:
    """Yield the response for a page; the file with its body is deleted at the end of the block.

    `scope`: limits of the crawl, also applied to redirects. None for a single page: all redirects
    are followed and robots.txt is ignored. Raises Snooze while the host is busy,
    RedirectOutOfScope, and Permanent or Transient with codes `fetch_…`, `robots_disallowed`,
    `redirect_loop`, `too_large`.
    """

    async def on_hop(url: str) -> None:
        if scope is None:
            return
        reason = scope.refusal(url, depth=0)
        if reason is not None:
            raise RedirectOutOfScope(url, reason)
        await _obey_robots(url, ctx)

    if scope is not None:
        await _obey_robots(page.fetch_url, ctx)
    async with scratch_folder() as folder:
        body = folder / "body"
        fetched = await _in_turn(job, page, ctx, body, _conditions(stored), on_hop)
        yield PageResponse(fetched=fetched, path=body, is_unchanged=fetched.status == 304)


async def _obey_robots(url: str, ctx: Context) -> None:
    robots = await robots_for(urls.origin(url), ctx)
    if not robots.allows(url):
        raise Permanent(f"robots.txt forbids {url}", code="robots_disallowed")


def _conditions(stored: StoredPage | None) -> dict[str, str]:
    """Headers of a conditional request: the server may respond with 304."""
    headers = {}
    if stored is not None and stored.etag:
        headers["If-None-Match"] = stored.etag
    if stored is not None and stored.last_modified:
        headers["If-Modified-Since"] = stored.last_modified
    return headers


async def _in_turn(
    job: ClaimedJob,
    page: PageForJob,
    ctx: Context,
    body: Path,
    headers: Mapping[str, str],
    on_hop: Callable[[str], Awaitable[None]],
) -> Fetched:
    """Take a slot of the host, fetch, release the slot. Raises Snooze if none is free."""
    web = ctx.web
    async with transaction(ctx.pool) as conn:
        slot = await crawl_origins.take_slot(
            conn,
            urls.origin(page.fetch_url),
            job_id=job.id,
            crawl_id=page.crawl_id,
            at_once=web.crawl_concurrency,
            delay=web.crawl_delay,
            for_at_most=web.fetch_timeout + timedelta(seconds=30),
        )
    if isinstance(slot, HostBusy):
        raise Snooze(slot.delay, reason="host_busy")
    pause, started = timedelta(0), time.monotonic()
    try:
        await asyncio.sleep(slot.wait.total_seconds())
        started = time.monotonic()
        fetched = await web.fetcher.get(page.fetch_url, into=body, headers=headers, on_hop=on_hop)
        if fetched.status in (429, 503):
            pause = _asked_pause(fetched) or timedelta(0)
        return fetched
    finally:
        took = timedelta(seconds=time.monotonic() - started)
        async with transaction(ctx.pool) as conn:
            await crawl_origins.release(conn, job_id=job.id, took=took, pause=pause)


def _asked_pause(fetched: Fetched) -> timedelta | None:
    asked = retry_after(fetched.headers)
    return None if asked is None else min(asked, _LONGEST_PAUSE)


def refuse_status(fetched: Fetched) -> None:
    """Raise PageTemporarilyUnavailable or PageUnavailable for an error status."""
    if 200 <= fetched.status < 300 or fetched.status == 304:
        return
    if fetched.status in _LATER:
        raise PageTemporarilyUnavailable(fetched.status, retry_after=_asked_pause(fetched))
    raise PageUnavailable(fetched.status)


async def note_http_status(
    job: ClaimedJob, page: PageForJob, http_status: int, ctx: Context
) -> None:
    """Store the status in the page's record even though the attempt fails."""
    async with transaction(ctx.pool) as conn:
        await crawl_pages.save_http_status(conn, page.id, http_status=http_status, job=job)
