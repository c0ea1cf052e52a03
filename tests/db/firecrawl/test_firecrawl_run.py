"""The root job of a crawl at Firecrawl: it follows the crawl, fills in what is missing, ends it."""

from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.errors import LeaseLost, Permanent, Transient
from ingest.handlers.crawl.fetch_page import PageUnavailable
from ingest.postgres.database import Connection, Pool
from ingest.store.crawl import crawls
from tests.servers.firecrawl_behaviour import Behaviour, SitePage
from tests.servers.firecrawl_events import document
from tests.servers.firecrawl_server import FirecrawlServer
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    Root,
    addresses,
    child_jobs,
    claim_root,
    crawl_of,
    drain,
    firecrawl_context,
    make_inbox,
    page_rows,
    start_run,
    stopped,
    told,
)
from tests.support.running_worker import until

_NO_SUCH_SERVER = "http://127.0.0.1:9"


async def test_a_crawl_that_sent_no_event_has_all_its_pages_in_the_end(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True, unknown_reads=1, part=3)

    end = await root.until_end()

    assert end.error is None
    assert await root.statuses() == {
        SITE: None,
        SITE + "a": None,
        SITE + "none": "fetch_status",
        SITE + "secret": "robots_disallowed",
        SITE + "slow": "fetch_failed",
    }
    assert len(await child_jobs(conn, root.run)) == 4  # what robots.txt forbids needs none
    page = await root.content(SITE + "a")
    assert (page.markdown, page.title, page.url) == ("# A", "Letter A", SITE + "a")
    with pytest.raises(Permanent) as failed:
        await root.content(SITE + "none")
    assert isinstance(failed.value, PageUnavailable)
    assert failed.value.is_gone
    assert (await crawl_of(conn, root.run)).status == "finishing"


