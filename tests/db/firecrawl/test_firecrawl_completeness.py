"""When a run at Firecrawl may say what is gone: only if nothing can have been hidden from it."""

from dataclasses import dataclass

import pytest

from ingest.handlers.crawl.finish_crawl import finish_crawl
from ingest.postgres.database import Connection
from ingest.store.crawl import runs
from ingest.store.crawl.runs import StartedRun
from tests.servers.firecrawl_behaviour import SitePage
from tests.servers.firecrawl_server import FirecrawlServer
from tests.support.crawl.crawl_sources import add_document
from tests.support.crawl.firecrawl_runs import SITE, Root, claim_root, crawl_of

_TIMED_OUT = SitePage(error="The scrape operation timed out")
_PAGE = SitePage()


@dataclass(kw_only=True)
class Nights:
    """Runs of one site, one after the other."""

    conn: Connection
    firecrawl: FirecrawlServer
    root: Root
    count: int = 0

    async def run(self, pages: dict[str, SitePage], *, freed: int = 0) -> bool:
        """A run that comes upon these pages; whether it is complete.

        `freed`: so many of them are duplicates, whose places were given back.
        """
        self.firecrawl.sites[SITE] = {SITE + path: page for path, page in pages.items()}
        if self.count:
            self.root.run = await self._again()
            self.root.job = await claim_root(self.conn)
        self.count += 1
        await self.root.until_end()
        await self._end_pages(self.root.run)
        await self.conn.execute(
            "update rag.crawls set page_count = page_count - %s where id = %s",
            [freed, self.root.run.crawl_id],
        )
        return await self._finish()

    async def store(self, path: str) -> None:
        """What a page's job would have stored."""
        root = self.root
        application_id = root.job.application_id
        await add_document(self.conn, application_id, root.run.source_id, SITE + path)

    async def _again(self) -> StartedRun:
        async with self.conn.transaction():
            run = await runs.rescrape(
                self.conn,
                application_id=self.root.job.application_id,
                source_id=self.root.run.source_id,
            )
        assert run is not None
        return run

    async def _end_pages(self, run: StartedRun) -> None:
        """As their jobs do it: what the provider could not fetch fails, the rest is new."""
        await self.conn.execute(
            "update rag.crawl_pages set status = case when error_code is null then 'new'"
            " else 'failed' end where crawl_id = %s and status = 'queued'",
            [run.crawl_id],
        )
        await self.conn.execute(
            "update rag.processing_jobs set status = 'completed' where parent_job_id = %s",
            [run.job_id],
        )

    async def _finish(self) -> bool:
        crawl = await crawl_of(self.conn, self.root.run)
        outcome = await finish_crawl(self.root.job, crawl, self.root.ctx, error=None)
        assert outcome.write is not None
        async with self.conn.transaction():
            await outcome.write(self.conn)
            await self.conn.execute(
                "update rag.processing_jobs set status = 'completed' where id = %s",
                [self.root.job.id],
            )
        return bool((outcome.result or {})["isComplete"])


@pytest.fixture
def nights(conn: Connection, firecrawl: FirecrawlServer, root: Root) -> Nights:
    return Nights(conn=conn, firecrawl=firecrawl, root=root)


@pytest.mark.parametrize(("limit", "freed"), [(3, 0), (3, 1), (4, 0)])
async def test_run_that_reached_its_limit_is_never_complete(
    nights: Nights, conn: Connection, limit: int, freed: int
) -> None:
    await conn.execute(
        "update rag.crawls set settings = settings || jsonb_build_object('limit', %s::int)",
        [limit],
    )

    is_complete = await nights.run(dict.fromkeys(("", "a", "b"), _PAGE), freed=freed)

    assert is_complete is (limit == 4)


async def test_firecrawl_counts_both_urls_of_one_page(nights: Nights, conn: Connection) -> None:
    await conn.execute("""update rag.crawls set settings = settings || '{"limit": 3}'""")

    is_complete = await nights.run(dict.fromkeys(("", "a", "a#b", "c"), _PAGE))

    assert len(await nights.root.statuses()) == 2
    assert is_complete is False


async def test_failing_page_blocks_removals_while_it_fails(nights: Nights) -> None:
    whole = {"": _PAGE, "hub": _PAGE, "leaf": _PAGE}
    hidden = {"": _PAGE, "hub": _TIMED_OUT}
    first = await nights.run(whole)
    await nights.store("hub")

    complete = [await nights.run(pages) for pages in (hidden, hidden, whole)]

    assert first
    assert complete == [False, False, True]


async def test_page_that_always_failed_does_not_block_removals(
    nights: Nights,
) -> None:
    pages = {"": _PAGE, "slow": _TIMED_OUT}

    complete = [await nights.run(pages) for _ in range(3)]

    assert complete == [False, True, True]


async def test_page_that_worked_in_between_blocks_removals(nights: Nights) -> None:
    failing = {"": _PAGE, "hub": _TIMED_OUT}
    # Another failure keeps this run from being complete.
    once = {"": _PAGE, "hub": _PAGE, "leaf": _PAGE, "slow": _TIMED_OUT}

    complete = [await nights.run(pages) for pages in (failing, once, failing)]

    assert complete == [False, False, False]


@pytest.mark.parametrize("status", [404, 410])
async def test_removed_page_does_not_block_removals(nights: Nights, status: int) -> None:
    is_complete = await nights.run({"": _PAGE, "old": SitePage(status=status)})

    assert is_complete
