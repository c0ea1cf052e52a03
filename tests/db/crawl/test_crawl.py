"""The built-in crawler: which pages become documents, and what the run says of the others."""

import asyncio
from uuid import UUID

from ingest.postgres.database import Pool
from ingest.worker.commit import commit
from tests.servers.web_server import redirect, response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house
from tests.support.running_worker import until

_ROBOTS = "/robots.txt"


async def test_every_page_that_is_linked_becomes_a_document(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Welcome to the harbour.", "/ships", "/people"),
        "/ships": html("Three ships lie in the bay.", "/", "/ships/anna"),
        "/ships/anna": html("The Anna was built in Stockholm.", "../people"),
        "/people": html("Twelve people live here.", "mailto:a@b.c"),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        source, crawl = await house.source(run), await house.crawl(run)

        assert source["status"] == "completed"
        assert await house.documents(run) == {"/", "/ships", "/ships/anna", "/people"}
    assert crawl["status"] == "completed"
    assert crawl["is_complete"]
    assert crawl["digest"]["new"] == 4
    assert source["chunk_count"] == 4
    assert source["coverage"]["withText"] == 4


async def test_the_limit_is_kept_and_the_run_is_not_complete(
    pool: Pool, application_id: UUID
) -> None:
    site = {f"/{n}": html(f"Page number {n}.", *[f"/{m}" for m in range(20)]) for n in range(20)}
    site["/"] = html("Home.", *[f"/{n}" for n in range(20)])
    async with site_house(pool, site) as house:
        run = await house.start(application_id, limit=5)
        await house.run_all()

        assert len(await house.documents(run)) == 5
        crawl = await house.crawl(run)
    assert crawl["is_complete"] is False


async def test_depth_and_patterns_bound_a_crawl(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/docs/1", "/blog/1"),
        "/docs/1": html("Doc one.", "/docs/2", "/docs/secret"),
        "/docs/2": html("Doc two.", "/docs/3"),
        "/docs/3": html("Doc three."),
        "/docs/secret": html("Secret."),
        "/blog/1": html("Blog."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(
            application_id, max_depth=2, include_paths=("^/docs",), exclude_paths=("secret",)
        )
        await house.run_all()

        assert await house.documents(run) == {"/", "/docs/1", "/docs/2"}
        crawl = await house.crawl(run)
    assert crawl["skipped"] == {"excluded": 2, "too_deep": 1}


async def test_failed_page_makes_the_site_partial_and_is_reported(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/broken", "/missing", "/ok"),
        "/broken": response(b"oops", status=500),
        "/ok": html("Fine."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        source, pages = await house.source(run), await house.pages(run)

        assert source["status"] == "partial"
        assert await house.documents(run) == {"/", "/ok"}
    assert pages["/broken"]["status"] == "failed"
    assert (pages["/broken"]["error_code"], pages["/broken"]["http_status"]) == (
        "fetch_status",
        500,
    )
    assert (pages["/missing"]["error_code"], pages["/missing"]["http_status"]) == (
        "fetch_status",
        404,
    )


async def test_a_site_that_answers_500_to_everything_has_failed(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(
        pool, {"/": response(status=500), _ROBOTS: response(status=404)}
    ) as house:
        run = await house.start(application_id)
        await house.run_all()
        source, crawl = await house.source(run), await house.crawl(run)

    assert (source["status"], source["error_code"]) == ("failed", "fetch_status")
    assert crawl["status"] == "failed"


async def test_a_site_that_cannot_be_reached_fails_after_its_attempts(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        run = await house.start(application_id)
        house.web.port = 1  # nobody listens there
        await house.rows("update rag.knowledge_sources set uri = 'http://127.0.0.1:1/' returning 1")
        await house.run_all(most=20)
        source = await house.source(run)

    assert (source["status"], source["error_code"]) == ("failed", "fetch_failed")
    assert "robots.txt cannot be read" in source["error_message"]


async def test_start_url_is_requested_unchanged(pool: Pool, application_id: UUID) -> None:
    site = {"/docs/": html("The manual.", "part-1"), "/docs/part-1": html("Part one.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id, "/docs", start=house.web.url("/docs/"))
        await house.run_all()

        assert await house.documents(run) == {"/docs", "/docs/part-1"}
        page = await house.start(application_id, "/docs", type="url", start=house.web.url("/docs/"))
        await house.run_all()
        assert (await house.source(page))["status"] == "completed"


async def test_endless_calendar_is_cut_off_at_the_variant_limit(
    pool: Pool, application_id: UUID
) -> None:
    site = {"/": html("Home.", "/calendar?m=1")}
    for month in range(1, 40):
        site[f"/calendar?m={month}"] = html(f"Events of month {month}.", f"/calendar?m={month + 1}")
    async with site_house(pool, site) as house:
        run = await house.start(application_id, variants=20)
        await house.run_all()

        assert len(await house.documents(run)) == 21
        crawl = await house.crawl(run)
    assert crawl["skipped"] == {"trap": 1}


async def test_endless_date_archive_is_cut_off_at_the_variant_limit(
    pool: Pool, application_id: UUID
) -> None:
    site = {"/": html("Home.", "/diary/2026/1/1")}
    for day in range(1, 40):
        following = f"/diary/2026/1/{day + 1}"
        site[f"/diary/2026/1/{day}"] = html(f"Nothing happened on day {day}.", following)
    async with site_house(pool, site) as house:
        run = await house.start(application_id, variants=20)
        await house.run_all()

        assert len(await house.documents(run)) == 21
        crawl = await house.crawl(run)
    assert crawl["is_complete"]


async def test_a_redirect_to_another_site_is_not_followed(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/away", "/inside"),
        "/away": redirect("http://elsewhere.example/"),
        "/inside": redirect("http://169.254.169.254/latest/meta-data"),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        pages, source = await house.pages(run), await house.source(run)

    assert (pages["/away"]["status"], pages["/away"]["error_code"]) == ("skipped", "off_site")
    assert (pages["/inside"]["status"], pages["/inside"]["error_code"]) == (
        "failed",
        "fetch_blocked",
    )
    assert source["status"] == "partial"


async def test_sitemap_adds_unlinked_pages(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {}) as house:
        names = f"<urlset><url><loc>{house.web.url('/hidden')}</loc></url></urlset>"
        index = (
            f"<sitemapindex><sitemap><loc>{house.web.url('/s1.xml')}</loc></sitemap></sitemapindex>"
        )
        house.web.answers |= {
            _ROBOTS: response(f"Sitemap: {house.web.url('/all.xml')}\n".encode()),
            "/all.xml": response(index.encode()),
            "/s1.xml": response(names.encode()),
            "/": html("Home."),
            "/hidden": html("Linked nowhere."),
        }
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/", "/hidden"}


async def test_concurrent_pages_do_not_exceed_the_page_limit(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/a", "/b"),
        "/a": html("A.", "/c", "/d"),
        "/b": html("B.", "/c", "/e"),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id, limit=4)
        for _ in range(2):  # the root job, the start page
            [job] = await house.claim()
            await house.carry_out(job)
        jobs = [*await house.claim(), *await house.claim()]
        first, second = [await house.attempt(job) for job in jobs]
        assert first is not None
        assert first.write is not None
        assert second is not None
        async with pool.session() as conn, conn.transaction():
            await first.write(conn)
            other = asyncio.create_task(commit(pool, [second]))
            await until(lambda: _is_blocked(house))
        await other
        pages = await house.pages(run)

    assert [pages[path]["status"] for path in ("/c", "/d", "/e")] == [
        "queued",
        "over_limit",
        "over_limit",
    ]
    assert (await house.crawl(run))["page_count"] == 4


async def _is_blocked(house: SiteHouse) -> bool:
    """Whether a transaction waits for another one."""
    [row] = await house.rows(
        "select count(*) as n from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0"
    )
    return bool(row["n"])
