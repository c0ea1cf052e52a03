"""A crawl at Firecrawl is started once, whatever becomes of the answer, and can be stopped."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.errors import LeaseLost, Transient
from ingest.firecrawl_inbox import Inbox
from ingest.handlers.context import Context, Progress
from ingest.handlers.crawl.stop_crawl import stop_crawl
from ingest.payloads import StopCrawlPayload
from ingest.postgres.database import Connection, Pool
from ingest.store.crawl import crawls
from ingest.store.queue import claims, jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.store.sources import source_control
from tests.servers.firecrawl_behaviour import Behaviour
from tests.servers.firecrawl_crawls import Crawl
from tests.servers.firecrawl_events import document
from tests.servers.firecrawl_server import KEY, FirecrawlServer
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    Root,
    claim_root,
    crawl_of,
    drain,
    event_row,
    firecrawl_context,
    start_run,
    stopped,
    told,
)

START = "POST /v2/crawl"
_SLOW = Behaviour(page_seconds=60)
"""Runs longer than any test."""


async def test_a_run_starts_one_crawl_with_our_ids_and_notes_its_id(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = _SLOW

    first = await root.wait()
    second = await root.wait()

    crawl = firecrawl.crawl_of(SITE)
    assert (first, second, firecrawl.requests[START]) == ("provider", "provider", 1)
    assert (await crawl_of(conn, root.run)).provider_crawl_id == crawl.id
    assert crawl.request["limit"] == 100
    assert "webhook" not in crawl.request


async def test_crawl_starts_at_the_url_as_written(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    written = SITE + "index.html"
    firecrawl.sites[written] = firecrawl.sites[SITE]
    firecrawl.behaviours[written] = replace(_SLOW, lost_start=True)
    await conn.execute(
        "update rag.crawls set settings = settings || jsonb_build_object('start', %s::text)",
        [written],
    )

    await root.wait()
    await root.wait()  # and is found again by it

    assert (await crawl_of(conn, root.run)).provider_crawl_id == firecrawl.crawl_of(written).id


async def test_events_are_asked_for_where_they_can_reach_us(
    conn: Connection,
    application_id: UUID,
    pool: Pool,
    blobs: LocalBlobStore,
    firecrawl: FirecrawlServer,
) -> None:
    run = await start_run(conn, application_id)
    job = await claim_root(conn)
    hook = "http://127.0.0.1:9/api/webhooks/firecrawl"

    async with firecrawl_context(pool, blobs, url=firecrawl.url, key=KEY, webhook_url=hook) as ctx:
        await Root(conn=conn, ctx=ctx, run=run, job=job).step()

    crawl = firecrawl.crawl_of(SITE)
    assert crawl.webhook_url == hook
    assert crawl.run == await told(conn, run)


async def test_worker_killed_during_start_never_starts_a_second_crawl(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    await crawls.record_start_sent(conn, root.run.crawl_id)

    early = await root.wait()
    await root.backdate("start_sent_at", seconds=121)
    late = await root.until_failed()

    assert (early, late.code) == ("provider", "crawl_not_started")
    assert firecrawl.requests[START] == 0


async def test_a_crawl_whose_start_was_not_answered_is_found_among_the_running_ones(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = replace(_SLOW, lost_start=True)

    await root.wait()
    await root.wait()

    assert (await crawl_of(conn, root.run)).provider_crawl_id == firecrawl.crawl_of(SITE).id
    assert firecrawl.requests[START] == 1


async def test_only_a_matching_crawl_is_adopted(
    root: Root, firecrawl: FirecrawlServer, conn: Connection, application_id: UUID
) -> None:
    def running(url: str, id: str, *, age: timedelta = timedelta(0)) -> Crawl:
        crawl = Crawl(id=id, request={"url": url}, site={}, behaviour=Behaviour(stuck=True))
        crawl.created_at -= age
        return crawl

    theirs = await start_run(conn, application_id, uri="https://other.test/")
    await crawls.save_provider_id(conn, theirs.crawl_id, "claimed")
    await crawls.record_start_sent(conn, root.run.crawl_id)
    firecrawl.crawls += [
        running("https://other.test/", "another-site"),
        running(SITE, "older", age=timedelta(minutes=5)),
        running(SITE, "claimed"),
    ]

    await root.wait()
    none = (await crawl_of(conn, root.run)).provider_crawl_id
    firecrawl.crawls += [running(SITE, "one"), running(SITE, "two")]
    await root.wait()
    either = (await crawl_of(conn, root.run)).provider_crawl_id
    firecrawl.crawls.pop()
    await root.wait()

    assert (none, either) == (None, None)
    assert (await crawl_of(conn, root.run)).provider_crawl_id == "one"


async def test_definitely_refused_start_is_retried(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = replace(_SLOW, refused_starts=1)

    with pytest.raises(Transient) as refused:
        await root.step()
    await root.wait()

    assert refused.value.code == "rate_limited"
    assert len(firecrawl.crawls) == 1


async def test_a_start_that_is_refused_for_good_ends_the_run_and_is_remembered(
    conn: Connection,
    application_id: UUID,
    pool: Pool,
    blobs: LocalBlobStore,
    firecrawl: FirecrawlServer,
) -> None:
    run = await start_run(conn, application_id)
    job = await claim_root(conn)

    async with firecrawl_context(pool, blobs, url=firecrawl.url, key="fc-wrong") as ctx:
        root = Root(conn=conn, ctx=ctx, run=run, job=job)
        first, again = await root.until_failed(), await root.until_failed()

    assert first.code == again.code == "crawl_not_started"
    assert str(first) == str(again)
    assert "Unauthorized" in str(again)


async def test_a_run_without_a_configured_provider_ends(root: Root) -> None:
    root.ask(None)

    error = await root.until_failed()

    assert error.code == "crawl_not_started"


@pytest.mark.parametrize("ending", ["cancelled", "deleted", "begun anew"])
async def test_crawl_of_a_cancelled_run_is_stopped_after_its_start(
    root: Root, firecrawl: FirecrawlServer, conn: Connection, application_id: UUID, ending: str
) -> None:
    class Client:
        """Ends the run while Firecrawl answers."""

        async def start(self, crawl: object) -> str:
            async with conn.transaction():
                if ending == "cancelled":
                    await source_control.cancel(
                        conn, application_id=application_id, job_ids=[root.job.id]
                    )
                elif ending == "deleted":
                    await source_control.delete(
                        conn, application_id=application_id, ids=[root.run.source_id]
                    )
                else:
                    await crawls.restart(conn, root.run.crawl_id)
            return "c1"

    root.ask(Client())

    with pytest.raises(LeaseLost):
        await root.step()

    assert await stopped(conn) == ["c1"]


async def test_the_answer_to_a_start_brings_back_events_that_came_before(
    root: Root, conn: Connection, inbox: Inbox
) -> None:
    early = await Post(conn, "c1")("crawl.page", document(SITE + "a", "# A"))
    await drain(inbox)

    class Client:
        async def start(self, crawl: object) -> str:
            return "c1"

    root.ask(Client())

    await root.wait()

    assert (await event_row(conn, early))["processed_at"] is None


async def test_late_start_answer_still_records_the_crawl_id(root: Root, conn: Connection) -> None:
    class Client:
        async def start(self, crawl: object) -> str:
            # Whoever holds the job next must know that we have asked.
            assert (await crawl_of(conn, root.run)).start_sent_at is not None
            await conn.execute("update rag.processing_jobs set fence = fence + 1")
            return "c1"

    root.ask(Client())

    await root.step()

    assert (await crawl_of(conn, root.run)).provider_crawl_id == "c1"
    assert await stopped(conn) == []


async def test_lost_job_starts_no_crawl(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    await conn.execute("update rag.processing_jobs set fence = fence + 1")

    with pytest.raises(LeaseLost):
        await root.step()

    assert firecrawl.requests[START] == 0


async def test_a_stop_job_cancels_the_crawl_at_the_provider(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = _SLOW
    await root.wait()

    outcome = await stop_crawl(*await _stop_job(root, firecrawl.crawl_of(SITE).id))

    assert firecrawl.crawl_of(SITE).state == "cancelled"
    assert outcome.result == {"cancelled": True}


async def test_a_stop_job_without_a_configured_provider_is_skipped(root: Root) -> None:
    root.ask(None)

    outcome = await stop_crawl(*await _stop_job(root, "c1"))

    assert "skipped" in (outcome.result or {})


async def _stop_job(root: Root, id: str) -> tuple[ClaimedJob, Context, Progress]:
    new = NewJob(
        application_id=root.job.application_id,
        type="stop_crawl",
        payload=StopCrawlPayload(provider_crawl_id=id),
    )
    await jobs.enqueue(root.conn, [new])
    [job] = await claims.claim(
        root.conn, types=["stop_crawl"], batch=1, worker=UUID(int=1), cursor=UUID(int=0)
    )
    return job, root.ctx, Progress(job)
