"""POST /upload/url/check: what a run would meet, with nothing stored."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.routes.uploads import url_check
from harness.patience import AGES
from ingest.postgres.database import Connection
from ingest.preview import Previews
from ingest.runtime import Runtime
from ingest.runtime_parts import build_url_checks
from ingest.sandbox.pool import ParserPool
from ingest.settings.settings import Settings
from tests.api.conftest import MakeKey, connect, serve
from tests.api.helpers import count
from tests.servers.web_server import WebServer, redirect, response, web_server
from tests.support.crawl.crawl_fixtures import html

CHECK = "/upload/url/check"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"fetch_allow": ("127.0.0.0/8",)})


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server({"/": response(b"Home.\n")}) as server:
        yield server


async def check(client: httpx.AsyncClient, url: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post(CHECK, json={"url": url, **fields})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_site_check_tells_robots_and_the_size_of_the_sitemap(
    editor: httpx.AsyncClient, conn: Connection, web: WebServer
) -> None:
    listed = [web.url(f"/docs/{number}") for number in range(12)]
    listed += [web.url("/private/x"), "https://elsewhere.example/"]
    robots = b"User-agent: *\nCrawl-delay: 2\nDisallow: /admin\n"
    web.answers["/robots.txt"] = response(robots)
    web.answers["/sitemap.xml"] = response("\n".join(listed).encode())

    seen = await check(editor, web.url("/"), crawlLinks=True, excludePaths=["^/private/"])

    assert seen["refusal"] is None
    assert seen["robots"] == {"verdict": "allowed", "crawlDelaySeconds": 2.0}
    assert seen["sitemap"] == {
        "pageCount": 12,
        "isComplete": True,
        "examples": listed[:10],
        "skipped": {"excluded": 1, "off_site": 1},
    }
    assert [await count(conn, table) for table in ("rag.knowledge_sources", "rag.crawls")] == [0, 0]


async def test_page_forbidden_by_robots_is_not_fetched(
    editor: httpx.AsyncClient, web: WebServer
) -> None:
    web.answers["/robots.txt"] = response(b"User-agent: *\nDisallow: /")

    site = await check(editor, web.url("/"), crawlLinks=True)
    asked = list(web.paths)
    page = await check(editor, web.url("/"))

    assert (site["robots"]["verdict"], site["refusal"]["code"]) == (
        "disallowed",
        "robots_disallowed",
    )
    assert "/" not in asked
    assert (page["robots"], page["refusal"], page["httpStatus"]) == (None, None, 200)


async def test_redirects_are_named_and_one_out_of_the_site_is_refused(
    editor: httpx.AsyncClient, web: WebServer
) -> None:
    elsewhere = f"http://127.0.0.2:{web.port}/"
    web.answers |= {"/old": redirect("/"), "/away": redirect(elsewhere)}

    within = await check(editor, web.url("/old"), crawlLinks=True)
    out = await check(editor, web.url("/away"), crawlLinks=True)

    assert (within["redirects"], within["finalUrl"]) == ([web.url("/old")], web.url("/"))
    assert within["refusal"] is None
    assert f"redirects to {elsewhere}: crawl that address" in out["refusal"]["message"]


async def test_private_address_is_refused_also_behind_a_redirect(
    editor: httpx.AsyncClient, web: WebServer
) -> None:
    web.answers["/inside"] = redirect("http://169.254.169.254/latest/meta-data")

    named = await editor.post(CHECK, json={"url": "http://10.0.0.1/"})
    behind = await check(editor, web.url("/inside"))

    assert (named.status_code, named.json()["code"]) == (422, "fetch_blocked")
    assert behind["refusal"]["code"] == "fetch_blocked"


async def test_error_of_the_site_is_told_as_its_job_would_end(
    editor: httpx.AsyncClient, web: WebServer
) -> None:
    web.answers |= {"/gone": response(b"", status=410), "/empty": response(b"")}

    gone = await check(editor, web.url("/gone"))
    empty = await check(editor, web.url("/empty"))

    assert (gone["refusal"]["code"], gone["httpStatus"]) == ("fetch_status", 410)
    assert empty["refusal"]["code"] == "empty_content"


async def test_host_whose_robots_txt_fails_is_not_crawled(
    editor: httpx.AsyncClient, web: WebServer
) -> None:
    web.answers["/robots.txt"] = response(b"", status=503)

    seen = await check(editor, web.url("/"), crawlLinks=True)

    assert seen["robots"]["verdict"] == "unavailable"
    assert (seen["refusal"]["code"], seen["sitemap"]) == ("fetch_failed", None)


async def test_check_names_the_source_that_has_the_address(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, web: WebServer
) -> None:
    added = (await editor.post("/upload/url", json={"url": web.url("/")})).json()

    mine = await check(editor, web.url("/"))
    theirs = await check(stranger, web.url("/"))

    assert mine["knowledgeSourceId"] == added["knowledgeSourceId"]
    assert theirs["knowledgeSourceId"] is None


async def test_checks_are_limited_per_application(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, web: WebServer
) -> None:
    for _ in range(url_check.PER_MINUTE):
        await check(editor, web.url("/"))

    refused = await editor.post(CHECK, json={"url": web.url("/")})

    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) > 0
    await check(stranger, web.url("/"))


async def test_parser_process_reads_title_and_sitemap(
    runtime: Runtime, application_id: UUID, make_key: MakeKey, web: WebServer
) -> None:
    previews = Previews(
        lambda: ParserPool(size=1, timeout=AGES, memory=2 * 1024**3),
        at_once=1,
        max_pages=10,
        timeout=AGES,
    )
    web.answers["/"] = html("A pump moves water.", title="Pumps")
    entry = f"<url><loc>{web.url('/seals')}</loc></url>"
    web.answers["/sitemap.xml"] = response(f"<urlset>{entry}</urlset>".encode())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(previews.close)
        checks = build_url_checks(runtime.settings, previews, stack)
        real = replace(runtime, previews=previews, url_checks=checks)
        key = await make_key(application_id, "editor")
        async with serve(real) as app, connect(app, key) as client:
            seen = await check(client, web.url("/"), crawlLinks=True)

    assert (seen["title"], seen["mediaType"]) == ("Pumps", "text/html")
    assert seen["sitemap"]["examples"] == [web.url("/seals")]
