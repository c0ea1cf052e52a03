"""A run of a site whose workers die, whose source is cancelled or deleted, whose jobs race."""

import asyncio
import itertools
from datetime import timedelta
from uuid import UUID, uuid4

from harness.patience import PATIENCE
from ingest.postgres.database import Pool, transaction
from ingest.store.crawl import crawl_origins
from ingest.store.crawl.crawl_origins import HostBusy, HostSlot
from ingest.store.crawl.runs import StartedRun
from ingest.store.queue import jobs
from ingest.store.sources import job_events, source_control
from ingest.worker.commit import Finished, commit
from tests.servers.web_server import response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

_SITE = {
    "/": html("Home.", "/a", "/b"),
    "/a": html("Page a.", "/c"),
    "/b": html("Page b.", "/c"),
    "/c": html("Page c."),
}
_DELAY = timedelta(seconds=60)


async def _up_to_the_pages(house: SiteHouse, run: StartedRun) -> None:
    """The root job and the start page are done; /a and /b wait."""
    for _ in range(2):
        [job] = await house.claim()
        await house.carry_out(job)


async def _recover(pool: Pool) -> None:
    """The worker of all running jobs has died."""
    async with transaction(pool) as conn:
        stale = await jobs.recover(conn, stale_after=timedelta(0))
        await job_events.jobs_recovered(conn, stale)


async def _finished(house: SiteHouse) -> Finished:
    [job] = await house.claim()
    finished = await house.attempt(job)
    assert finished is not None
    return finished


async def test_a_worker_that_dies_before_its_commit_leaves_nothing_behind(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _SITE) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        late = await _finished(house)
        await _recover(pool)
        await house.run_all()
        texts, digest = await house.texts(run), (await house.crawl(run))["digest"]

        assert await commit(pool, [late]) == set()
        assert await house.documents(run) == {"/", "/a", "/b", "/c"}
        assert await house.texts(run) == texts
        assert (await house.crawl(run))["digest"] == digest
        assert (await house.source(run))["status"] == "completed"


async def test_root_job_killed_at_any_step_repeats_nothing(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _SITE) as house:
        run = await house.start(application_id)
        for _ in range(200):
            claimed = await house.claim()
            if claimed and claimed[0].id == run.job_id and claimed[0].attempts == 1:
                await house.attempt(claimed[0])
                await _recover(pool)
            elif claimed:
                await house.carry_out(claimed[0])
            elif not await house.make_due():
                break
        [count] = await house.rows(
            "select count(*) as n from rag.processing_jobs where type = 'crawl_page'"
        )

        assert count["n"] == 4
        assert await house.documents(run) == {"/", "/a", "/b", "/c"}
        assert (await house.source(run))["status"] == "completed"


async def test_cancelling_ends_a_run_and_keeps_what_it_has(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _SITE) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        late = await _finished(house)
        async with transaction(pool) as conn:
            await source_control.cancel(
                conn, application_id=application_id, source_ids=[run.source_id]
            )

        assert await commit(pool, [late]) == set()
        await house.run_all()
        source, crawl = await house.source(run), await house.crawl(run)
        assert (source["status"], source["error_code"]) == ("cancelled", "cancelled")
        assert crawl["status"] == "cancelled"
        assert await house.documents(run) == {"/"}
        assert source["chunk_count"] == 1


async def test_cancelling_the_root_job_ends_its_pages_too(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, _SITE) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        async with transaction(pool) as conn:
            await source_control.cancel(conn, application_id=application_id, job_ids=[run.job_id])

        assert await house.claim() == []
        assert (await house.source(run))["status"] == "cancelled"


async def test_deleted_site_is_not_recreated_by_running_jobs(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _SITE) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        late = await _finished(house)
        async with transaction(pool) as conn:
            await source_control.delete(conn, application_id=application_id, ids=[run.source_id])

        assert await commit(pool, [late]) == set()
        [purge] = await house.claim()
        assert purge.type == "purge"


async def test_a_run_that_has_failed_and_is_retried_tries_its_failed_pages_again(
    pool: Pool, application_id: UUID
) -> None:
    site = {"/": response(status=404)}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        assert (await house.source(run))["status"] == "failed"

        house.web.answers |= _SITE
        async with transaction(pool) as conn:
            await source_control.retry(
                conn, application_id=application_id, statuses=("failed",), job_ids=[run.job_id]
            )
        await house.run_all()

        assert await house.documents(run) == {"/", "/a", "/b", "/c"}
        source, crawl = await house.source(run), await house.crawl(run)
    assert (source["status"], crawl["status"]) == ("completed", "completed")
    assert crawl["digest"]["failed"] == 0


