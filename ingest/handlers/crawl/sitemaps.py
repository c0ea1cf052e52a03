"""The pages listed in a site's sitemaps."""

import asyncio
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from ingest.errors import Permanent, Transient
from ingest.handlers.context import SiteReader
from ingest.model import Sitemap
from ingest.sandbox.messages import SitemapRequest
from ingest.temporary_folders import scratch_folder
from ingest.web.robots import Robots
from ingest.web.scope import Scope

_MAX_FILES: Final = 50
# URLs read per file. The sitemap protocol allows half as many.
_MAX_URLS_PER_FILE: Final = 100_000
_LARGEST: Final = 50 * 1024 * 1024  # bytes
# Limit for all files together, so that a slow host does not use up the job's time limit.
_BUDGET_SECONDS: Final = 120.0
# Addresses kept above the run's page limit: they use places that are freed later.
_EXTRA_PAGES: Final = 1_000
_MISSING: Final = frozenset({404, 410})
_FORBIDDEN: Final = frozenset({401, 403})


@dataclass(slots=True, kw_only=True)
class SitemapPages:
    """The pages listed in a site's sitemaps."""

    pages: dict[str, None] = field(default_factory=dict)
    """Addresses in scope, in order, with the crawl's own origin."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Number of skipped addresses by reason; `unread` counts sitemaps not read completely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _SitemapFile:
    """Content of one sitemap file."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)


async def sitemap_pages(
    scope: Scope,
    robots: Robots,
    ctx: SiteReader,
    *,
    owner: UUID,
    limit: int,
    max_files: int | None = None,
    within: float | None = None,
) -> SitemapPages:
    """Addresses from the sitemaps that robots.txt names, or from /sitemap.xml.

    At most the run's page `limit` + _EXTRA_PAGES addresses, from at most `max_files` files (None:
    _MAX_FILES), read in `within` seconds (None: _BUDGET_SECONDS). Unreadable files are counted as
    `unread`: pages that only they list would look removed.
    """
    found = SitemapPages()
    most = limit + _EXTRA_PAGES
    files = _SitemapQueue(scope, robots, max_files or _MAX_FILES)
    try:
        async with asyncio.timeout(within or _BUDGET_SECONDS):
            while len(found.pages) < most and (url := files.next()) is not None:
                listed = await _fetch(url, scope, ctx, owner=owner, is_guess=not robots.sitemaps)
                files.done(listed)
                _add(found, listed, most)
    except TimeoutError:
        pass  # use what was read so far
    found.skipped["unread" if len(found.pages) < most else "limit"] += files.unread()
    return found


class _SitemapQueue:
    """Queue of a site's sitemaps; also counts those never read."""

    def __init__(self, scope: Scope, robots: Robots, max_files: int) -> None:
        self._scope = scope
        self._max_files = max_files
        self._waiting = deque(robots.sitemaps or [f"{scope.seed.origin}/sitemap.xml"])
        self._seen: set[str] = set()
        self._under_way = 0
        # The robots.txt parser stops at this number of sitemaps; there may be more.
        self._is_cut = len(robots.sitemaps) >= _MAX_FILES

    def next(self) -> str | None:
        """The next sitemap to read; None at the end or after `max_files`."""
        if len(self._seen) >= self._max_files:
            return None
        url = self._take()
        self._under_way = 0 if url is None else 1
        return url

    def done(self, listed: _SitemapFile) -> None:
        """Queue the sitemaps that the current one, now read, lists."""
        self._under_way = 0
        self._waiting.extend(listed.sitemaps)

    def unread(self) -> int:
        """How many sitemaps were not read completely. Empties the queue."""
        count = self._under_way + self._is_cut
        while self._take() is not None:
            count += 1
        return count

    def _take(self) -> str | None:
        while self._waiting:
            url = self._scope.adopt(self._waiting.popleft())
            if url not in self._seen and self._scope.refusal(url, depth=0) != "off_site":
                self._seen.add(url)
                return url
        return None


def _add(found: SitemapPages, listed: _SitemapFile, most: int) -> None:
    found.skipped += listed.skipped
    for page in listed.pages:
        if page in found.pages:
            continue
        if len(found.pages) < most:
            found.pages[page] = None
        else:
            found.skipped["limit"] += 1


async def _fetch(
    url: str, scope: Scope, ctx: SiteReader, *, owner: UUID, is_guess: bool
) -> _SitemapFile:
    async with scratch_folder() as folder:
        path = folder / "sitemap"
        try:
            fetched = await ctx.web.fetcher.get(url, into=path, max_bytes=_LARGEST)
        except (Permanent, Transient):
            return _SitemapFile(skipped=Counter(unread=1))
        # For the guessed address, 401 and 403 also count as missing: some servers send them.
        if fetched.status in _MISSING or (is_guess and fetched.status in _FORBIDDEN):
            return _SitemapFile()
        if fetched.status != 200:
            return _SitemapFile(skipped=Counter(unread=1))
        request = SitemapRequest(base=fetched.url, limit=_MAX_URLS_PER_FILE)
        try:
            found = await ctx.parser.read_sitemap(path, request, owner=owner)
        except (Permanent, Transient):  # hostile, or the parser could not be started
            return _SitemapFile(skipped=Counter(unread=1))
    return await asyncio.to_thread(_filter_by_scope, found, scope)


def _filter_by_scope(found: Sitemap, scope: Scope) -> _SitemapFile:
    """Filter by scope before the limit applies: the pages in scope may be listed last."""
    skipped: Counter[str] = Counter(unread=1 if found.is_cut else 0)
    pages = []
    for page in found.pages:
        address = scope.adopt(page)
        reason = scope.refusal(address, depth=1)
        if reason is None:
            pages.append(address)
        else:
            skipped[reason] += 1
    return _SitemapFile(pages=tuple(pages), sitemaps=found.sitemaps, skipped=skipped)
