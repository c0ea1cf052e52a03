"""The pages that a site's sitemaps name."""

import asyncio
import tempfile
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context
from ingest.handlers.crawl.link_discovery import scope_of
from ingest.store.crawl.crawls import Crawl
from ingest.web import sitemap
from ingest.web.robots import Robots
from ingest.web.scope import Scope
from ingest.web.sitemap import Sitemap

_MOST_FILES: Final = 50
# Of one file. The protocol of sitemaps allows half as many.
_MOST_LISTED: Final = 100_000
_LARGEST: Final = 50 * 1024 * 1024  # bytes
# Of all files together. A host that drips them must not use up the time of the job.
_BUDGET_SECONDS: Final = 120.0
# Addresses above the limit of the run: they wait for places that are given back.
_BEYOND: Final = 1_000
_MISSING: Final = frozenset({404, 410})
_FORBIDDEN: Final = frozenset({401, 403})


@dataclass(slots=True, kw_only=True)
class Named:
    """What the sitemaps of a site name."""

    pages: dict[str, None] = field(default_factory=dict)
    """Addresses of this crawl in order, as the crawl writes its site."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Addresses that are left out, by reason; under `unread`, sitemaps that are missing in part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """What one file lists."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)


async def sitemap_pages(crawl: Crawl, robots: Robots, ctx: Context) -> Named:
    """Addresses from the sitemaps that robots.txt names, or from the usual place.

    At most _BEYOND more than the run may have pages, out of at most _MOST_FILES files. What cannot
    be read is counted: pages that only it names would look removed.
    """
    scope, named = scope_of(crawl), Named()
    most = crawl.settings.limit + _BEYOND
    files = _Files(scope, robots)
    try:
        async with asyncio.timeout(_BUDGET_SECONDS):
            while len(named.pages) < most and (url := files.next()) is not None:
                listed = await _fetch(url, scope, ctx, is_guess=not robots.sitemaps)
                files.done(listed)
                _add(named, listed, most)
    except TimeoutError:
        pass  # what was read so far is good
    named.skipped["unread" if len(named.pages) < most else "limit"] += files.unread()
    return named


class _Files:
    """The sitemaps of a site: which one is next, and which will never be read."""

    def __init__(self, scope: Scope, robots: Robots) -> None:
        self._scope = scope
        self._waiting = deque(robots.sitemaps or [f"{scope.seed.origin}/sitemap.xml"])
        self._seen: set[str] = set()
        self._under_way = 0
        # As many as are kept of a robots.txt: there may be more in it.
        self._is_cut = len(robots.sitemaps) >= _MOST_FILES

    def next(self) -> str | None:
        """The one to read now; None at the end, or after as many as are read."""
        if len(self._seen) >= _MOST_FILES:
            return None
        url = self._take()
        self._under_way = 0 if url is None else 1
        return url

    def done(self, listed: _Listed) -> None:
        """The one under way was read."""
        self._under_way = 0
        self._waiting.extend(listed.sitemaps)

    def unread(self) -> int:
        """How many were not read to the end, and are not read any more."""
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


def _add(named: Named, listed: _Listed, most: int) -> None:
    named.skipped += listed.skipped
    for page in listed.pages:
        if page in named.pages:
            continue
        if len(named.pages) < most:
            named.pages[page] = None
        else:
            named.skipped["limit"] += 1


async def _fetch(url: str, scope: Scope, ctx: Context, *, is_guess: bool) -> _Listed:
    with tempfile.TemporaryDirectory(prefix="ingest-sitemap-") as folder:
        path = Path(folder) / "sitemap"
        try:
            fetched = await ctx.web.fetcher.get(url, into=path, max_bytes=_LARGEST)
        except (Permanent, Transient):
            return _Listed(skipped=Counter(unread=1))
        # Nobody has named it: some servers forbid what they do not have.
        if fetched.status in _MISSING or (is_guess and fetched.status in _FORBIDDEN):
            return _Listed()
        if fetched.status != 200:
            return _Listed(skipped=Counter(unread=1))
        return await asyncio.to_thread(_read, path, fetched.url, scope)


def _read(path: Path, url: str, scope: Scope) -> _Listed:
    return _within(sitemap.read(path.read_bytes(), base=url, limit=_MOST_LISTED), scope)


def _within(found: Sitemap, scope: Scope) -> _Listed:
    """Before anything is cut off: the wanted part of a site may be the end of its sitemap."""
    skipped: Counter[str] = Counter(unread=1 if found.is_cut else 0)
    pages = []
    for page in found.pages:
        address = scope.adopt(page)
        reason = scope.refusal(address, depth=1)
        if reason is None:
            pages.append(address)
        else:
            skipped[reason] += 1
    return _Listed(pages=tuple(pages), sitemaps=found.sitemaps, skipped=skipped)
