"""What a later run may remove: only what it has proved to be gone. Found by hostile testers."""

from typing import Any
from uuid import UUID

import pytest

from ingest.postgres.database import Pool, transaction
from ingest.store.queue import job_control
from ingest.store.sources import source_control
from tests.servers.web_server import Answer, redirect, response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

_FILLER = [f"/{n}" for n in range(8)]


def _site(*links: str, **pages: Answer) -> dict[str, Answer]:
    """A home page with eight pages beside the links, so that few removals need no review."""
    site: dict[str, Answer] = {path: html(f"Filler page {path}.") for path in _FILLER}
    return {"/": html("Home.", *_FILLER, *links), **site, **pages}


async def _night(house: SiteHouse, application_id: UUID, source_id: UUID) -> Any:
    run = await house.rescrape(application_id, source_id)
    await house.run_all()
    return run


@pytest.mark.parametrize(
    "hub",
    [
        html("The hub.", "/behind", head='<meta name="robots" content="noindex,follow">'),
        html("The hub.", "/behind", head='<link rel="canonical" href="/hub">'),
        redirect("/behind"),
    ],
)
async def test_failing_page_that_once_worked_protects_pages_behind_it(
    pool: Pool, application_id: UUID, hub: bytes
) -> None:
    site = _site(
        "/hub?x=1", **{"/hub?x=1": hub, "/hub": html("Proper."), "/behind": html("Behind.")}
    )
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/hub?x=1"] = response(status=403)
        for _ in range(2):
            run = await _night(house, application_id, run.source_id)

        assert "/behind" in await house.documents(run)


async def test_page_that_never_worked_does_not_block_removals(
    pool: Pool, application_id: UUID
) -> None:
    site = _site("/broken", "/x", **{"/broken": response(status=403), "/x": html("X.")})
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/x"] = response(status=404)
        run = await _night(house, application_id, run.source_id)

        assert "/x" not in await house.documents(run)


async def test_pages_linked_from_a_failing_page_are_not_removed(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _site("/a", **{"/a": html("A.")})) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {"/": html("Home.", *_FILLER, "/new"), "/new": response(status=403)}
        for _ in range(3):
            run = await _night(house, application_id, run.source_id)

        assert "/a" in await house.documents(run)


async def test_a_page_whose_failed_job_was_deleted_in_mid_run_has_still_failed(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, _site("/x", **{"/x": html("X.")})) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/x"] = response(status=403)
        run = await house.rescrape(application_id, run.source_id)
        for _ in range(12):
            claimed = await house.claim()
            if claimed and claimed[0].id == run.job_id and claimed[0].fence > 1:
                break
            if claimed:
                await house.carry_out(claimed[0])
        [page] = await house.rows(
            "select * from rag.crawl_pages where crawl_id = %s and uri like '%%/x'", run.crawl_id
        )
        async with transaction(pool) as conn:
            await job_control.delete(conn, application_id=application_id, id=page["job_id"])
            await conn.execute(
                "update rag.processing_jobs set status = 'pending', run_at = null,"
                " fence = fence + 1 where status = 'processing'"
            )
        await house.run_all()

        assert "/x" in await house.documents(run)
        assert (await house.pages(run))["/x"]["status"] == "failed"


async def test_cancelled_page_protects_pages_behind_it(pool: Pool, application_id: UUID) -> None:
    site = _site("/hub", **{"/hub": html("The hub.", "/behind"), "/behind": html("Behind.")})
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        run = await house.rescrape(application_id, run.source_id)
        for _ in range(12):
            if not (claimed := await house.claim()):
                await house.make_due()
                continue
            await house.carry_out(claimed[0])
            queued = await house.rows(
                "update rag.processing_jobs as job set status = 'cancelled', completed_at = now()"
                " from rag.crawl_pages as page where page.job_id = job.id and page.crawl_id = %s"
                " and page.uri like '%%/hub' and job.status = 'pending' returning job.id",
                run.crawl_id,
            )
            if queued:
                break
        await house.run_all()

        assert "/behind" in await house.documents(run)
        assert (await house.crawl(run))["is_complete"] is False


