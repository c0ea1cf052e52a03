"""One page under many addresses: spellings, redirects, canonical links, equal texts, www."""

import asyncio
from uuid import UUID

from ingest.postgres.database import Pool
from tests.servers.web_server import Request, redirect
from tests.support.crawl.crawl_fixtures import html, site_house

_ROBOTS = "/robots.txt"


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
    assert len(fetched) == 5  # and an address that does not exist, to know what the site serves


async def test_redirected_urls_do_not_use_up_the_page_limit(
    pool: Pool, application_id: UUID
) -> None:
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


async def test_wrong_canonical_to_home_page_loses_no_page(pool: Pool, application_id: UUID) -> None:
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


async def test_www_twin_is_one_site_and_each_page_is_requested_once(
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


async def test_unreachable_www_twin_costs_no_page(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {}) as house:
        twin = f"http://www.dead.example:{house.web.port}/a"
        house.web.answers |= {"/": html("Home.", twin), "/a": html("A.")}
        run = await house.start(application_id, host="dead.example")
        await house.run_all()

        assert len(await house.texts(run)) == 2
    assert {request.headers["host"] for request in house.web.requests} == {
        f"dead.example:{house.web.port}"
    }