async def test_a_failed_page_that_is_retried_later_counts_in_the_digest(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {**_SITE, "/c": response(status=404)}) as house:
        run = await house.start(application_id)
        await house.run_all()
        assert (await house.source(run))["status"] == "partial"

        house.web.answers |= _SITE
        [page] = await house.rows("select * from rag.crawl_pages where uri like '%%/c'")
        async with transaction(pool) as conn:
            await source_control.retry(
                conn, application_id=application_id, statuses=("failed",), job_ids=[page["job_id"]]
            )
        await house.run_all()
        source, crawl = await house.source(run), await house.crawl(run)

    assert source["status"] == "completed"
    assert source["chunk_count"] == 4
    assert (crawl["digest"]["new"], crawl["digest"]["failed"]) == (4, 0)


async def test_pages_of_two_sites_that_end_in_opposite_order_do_not_block_each_other(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _SITE) as house, site_house(pool, _SITE) as other:
        runs = [await house.start(application_id), await other.start(application_id)]
        for _ in range(4):
            [job] = await house.claim()
            await (house if job.knowledge_source_id == runs[0].source_id else other).carry_out(job)
        ready = [await _finished(house) for _ in range(4)]
        first, second = (
            [end for end in ready if end.ended.job.knowledge_source_id == run.source_id]
            for run in runs
        )

        async with asyncio.timeout(PATIENCE):
            held = await asyncio.gather(
                commit(pool, [first[0], second[0]]), commit(pool, [second[1], first[1]])
            )

    assert sum(map(len, held)) == 4


async def test_the_last_page_wakes_the_root_job_at_once(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {"/": html("Home.")}) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        [root] = await house.rows("select * from rag.processing_jobs where id = %s", run.job_id)

    assert (root["status"], root["run_at"], root["wait_reason"]) == ("pending", None, None)


# ---------------------------------------------------------------- politeness


async def _slot(
    pool: Pool, *, crawl_id: UUID, at_once: int = 1, delay: float = 0.0
) -> HostSlot | HostBusy:
    async with transaction(pool) as conn:
        return await crawl_origins.take_slot(
            conn,
            "https://a.example",
            job_id=uuid4(),
            crawl_id=crawl_id,
            at_once=at_once,
            delay=timedelta(seconds=delay),
            for_at_most=_DELAY,
        )


async def test_a_host_gets_no_more_requests_at_once_than_allowed(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        run = await house.start(application_id)
        answers = await asyncio.gather(
            *[_slot(pool, crawl_id=run.crawl_id, at_once=3) for _ in range(8)]
        )

    assert sum(isinstance(answer, HostSlot) for answer in answers) == 3


async def test_pages_of_a_busy_host_are_staggered(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {}) as house:
        run = await house.start(application_id)
        await _slot(pool, crawl_id=run.crawl_id)
        delays = [await _slot(pool, crawl_id=run.crawl_id, delay=10.0) for _ in range(3)]

    seconds = [answer.delay.total_seconds() for answer in delays if isinstance(answer, HostBusy)]
    assert [round(later - earlier) for earlier, later in itertools.pairwise(seconds)] == [
        10,
        10,
    ]


async def test_host_slot_of_a_dead_worker_expires(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {}) as house:
        run = await house.start(application_id)
        await _slot(pool, crawl_id=run.crawl_id)
        await house.rows("update rag.crawl_slots set expires_at = now() returning 1")

        assert isinstance(await _slot(pool, crawl_id=run.crawl_id), HostSlot)


async def test_a_crawl_delay_of_robots_txt_spaces_the_requests_of_all_workers(
    pool: Pool, application_id: UUID
) -> None:
    site = {**_SITE, "/robots.txt": response(b"User-agent: *\nCrawl-delay: 20\n")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        first = await _finished(house)

        assert first.ended.status == "pending"
        assert first.ended.wait_reason == "host_busy"
        assert first.ended.delay is not None
        assert 15 < first.ended.delay.total_seconds() <= 40
        assert house.web.paths.count("/a") == 0


async def test_retry_after_of_a_host_pauses_all_workers(pool: Pool, application_id: UUID) -> None:
    site = {
        **_SITE,
        "/a": response(status=429, headers={"Retry-After": "30"}),
        "/b": html("Page b."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await _up_to_the_pages(house, run)
        limited, other = await _finished(house), await _finished(house)

    assert limited.ended.delay == timedelta(seconds=30)
    assert (other.ended.status, other.ended.wait_reason) == ("pending", "host_busy")
