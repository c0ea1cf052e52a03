"""A later run on a bad night: what fails, shrinks or vanishes in numbers is not lost."""

from uuid import UUID

from ingest.postgres.database import Pool, transaction
from ingest.store.sources import source_control
from tests.servers.web_server import redirect, response
from tests.support.crawl.crawl_fixtures import five_pages, html, site_house

_LONG = " ".join(f"Sentence number {n} of the long story." for n in range(60))


async def test_a_page_that_fails_at_night_keeps_its_chunks_and_those_behind_it(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/hub"),
        "/hub": html("The hub.", "/behind"),
        "/behind": html("Behind the hub."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/hub"] = response(status=500)
        run, _, _ = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

        assert await house.documents(run) == {"/", "/hub", "/behind"}
        assert (await house.source(run))["status"] == "partial"
    assert (digest["failed"], digest["removed"], digest["unchanged"]) == (1, 0, 2)


async def test_rescrape_of_an_unreachable_site_removes_nothing(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await house.texts(run)
        house.web.answers = dict.fromkeys(five_pages(), response(status=503))
        run, _, _ = await house.again(application_id, run.source_id)
        source = await house.source(run)

        assert (source["status"], source["error_code"]) == ("failed", "fetch_status")
        assert await house.texts(run) == before
    assert source["chunk_count"] == 5


async def test_failing_new_page_blocks_removals(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {
            # The links to /a and /b have moved to a new page, which fails tonight.
            "/": html("Home of the story.", "/moved", "/c", "/d"),
            "/moved": response(status=500),
        }
        run, _, _ = await house.again(application_id, run.source_id)
        crawl = await house.crawl(run)

        assert await house.documents(run) == {"/", "/a", "/b", "/c", "/d"}
    assert crawl["is_complete"] is False
    assert crawl["digest"]["removalsHeld"] == 0


async def test_run_that_hit_its_limit_removes_nothing(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id, limit=5)
        await house.run_all()
        house.web.answers |= {
            "/": html("Home of the story.", "/1", "/2", "/3", "/4", "/5", "/6"),
            **{f"/{n}": html(f"Number {n}.") for n in range(1, 7)},
        }
        run, _, _ = await house.again(application_id, run.source_id)
        crawl = await house.crawl(run)

        assert {"/a", "/b", "/c", "/d"} < await house.documents(run)
    assert crawl["digest"]["removalsHeld"] == 0


async def test_mass_removal_waits_for_a_review(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/"] = html("Home of the story, nothing else.", "/a")
        run, _, _ = await house.again(application_id, run.source_id)
        source, crawl = await house.source(run), await house.crawl(run)
        [job] = await house.rows("select * from rag.processing_jobs where id = %s", run.job_id)

        assert (source["status"], job["status"]) == ("review_needed", "review_needed")
        assert await house.documents(run) == {"/", "/a", "/b", "/c", "/d"}
        pages = await house.pages(run)
    assert {path for path, page in pages.items() if page["status"] == "held"} == {"/b", "/c", "/d"}
    # They are still found by searches.
    assert {path for path, page in pages.items() if page["chunk_count"] == 1} == set(five_pages())
    assert "3 of 5 pages" in job["last_error_message"]
    assert (crawl["digest"]["removed"], crawl["digest"]["removalsHeld"]) == (0, 3)


async def test_run_in_review_can_be_retried(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {
            "/": html("Home of the story, nothing else.", "/a", "/to-a"),
            "/to-a": redirect("/a"),
        }
        run, _, _ = await house.again(application_id, run.source_id)
        async with transaction(pool) as conn:
            await source_control.retry(
                conn,
                application_id=application_id,
                statuses=("review_needed",),
                job_ids=[run.job_id],
            )
        house.web.answers |= five_pages()
        await house.run_all()
        source, crawl = await house.source(run), await house.crawl(run)

        assert source["status"] == "completed"
        assert crawl["page_count"] == 5
        assert crawl["digest"]["removalsHeld"] == 0
        assert await house.documents(run) == {"/", "/a", "/b", "/c", "/d"}


async def test_a_page_that_shows_a_login_keeps_its_last_good_version(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html("Home.", "/story"), "/story": html(_LONG)}) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await house.texts(run)
        house.web.answers["/story"] = html("Please log in.")
        run, calls, _ = await house.again(application_id, run.source_id)
        pages = await house.pages(run)
        [document] = await house.rows("select * from rag.documents where uri like '%%/story'")

        assert calls == 0
        assert await house.texts(run) == before
        assert document["warnings"] == ["text_collapsed"]
        assert pages["/story"]["status"] == "kept"

        run, _, _ = await house.again(application_id, run.source_id, accept_losses=True)
        assert "Please log in." in " ".join(await house.texts(run))


async def test_pages_linked_from_a_page_that_shows_a_login_are_kept(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/story", *[f"/{n}" for n in range(5)]),
        "/story": html(_LONG, "/behind"),
        "/behind": html("Behind the story."),
        **{f"/{n}": html(f"Page {n}.") for n in range(5)},
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/story"] = html("Please log in.")
        run, _, _ = await house.again(application_id, run.source_id)

        assert {"/story", "/behind"} < await house.documents(run)


async def test_restored_page_is_no_longer_flagged_as_collapsed(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html(_LONG)}) as house:
        run = await house.start(application_id)
        await house.run_all()
        for answer in (html("Please log in."), html(_LONG)):
            house.web.answers["/"] = answer
            run, _, _ = await house.again(application_id, run.source_id)
        [document] = await house.rows("select * from rag.documents")

    assert document["warnings"] == []


async def test_moved_page_is_kept_under_its_new_url(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {"/a": redirect("/a2"), "/a2": html("Page a.")}
        run, calls, _ = await house.again(application_id, run.source_id)

        assert await house.documents(run) == {"/", "/a2", "/b", "/c", "/d"}
        assert calls == 0
