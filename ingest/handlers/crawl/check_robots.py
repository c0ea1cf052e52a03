"""robots.txt of a host, cached in the database for all workers."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

from ingest.errors import Permanent, Transient
from ingest.handlers.context import SiteReader
from ingest.postgres.database import transaction
from ingest.store.crawl import crawl_origins
from ingest.temporary_folders import scratch_folder
from ingest.web.robots import Robots, read

_FRESH: Final = timedelta(hours=12)
# Retry interval for a robots.txt that cannot be read; until it can, the host is not crawled.
RETRY_DELAY: Final = timedelta(seconds=10)
_LARGEST: Final = 512 * 1024


class RobotsUnavailable(Transient):
    """robots.txt cannot be read now, so it is unknown whether the host may be crawled."""

    def __init__(self, origin: str, why: str, *, host_answers: bool) -> None:
        super().__init__(f"{origin}/robots.txt cannot be read: {why}", code="fetch_failed")
        self.host_answers = host_answers
        """Whether the host responds at all, even with an error."""


async def robots_for(origin: str, ctx: SiteReader, *, refresh: bool = False) -> Robots:
    """Get the rules for an origin; `refresh` bypasses the cache.

    A host without robots.txt (4xx) allows everything. Raises RobotsUnavailable if it responds
    5xx or not at all: RFC 9309 treats that as a full disallow, but it is temporary.
    """
    async with transaction(ctx.pool) as conn:
        stored = await crawl_origins.robots(conn, origin)
    agent = ctx.web.user_agent
    if stored is not None and stored.status == "unavailable" and stored.age < RETRY_DELAY:
        raise RobotsUnavailable(origin, "the server responded with an error", host_answers=True)
    is_known = stored is not None and stored.status != "unavailable" and stored.age < _FRESH
    if stored is not None and is_known and not refresh:
        return read(stored.body or b"", agent=agent)
    body = await _fetch(origin, ctx)
    rules = read(body or b"", agent=agent)
    async with transaction(ctx.pool) as conn:
        await crawl_origins.save_robots(
            conn,
            origin,
            status="none" if body is None else "rules",
            body=body,
            delay=None if rules.delay is None else timedelta(seconds=rules.delay),
        )
    return rules


async def _fetch(origin: str, ctx: SiteReader) -> bytes | None:
    """The file's bytes; None if the host has no robots.txt."""
    async with scratch_folder() as folder:
        path = folder / "robots.txt"
        try:
            fetched = await ctx.web.fetcher.get(f"{origin}/robots.txt", into=path)
            if fetched.status >= 500 or fetched.status == 429:
                raise await _unavailable(origin, fetched.status, ctx)
            return await asyncio.to_thread(_head, path) if fetched.status == 200 else None
        except RobotsUnavailable:
            raise
        except Transient as error:
            raise RobotsUnavailable(origin, str(error), host_answers=False) from error
        except Permanent as error:
            # A redirect loop or a blocked redirect target counts as no file. Of a file that is too
            # large, the first _LARGEST bytes count.
            return await asyncio.to_thread(_head, path) if error.code == "too_large" else None


def _head(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(_LARGEST)


async def _unavailable(origin: str, status: int, ctx: SiteReader) -> RobotsUnavailable:
    async with transaction(ctx.pool) as conn:
        await crawl_origins.save_robots(conn, origin, status="unavailable", body=None, delay=None)
    return RobotsUnavailable(origin, f"the server responded with HTTP {status}", host_answers=True)