@pytest.mark.parametrize("order", [1, -1])
async def test_maintenance_page_with_status_200_removes_nothing_without_review(
    pool: Pool, application_id: UUID, order: int
) -> None:
    home = html("Home.", *_FILLER[::order])
    async with site_house(pool, {**_site(), "/": home}) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await house.documents(run)
        for path in _FILLER:
            house.web.answers[path] = html("We are under maintenance. Please come back later.")
        run = await _night(house, application_id, run.source_id)

        assert await house.documents(run) == before
        assert (await house.source(run))["status"] == "review_needed"


async def test_page_reached_too_deep_first_is_not_removed(pool: Pool, application_id: UUID) -> None:
    site = _site("/a", "/b", **{
        "/a": html("A.", "/x"),
        "/b": html("B.", "/c"),
        "/c": html("C.", "/x"),
        "/x": html("X.", "/y"),
        "/y": html("Y."),
    })  # fmt: skip
    async with site_house(pool, site) as house:
        run = await house.start(application_id, max_depth=3)
        await house.run_all()
        assert "/y" in await house.documents(run)

        house.web.answers["/a"] = html("A.")  # as if it came too late
        run = await _night(house, application_id, run.source_id)

        assert "/y" in await house.documents(run)


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        # Each names the other.
        (
            {
                "/p?x=1": html("One.", head='<link rel="canonical" href="/p?x=2">'),
                "/p?x=2": html("Two.", head='<link rel="canonical" href="/p?x=1">'),
            },
            {"/p?x=1", "/p?x=2"},
        ),
        # The proper address leads back.
        (
            {
                "/p?x=1": html("One.", head='<link rel="canonical" href="/p">'),
                "/p": redirect("/p?x=1"),
            },
            {"/p?x=1"},
        ),
        # There is no such page.
        (
            {
                "/p?x=1": html("One.", head='<link rel="canonical" href="/p">'),
                "/p?x=2": html("Two.", head='<link rel="canonical" href="/p">'),
            },
            {"/p?x=1", "/p?x=2"},
        ),
        # It may not be fetched.
        (
            {
                "/p?x=1": html("One.", head='<link rel="canonical" href="/p">'),
                "/robots.txt": response(b"User-agent: *\nDisallow: /p$\n"),
            },
            {"/p?x=1"},
        ),
    ],
)
async def test_page_with_404_does_not_block_removals(
    pool: Pool, application_id: UUID, pages: dict[str, Answer], expected: set[str]
) -> None:
    async with site_house(pool, _site(*[p for p in pages if "?" in p], **pages)) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) - {"/", *_FILLER} == expected


async def test_pages_of_a_calendar_that_are_gone_are_removed(
    pool: Pool, application_id: UUID
) -> None:
    items = [f"/item?id={n}" for n in range(10)]
    site = _site(*items, **{path: html(f"Item {path}.") for path in items})
    async with site_house(pool, site) as house:
        run = await house.start(application_id, variants=10)
        await house.run_all()
        house.web.answers["/item?id=3"] = response(status=404)
        run = await _night(house, application_id, run.source_id)

        assert "/item?id=3" not in await house.documents(run)
        assert len(await house.documents(run)) == 18


async def test_a_cancelled_run_can_be_retried(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, _site()) as house:
        run = await house.start(application_id)
        for _ in range(3):
            [job] = await house.claim()
            await house.carry_out(job)
        async with transaction(pool) as conn:
            await source_control.cancel(
                conn, application_id=application_id, source_ids=[run.source_id]
            )
        async with transaction(pool) as conn:
            await source_control.retry(
                conn, application_id=application_id, statuses=("cancelled",), job_ids=[run.job_id]
            )
        await house.run_all()

        assert len(await house.documents(run)) == 9
        assert (await house.source(run))["status"] == "completed"


async def test_retried_run_fetches_skipped_pages_again(pool: Pool, application_id: UUID) -> None:
    noindex = '<meta name="robots" content="noindex">'
    async with site_house(pool, {"/": html("Home.", head=noindex)}) as house:
        run = await house.start(application_id)
        await house.run_all()
        assert (await house.source(run))["status"] == "failed"

        house.web.answers["/"] = html("Home.")
        async with transaction(pool) as conn:
            await source_control.retry(
                conn, application_id=application_id, statuses=("failed",), job_ids=[run.job_id]
            )
        await house.run_all()

        assert await house.documents(run) == {"/"}
        assert (await house.source(run))["status"] == "completed"