async def test_more_pages_than_one_answer_or_one_event_holds_are_all_read(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    paths = [f"p{number}" for number in range(130)]
    firecrawl.sites[SITE] = {url: SitePage(markdown=f"# {url}") for url in addresses(*paths)}
    await conn.execute("""update rag.crawls set settings = settings || '{"limit": 200}'""")

    await root.until_end()

    assert set(await root.statuses()) == set(addresses(*paths))
    for url in addresses("p0", "p49", "p50", "p129"):
        assert (await root.content(url)).markdown == f"# {url}"


async def test_reconcile_adds_no_page_that_events_added(
    root: Root, firecrawl: FirecrawlServer, conn: Connection, pool: Pool, blobs: LocalBlobStore
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True)
    await root.wait()
    send = Post(conn, firecrawl.crawl_of(SITE).id, await told(conn, root.run))
    await send("crawl.page", document(SITE + "a", "# A, by its event"))
    await drain(make_inbox(pool, blobs))

    await root.until_end()

    assert len(await root.statuses()) == 5
    assert (await root.content(SITE + "a")).markdown == "# A, by its event"
    [(count,)] = await (
        await conn.execute("select count(*) from rag.webhook_events where body like '%# A%'")
    ).fetchall()
    assert count == 1


async def test_repeated_attempt_creates_no_duplicate_pages_or_jobs(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True)
    await root.until_end()
    pages, children = await page_rows(conn, root.run), await child_jobs(conn, root.run)

    await conn.execute("update rag.crawls set status = 'running'")
    await root.until_end()

    assert await page_rows(conn, root.run) == pages
    assert await child_jobs(conn, root.run) == children


async def test_a_large_page_is_kept_in_the_blob_store(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    text = "# Long\n\n" + "Über die Tür. " * 60_000
    firecrawl.sites[SITE] = {SITE: SitePage(markdown=text), SITE + "a": SitePage(markdown="# A")}

    await root.until_end()

    assert (await root.content(SITE)).markdown == text
    assert (await root.content(SITE + "a")).markdown == "# A"
    cursor = await conn.execute(
        "select blob_key is not null from rag.webhook_events order by size_bytes"
    )
    assert await cursor.fetchall() == [(False,), (True,)]


async def test_expired_content_is_reported_as_missing(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    await root.until_end()
    await conn.execute("delete from rag.webhook_events")

    with pytest.raises(Permanent) as missing:
        await root.content(SITE)

    assert missing.value.code == "blob_missing"


async def test_refused_crawl_fails_the_run_with_the_provider_message(
    root: Root, firecrawl: FirecrawlServer
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(kickoff_fails=True)

    error = await root.until_failed()

    assert (error.code, "Kickoff failed" in str(error)) == ("crawl_failed", True)


async def test_crawl_cancelled_at_the_provider_fails_and_keeps_its_pages(
    root: Root, firecrawl: FirecrawlServer
) -> None:
    firecrawl.sites[SITE] = {
        url: SitePage(markdown="# Page") for url in addresses(*map(str, range(40)))
    }
    firecrawl.behaviours[SITE] = Behaviour(page_seconds=0.5, cancelled_at=0.05)

    error = await root.until_failed()

    assert error.code == "crawl_failed"
    statuses = await root.statuses()
    assert 0 < len(statuses) < 40
    assert set(statuses.values()) == {None}  # pages that were never tried are no failures


async def test_silent_crawl_is_given_up_and_keeps_its_pages(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(stuck=True, silent=True)
    await root.wait()
    await until(lambda: _scraped(firecrawl))
    await root.wait()

    await root.backdate("provider_active_at", seconds=1801)
    error = await root.until_failed()

    assert error.code == "crawl_failed"
    assert len(await root.statuses()) == 5
    assert await stopped(conn) == [firecrawl.crawl_of(SITE).id]


async def test_crawl_progress_resets_the_silence_timer(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(stuck=True, silent=True)
    await root.wait()
    await until(lambda: _scraped(firecrawl))
    await root.backdate("provider_active_at", seconds=1000)
    await root.wait()
    moved = (await crawl_of(conn, root.run)).silent_seconds
    await root.backdate("provider_active_at", seconds=1000)
    await root.wait()
    stood = (await crawl_of(conn, root.run)).silent_seconds

    assert moved < 500 < stood


async def test_crawl_not_polled_for_long_is_judged_by_its_progress(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(stuck=True, silent=True)
    await root.wait()
    await until(lambda: _scraped(firecrawl))

    await root.backdate("provider_active_at", seconds=1801)
    went_on = await root.wait()

    assert went_on == "provider"
    assert (await crawl_of(conn, root.run)).silent_seconds < 100


async def test_a_crawl_that_has_ended_is_not_stopped_however_long_it_was_silent(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True)
    await root.wait()
    await until(lambda: _completed(firecrawl))
    await root.backdate("provider_active_at", seconds=1801)

    end = await root.until_end()

    assert end.error is None
    assert await stopped(conn) == []


async def test_an_outage_of_the_provider_is_waited_out_until_it_lasts_too_long(
    conn: Connection, application_id: UUID, pool: Pool, blobs: LocalBlobStore
) -> None:
    run = await start_run(conn, application_id)
    await crawls.save_provider_id(conn, run.crawl_id, "c1")
    job = await claim_root(conn)

    async with firecrawl_context(pool, blobs, url=_NO_SUCH_SERVER) as ctx:
        root = Root(conn=conn, ctx=ctx, run=run, job=job)
        first = await root.wait()
        await root.backdate("provider_active_at", seconds=1801)
        with pytest.raises(Transient):
            await root.step()
        root.job = job._replace(attempts=job.max_attempts)
        error = await root.until_failed()

    assert first == "provider"
    assert error.code == "crawl_failed"
    assert await stopped(conn) == ["c1"]


async def test_a_crawl_that_the_provider_has_forgotten_fails(root: Root, conn: Connection) -> None:
    await crawls.save_provider_id(conn, root.run.crawl_id, str(root.run.crawl_id))

    young = await root.wait()
    await root.backdate("start_sent_at", seconds=121)
    error = await root.until_failed()

    assert young == "provider"
    assert error.code == "crawl_failed"


async def test_lost_job_adds_no_pages(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True)
    await root.wait()
    await until(lambda: _completed(firecrawl))
    await conn.execute("update rag.processing_jobs set fence = fence + 1")

    with pytest.raises(LeaseLost):
        await root.step()

    assert await root.statuses() == {}
    assert (await crawl_of(conn, root.run)).status == "running"


async def _scraped(firecrawl: FirecrawlServer) -> bool:
    crawl = firecrawl.crawl_of(SITE)
    return len(crawl.scraped()) == len(crawl.jobs)


async def _completed(firecrawl: FirecrawlServer) -> bool:
    return firecrawl.crawl_of(SITE).state == "completed"
