"""What a site asks of robots: robots.txt, meta elements and headers, and how the crawler obeys."""

from uuid import UUID

from ingest.postgres.database import Pool
from tests.servers.web_server import redirect, response
from tests.support.crawl.crawl_fixtures import html, site_house

_ROBOTS = "/robots.txt"


async def test_robots_txt_is_obeyed_and_what_it_forbids_is_on_record(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        _ROBOTS: response(b"User-agent: *\nDisallow: /private\n"),
        "/": html("Home.", "/private/x", "/open"),
        "/open": html("Open."),
        "/private/x": html("Private."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        pages = await house.pages(run)

        assert await house.documents(run) == {"/", "/open"}
        assert "/private/x" not in house.web.paths
    assert pages["/private/x"]["error_code"] == "robots_disallowed"


async def test_a_redirect_into_a_forbidden_part_is_not_followed(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        _ROBOTS: response(b"User-agent: *\nDisallow: /private\n"),
        "/": html("Home.", "/go"),
        "/go": redirect("/private/x"),
        "/private/x": html("Private."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        pages = await house.pages(run)

        assert "/private/x" not in house.web.paths
    assert pages["/go"]["error_code"] == "robots_disallowed"


async def test_a_robots_txt_that_answers_5xx_is_waited_for(
    pool: Pool, application_id: UUID
) -> None:
    site = {_ROBOTS: response(status=503), "/": html("Home.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        [job] = await house.claim()
        await house.carry_out(job)
        [waiting] = await house.rows("select * from rag.processing_jobs where id = %s", run.job_id)

        assert (waiting["status"], waiting["wait_reason"]) == ("pending", "robots_unavailable")
        assert waiting["attempts"] == 0
        assert "/" not in house.web.paths

        house.web.answers[_ROBOTS] = response(b"")
        await house.rows(
            "update rag.crawl_origins set robots_fetched_at = now() - interval '1 h' returning 1"
        )
        await house.run_all()

        assert await house.documents(run) == {"/"}


async def test_a_robots_txt_that_answers_5xx_for_an_hour_fails_the_source(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {_ROBOTS: response(status=503), "/": html("Home.")}) as house:
        run = await house.start(application_id)
        # Waiting in the queue is not waiting for the site.
        await house.rows("update rag.crawls set created_at = now() - interval '2 h' returning 1")
        [job] = await house.claim()
        await house.carry_out(job)
        assert (await house.source(run))["status"] == "pending"

        await house.rows("update rag.crawls set start_sent_at = now() - interval '2 h' returning 1")
        await house.make_due()
        [job] = await house.claim()
        await house.carry_out(job)
        source = await house.source(run)

    assert (source["status"], source["error_code"]) == ("failed", "fetch_failed")


async def test_a_robots_txt_that_redirects_to_itself_forbids_nothing(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {_ROBOTS: redirect(_ROBOTS), "/": html("Home.")}) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/"}


async def test_a_start_page_that_robots_txt_forbids_fails_the_source(
    pool: Pool, application_id: UUID
) -> None:
    site = {_ROBOTS: response(b"User-agent: *\nDisallow: /\n"), "/": html("Home.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        source = await house.source(run)

    assert (source["status"], source["error_code"]) == ("failed", "robots_disallowed")


async def test_noindex_pages_are_followed_but_not_stored(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/index-of-all"),
        "/index-of-all": html("List.", "/a", head='<meta name="robots" content="noindex,follow">'),
        "/a": html("A."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        pages = await house.pages(run)

        assert await house.documents(run) == {"/", "/a"}
    assert pages["/index-of-all"]["status"] == "skipped"


async def test_x_robots_tag_noindex_is_obeyed(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/draft"),
        "/draft": html("A draft.", "/a", headers={"X-Robots-Tag": "noindex, nofollow"}),
        "/a": html("A."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/"}
        assert "/a" not in house.web.paths
