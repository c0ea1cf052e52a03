"""The built-in crawler: which pages become documents, and what the run says of the others."""

import asyncio
from uuid import UUID

from ingest.db import Pool
from ingest.worker.finish import commit
from tests.site_house import SiteHouse, html, site_house
from tests.web_server import Request, redirect, response
from tests.worker import until

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


async def test_spellings_of_one_address_are_one_page_and_use_one_place(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        port = house.web.port
        spellings = [
            "/#top",
            "/?utm_source=x",
            "/index.html",
            f"//127.0.0.1:{port}/",
            f"HTTP://127.0.0.1:{port}",
            "/a/",
            "/a",
            "/a/../a",
        ]
        house.web.answers |= {
            "/": html("Home.", *spellings, "/b", "/c"),
            "/a": html("A.", *spellings),
            "/a/": html("A.", *spellings),
            "/b": html("B."),
            "/c": html("C."),
        }
        run = await house.start(application_id, limit=4)
        await house.run_all()

        assert await house.documents(run) == {"/", "/a", "/b", "/c"}
        fetched = [path for path in house.web.paths if path not in (_ROBOTS, "/sitemap.xml")]
    assert len(fetched) == 4


async def test_redirects_to_a_page_give_their_place_back(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/old-1", "/old-2", "/old-3", "/b", "/c"),
        "/old-1": redirect("/"),
        "/old-2": redirect("/b"),
        "/old-3": redirect("/"),
        "/b": html("B."),
        "/c": html("C."),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id, limit=3)
        await house.run_all()

        assert await house.documents(run) == {"/", "/b", "/c"}
        pages, crawl = await house.pages(run), await house.crawl(run)
    assert pages["/old-1"]["status"] == "duplicate"
    assert pages["/old-2"]["duplicate_of"].endswith("/b")
    assert crawl["is_complete"]


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


async def test_a_page_that_fails_makes_the_site_partial_and_is_told(
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
            "update rag.crawl_origins set robots_at = now() - interval '1 h' returning 1"
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
    assert "robots.txt cannot be had" in source["error_message"]


async def test_the_start_is_requested_as_it_was_written(pool: Pool, application_id: UUID) -> None:
    site = {"/docs/": html("The manual.", "part-1"), "/docs/part-1": html("Part one.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id, "/docs", start=house.web.url("/docs/"))
        await house.run_all()

        assert await house.documents(run) == {"/docs", "/docs/part-1"}
        page = await house.start(application_id, "/docs", type="url", start=house.web.url("/docs/"))
        await house.run_all()
        assert (await house.source(page))["status"] == "completed"


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


async def test_a_calendar_without_end_is_left_after_so_many_variants(
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


async def test_a_diary_by_date_is_left_after_so_many_days(pool: Pool, application_id: UUID) -> None:
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


async def test_a_twin_host_that_cannot_be_reached_costs_no_page(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        twin = f"http://www.dead.example:{house.web.port}/a"
        house.web.answers |= {"/": html("Home.", twin), "/a": html("A.")}
        run = await house.start(application_id, host="dead.example")
        await house.run_all()

        assert len(await house.texts(run)) == 2
    assert {request.headers["host"] for request in house.web.requests} == {
        f"dead.example:{house.web.port}"
    }


async def test_pages_with_the_same_text_are_one_document_whichever_comes_first(
    pool: Pool, application_id: UUID
) -> None:
    for order in (["/long-name", "/b"], ["/b", "/long-name"]):
        site = {
            "/": html("Home.", *order),
            "/long-name": html("The very same text under two names."),
            "/b": html("The very same text under two names."),
        }
        async with site_house(pool, site) as house:
            run = await house.start(application_id)
            await house.run_all()
            pages, source = await house.pages(run), await house.source(run)

            assert await house.documents(run) == {"/", "/b"}
        assert pages["/long-name"]["status"] == "duplicate"
        assert source["chunk_count"] == 2


async def test_a_page_that_differs_from_its_canonical_by_the_query_is_a_duplicate(
    pool: Pool, application_id: UUID
) -> None:
    canonical = '<link rel="canonical" href="/list">'
    site = {
        "/": html("Home.", "/list?sort=up"),
        "/list?sort=up": html("One two three.", head=canonical),
        "/list": html("Three two one.", head=canonical),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/", "/list"}


async def test_a_site_that_calls_its_home_page_canonical_everywhere_loses_nothing(
    pool: Pool, application_id: UUID
) -> None:
    canonical = '<link rel="canonical" href="/">'
    site = {
        "/": html("Home.", "/a", "/b", head=canonical),
        "/a": html("A has a text of its own.", head=canonical),
        "/b": html("B too.", head=canonical),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await house.documents(run) == {"/", "/a", "/b"}


async def test_noindex_pages_lead_on_but_are_not_kept(pool: Pool, application_id: UUID) -> None:
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


async def test_a_header_may_ask_not_to_be_indexed(pool: Pool, application_id: UUID) -> None:
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


async def test_a_site_that_lives_at_www_is_one_site_and_each_page_is_asked_for_once(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        port = house.web.port

        async def to_www(request: Request, writer: asyncio.StreamWriter) -> None:
            answer = html("Home.", "/a", "/b", f"//site.example:{port}/a#x")
            if not request.headers["host"].startswith("www."):
                answer = redirect(f"http://www.site.example:{port}{request.path}", status=301)
            writer.write(answer)
            await writer.drain()

        house.web.answers |= {"/": to_www, "/a": html("A.", "/b"), "/b": html("B.")}
        run = await house.start(application_id, host="site.example")
        await house.run_all()
        rows = await house.rows("select uri from rag.documents")

    assert {row["uri"] for row in rows} == {
        f"http://site.example:{port}/",
        f"http://site.example:{port}/a",
        f"http://site.example:{port}/b",
    }
    assert [house.web.paths.count(path) for path in ("/", "/a", "/b")] == [2, 1, 1]
    assert (await house.crawl(run))["digest"]["duplicate"] == 0


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


async def test_sitemaps_name_pages_that_no_link_leads_to(pool: Pool, application_id: UUID) -> None:
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


async def test_two_pages_that_end_at_once_do_not_exceed_the_limit_together(
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
        first, second = [await house.try_out(job) for job in jobs]
        assert first is not None
        assert first.write is not None
        assert second is not None
        async with pool.connection() as conn, conn.transaction():
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
