"""Reading a crawl: parts, errors, states, whatever the server makes of them."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import respx

from ingest.errors import Transient
from ingest.providers.firecrawl.client import (
    ActiveCrawl,
    CrawlNotFound,
    CrawlStatus,
    FirecrawlClient,
)
from tests.servers.firecrawl_events import CANCELLED, RACED, document

BASE = "http://firecrawl.test/some/path"
ID = "0199aaaa-0000-7000-8000-000000000001"
NEXT = f"https://elsewhere.test/v2/crawl/{ID}?skip="


@pytest.fixture
async def client() -> AsyncIterator[FirecrawlClient]:
    opened = FirecrawlClient(base_url=BASE, api_key="fc-key")
    yield opened
    await opened.close()


@pytest.fixture
def api() -> Iterator[respx.MockRouter]:
    with respx.mock(base_url=BASE) as router:
        yield router


def documents(*numbers: int) -> list[dict[str, Any]]:
    return [document(f"https://shop.test/{n}", f"# {n}", scrape_id=f"s{n}") for n in numbers]


async def test_an_answer_without_end_is_given_up(
    client: FirecrawlClient, api: respx.MockRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 100_000

    monkeypatch.setattr("ingest.providers.firecrawl.client._MAX_BODY_BYTES", 1_000_000)
    api.get(f"/v2/crawl/{ID}").side_effect = lambda _: httpx.Response(200, content=body())

    with pytest.raises(Transient, match="ResponseTooLarge") as caught:
        await client.status(ID)

    assert caught.value.code == "fetch_failed"


async def read(client: FirecrawlClient) -> list[str]:
    return [page.url.rpartition("/")[2] async for page in client.pages(ID)]


def parts(*answers: dict[str, Any]) -> Callable[[httpx.Request], httpx.Response]:
    """A server that has these answers, by the `skip` that asks for them; each may be had once."""
    asked = set[int]()

    def answer(request: httpx.Request) -> httpx.Response:
        skip = int(request.url.params["skip"])
        assert skip not in asked
        asked.add(skip)
        return httpx.Response(200, json=next(part for part in answers if part["at"] == skip))

    return answer


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (
            {"success": True, "status": "scraping", "total": 9, "completed": 4, "data": []},
            CrawlStatus(status="scraping", total=9, completed=4),
        ),
        (
            {"success": True, "status": "completed", "total": 9, "completed": 9},
            CrawlStatus(status="completed", total=9, completed=9),
        ),
        ({"status": "cancelled"}, CrawlStatus(status="cancelled", total=0, completed=0)),
        (
            {"success": False, "status": "failed", "error": "no kickoff", "data": []},
            CrawlStatus(status="failed", total=0, completed=0, error="no kickoff"),
        ),
        (
            {"status": "resting", "total": "many", "completed": None},
            CrawlStatus(status="scraping", total=0, completed=0),
        ),
    ],
)
async def test_the_status_is_one_small_request(
    client: FirecrawlClient, api: respx.MockRouter, answer: Any, status: CrawlStatus
) -> None:
    route = api.get(f"/v2/crawl/{ID}", params={"limit": "1"}).respond(json=answer)

    found = await client.status(ID)

    assert found == status
    assert route.call_count == 1


async def test_pages_are_read_part_by_part_from_our_own_address(
    client: FirecrawlClient, api: respx.MockRouter
) -> None:
    route = api.get(f"/v2/crawl/{ID}").mock(
        side_effect=parts(
            {"at": 0, "status": "completed", "data": documents(0, 1), "next": NEXT + "2"},
            {"at": 2, "status": "completed", "data": documents(2, 3), "next": NEXT + "5"},
            {"at": 5, "status": "completed", "data": documents(4)},
        )
    )

    assert await read(client) == ["0", "1", "2", "3", "4"]
    assert {call.request.url.host for call in route.calls} == {"firecrawl.test"}


@pytest.mark.parametrize("status", ["scraping", "cancelled", "failed"])
async def test_endless_next_links_terminate(
    client: FirecrawlClient, api: respx.MockRouter, status: str
) -> None:
    route = api.get(f"/v2/crawl/{ID}").mock(
        side_effect=parts(
            {"at": 0, "status": status, "data": documents(0, 1), "next": NEXT + "2"},
            {"at": 2, "status": status, "data": [], "next": NEXT + "2"},
        )
    )

    assert await read(client) == ["0", "1"]
    assert route.call_count == 2


@pytest.mark.parametrize("next", ["", "?skip=0", "?skip=x", "?skip=-5", "http://[", 7, NEXT + "1"])
async def test_repeated_crawl_page_ends_reading(
    client: FirecrawlClient, api: respx.MockRouter, next: Any
) -> None:
    answer = httpx.Response(200, json={"status": "scraping", "data": documents(0, 1), "next": next})
    api.get(f"/v2/crawl/{ID}").mock(side_effect=[answer, answer])

    assert await read(client) == ["0", "1"]


@pytest.mark.parametrize("data", [None, {}, [], [None, 7, {}]])
async def test_a_crawl_without_a_usable_document_has_no_page(
    client: FirecrawlClient, api: respx.MockRouter, data: Any
) -> None:
    api.get(f"/v2/crawl/{ID}").respond(json={"status": "scraping", "data": data, "next": NEXT})

    assert await read(client) == []


async def test_failures_lost_races_and_stubs_are_distinguished(
    client: FirecrawlClient, api: respx.MockRouter
) -> None:
    errors = [
        {"id": "1", "url": "https://shop.test/a", "error": "timed out", "code": "SCRAPE_TIMEOUT"},
        {"id": "2", "url": "https://shop.test/b", "error": RACED},
        {"id": "3", "url": "https://shop.test/c", "code": "SCRAPE_RACED_REDIRECT_ERROR"},
        {"id": "4", "url": "https://shop.test/d", "error": CANCELLED},
        {"id": "5", "url": None, "error": "lost"},
        "text",
    ]
    blocked = ["https://shop.test/private", None, "x", "https://shop.test/private"]
    api.get(f"/v2/crawl/{ID}/errors").respond(json={"errors": errors, "robotsBlocked": blocked})

    found = await client.errors(ID)

    assert [(page.url[-1], page.outcome) for page in found.failed] == [
        ("a", "failed"),
        ("b", "raced"),
        ("c", "raced"),
        ("d", "cancelled"),
    ]
    assert found.failed[0].error == "SCRAPE_TIMEOUT: timed out"
    assert found.robots_blocked == ("https://shop.test/private",)


async def test_errors_response_without_lists_is_empty(
    client: FirecrawlClient, api: respx.MockRouter
) -> None:
    api.get(f"/v2/crawl/{ID}/errors").respond(json={"errors": None, "robotsBlocked": {}})

    found = await client.errors(ID)

    assert (found.failed, found.robots_blocked) == ((), ())


@pytest.mark.parametrize("status", [200, 404, 409])
async def test_cancelling_an_ended_or_unknown_crawl_succeeds(
    client: FirecrawlClient, api: respx.MockRouter, status: int
) -> None:
    route = api.delete(f"/v2/crawl/{ID}").respond(status, json={"status": "cancelled"})

    await client.cancel(ID)

    assert route.call_count == 1


async def test_running_crawls_are_listed_with_what_tells_them_apart(
    client: FirecrawlClient, api: respx.MockRouter
) -> None:
    crawls = [
        {"id": ID, "url": "https://shop.test/", "created_at": "2026-03-01T12:00:00.500Z"},
        {"id": "b", "url": "https://shop.test/", "created_at": "2026-03-01T12:00:00"},
        {"id": "c", "url": "https://shop.test/", "created_at": "yesterday"},
        {"id": None, "url": "https://shop.test/"},
        {"id": "d"},
        None,
    ]
    api.get("/v2/crawl/active").respond(json={"success": True, "crawls": crawls})

    found = await client.active()

    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    url = "https://shop.test/"
    assert found == [
        ActiveCrawl(id=ID, url=url, created_at=noon + timedelta(milliseconds=500)),
        ActiveCrawl(id="b", url=url, created_at=noon),
        ActiveCrawl(id="c", url=url, created_at=None),
    ]


Call = Callable[[FirecrawlClient], Any]
CALLS: list[Call] = [
    lambda client: client.status(ID),
    read,
    lambda client: client.errors(ID),
    lambda client: client.cancel(ID),
    lambda client: client.active(),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (httpx.Response(429, headers={"Retry-After": "7"}), "rate_limited"),
        (httpx.Response(500), "fetch_failed"),
        (httpx.Response(401, json={"error": "no"}), "fetch_failed"),
        (httpx.Response(302, headers={"Location": "https://elsewhere.test"}), "fetch_failed"),
        (httpx.Response(200, text="<html>"), "fetch_failed"),
        (httpx.Response(200, json={"success": False, "error": "x"}), "fetch_failed"),
        (httpx.ReadTimeout("slow"), "fetch_failed"),
        (httpx.ConnectError("refused"), "fetch_failed"),
    ],
    ids=repr,
)
async def test_server_and_network_errors_are_transient(
    client: FirecrawlClient, api: respx.MockRouter, call: Call, answer: Any, code: str
) -> None:
    route = api.route().mock(side_effect=[answer])

    with pytest.raises(Transient) as caught:
        await call(client)

    assert caught.value.code == code
    assert caught.value.retry_after == (timedelta(seconds=7) if code == "rate_limited" else None)
    assert route.call_count == 1


@pytest.mark.parametrize("call", CALLS[:3])
async def test_unknown_crawl_raises_its_own_error(
    client: FirecrawlClient, api: respx.MockRouter, call: Call
) -> None:
    api.route().respond(404, json={"success": False, "error": "Job not found"})

    with pytest.raises(CrawlNotFound):
        await call(client)


@pytest.mark.parametrize("id", ["", "../active", "a/b", "a?b", "é", "a" * 101])
async def test_an_id_that_would_change_the_address_is_an_unknown_crawl(
    client: FirecrawlClient, api: respx.MockRouter, id: str
) -> None:
    with pytest.raises(CrawlNotFound):
        await client.status(id)

    assert not api.calls
