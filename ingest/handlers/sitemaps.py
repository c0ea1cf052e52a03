"""The pages that a site's sitemaps name."""

import asyncio
import tempfile
from collections import deque
from pathlib import Path
from typing import Final

from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context
from ingest.handlers.lead_on import scope_of
from ingest.pipeline.web import sitemap
from ingest.pipeline.web.robots import Robots
from ingest.pipeline.web.sitemap import Sitemap
from ingest.store.crawls import Crawl

_MOST_FILES: Final = 50
_LARGEST: Final = 50 * 1024 * 1024


async def sitemap_pages(crawl: Crawl, robots: Robots, ctx: Context) -> list[str]:
    """Addresses from the sitemaps that robots.txt names, or from the usual place.

    At most as many as the run may have pages, out of at most 50 files. A sitemap that cannot be
    read is passed over: the links of the site lead to its pages as well.
    """
    scope = scope_of(crawl)
    usual = scope.adopt(crawl.uri).split("/", 3)
    waiting = deque(robots.sitemaps or ["/".join([*usual[:3], "sitemap.xml"])])
    seen: set[str] = set()
    pages: dict[str, None] = {}
    while waiting and len(seen) < _MOST_FILES and len(pages) < crawl.settings.limit:
        url = scope.adopt(waiting.popleft())
        if url in seen or scope.refusal(url, depth=0) == "off_site":
            continue
        seen.add(url)
        found = await _fetch(url, crawl.settings.limit, ctx)
        waiting.extend(found.sitemaps)
        pages |= dict.fromkeys(found.pages)
    return list(pages)[: crawl.settings.limit]


async def _fetch(url: str, limit: int, ctx: Context) -> Sitemap:
    with tempfile.TemporaryDirectory(prefix="ingest-sitemap-") as folder:
        path = Path(folder) / "sitemap"
        try:
            fetched = await ctx.web.fetcher.get(url, into=path, max_bytes=_LARGEST)
        except (Permanent, Transient):
            return Sitemap(pages=(), sitemaps=())
        if fetched.status != 200:
            return Sitemap(pages=(), sitemaps=())
        return await asyncio.to_thread(_read, path, fetched.url, limit)


def _read(path: Path, url: str, limit: int) -> Sitemap:
    return sitemap.read(path.read_bytes(), base=url, limit=limit)
