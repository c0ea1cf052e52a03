"""Starting a crawl: one attempt, and it is known whether it may have begun."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import UUID

import httpx
import pytest
import respx

from ingest.errors import Permanent, Transient
from ingest.providers.firecrawl.client import FirecrawlClient, StartCrawl, StartUnclear
from tests.servers.firecrawl_events import compact

BASE = "https://firecrawl.test/some/path"
KEY = "fc-secret-key"
ID = "0199aaaa-0000-7000-8000-000000000001"
CRAWL = StartCrawl(
    url="https://shop.test/",
    limit=50,
    max_depth=3,
    include_paths=["^/docs/"],
    exclude_paths=["/old"],
    run={"crawl_id": "c1"},
    webhook_url="https://ingest.test/api/webhooks/firecrawl",
    idempotency_key=UUID("11111111-2222-4333-8444-555555555555"),
)


@pytest.fixture
async def client() -> AsyncIterator[FirecrawlClient]:
    opened = FirecrawlClient(base_url=BASE, api_key=KEY)
    yield opened
    await opened.close()


@pytest.fixture
def endpoint() -> Iterator[respx.Route]:
    with respx.mock(base_url=BASE) as router:
        yield router.post("/v2/crawl")


def refusal(status: int, error: Any, **headers: str) -> httpx.Response:
    body = compact({"success": False, "error": error})
    return httpx.Response(status, content=body, headers=headers)


async def test_a_crawl_is_started_by_one_request(
    client: FirecrawlClient, endpoint: respx.Route
) -> None:
    endpoint.return_value = httpx.Response(200, json={"success": True, "id": ID, "url": "x"})

    started = await client.start(CRAWL)

    assert started == ID
    [call] = endpoint.calls
    assert call.request.headers["authorization"] == f"Bearer {KEY}"
    assert call.request.headers["x-idempotency-key"] == str(CRAWL.idempotency_key)
    assert json.loads(call.request.content) == {
        "url": "https://shop.test/",
        "limit": 50,
        "sitemap": "include",
        "crawlEntireDomain": True,
        "maxDiscoveryDepth": 3,
        "includePaths": ["^/docs/"],
        "excludePaths": ["/old"],
        "scrapeOptions": {"formats": ["markdown", "links"], "onlyMainContent": True, "maxAge": 0},
        "webhook": {
            "url": "https://ingest.test/api/webhooks/firecrawl",
            "metadata": {"crawl_id": "c1"},
            "events": ["started", "page", "completed", "failed"],
        },
    }


async def test_unset_options_are_not_sent(endpoint: respx.Route) -> None:
    endpoint.return_value = httpx.Response(200, json={"success": True, "id": ID})
    client = FirecrawlClient(base_url=BASE + "/", api_key=None)

    await client.start(replace(CRAWL, webhook_url=None, max_depth=None))

    body = json.loads(endpoint.calls.last.request.content)
    assert not body.keys() & {"webhook", "maxDiscoveryDepth"}
    assert "authorization" not in endpoint.calls.last.request.headers
    await client.close()


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 200])
async def test_a_refusal_is_permanent_and_says_why(
    client: FirecrawlClient, endpoint: respx.Route, status: int
) -> None:
    endpoint.return_value = refusal(status, "no \0 credits \ud800 left")

    with pytest.raises(Permanent, match=f"HTTP {status}: no credits left") as caught:
        await client.start(CRAWL)

    assert caught.value.code == "crawl_not_started"
    assert endpoint.call_count == 1


async def test_redirect_of_the_start_request_is_a_permanent_error(
    client: FirecrawlClient, endpoint: respx.Route
) -> None:
    headers = {"Location": "https://elsewhere.test/v2/crawl"}
    endpoint.return_value = httpx.Response(308, json={"id": ID}, headers=headers)

    with pytest.raises(Permanent, match="HTTP 308"):
        await client.start(CRAWL)

    assert endpoint.call_count == 1


async def test_messages_are_short_and_do_not_repeat_the_key(
    client: FirecrawlClient, endpoint: respx.Route
) -> None:
    endpoint.return_value = refusal(401, f"{'x' * 485} the token {KEY} {'is wrong ' * 100}")

    with pytest.raises(Permanent) as caught:
        await client.start(CRAWL)

    assert "fc-" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("error", "headers", "wait"),
    [
        ("slow down", {"Retry-After": "3"}, 3),
        ("Rate limit exceeded. Please retry after 26s, resets at noon", {}, 26),
        ("retry after 26s", {"Retry-After": "5"}, 5),
        ("slow down", {}, None),
        ("retry after a while", {"Retry-After": "soon"}, None),
    ],
)
async def test_start_answered_429_started_no_crawl_and_obeys_retry_after(
    client: FirecrawlClient,
    endpoint: respx.Route,
    error: str,
    headers: dict[str, str],
    wait: int | None,
) -> None:
    endpoint.return_value = refusal(429, error, **headers)

    with pytest.raises(Transient) as caught:
        await client.start(CRAWL)

    assert not isinstance(caught.value, StartUnclear)
    assert caught.value.code == "rate_limited"
    assert caught.value.retry_after == (None if wait is None else timedelta(seconds=wait))


async def test_a_429_may_name_a_date(client: FirecrawlClient, endpoint: respx.Route) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    until = format_datetime(now + timedelta(seconds=90), usegmt=True)
    endpoint.return_value = refusal(
        429, "x", **{"Retry-After": until, "Date": format_datetime(now, usegmt=True)}
    )

    with pytest.raises(Transient) as caught:
        await client.start(CRAWL)

    assert caught.value.retry_after == timedelta(seconds=90)


@pytest.mark.parametrize(
    "failure",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")],
)
async def test_unsent_request_started_no_crawl(
    client: FirecrawlClient, endpoint: respx.Route, failure: httpx.RequestError
) -> None:
    endpoint.side_effect = failure

    with pytest.raises(Transient) as caught:
        await client.start(CRAWL)

    assert not isinstance(caught.value, StartUnclear)
    assert caught.value.code == "crawl_not_started"


@pytest.mark.parametrize(
    "answer",
    [
        httpx.ReadTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.WriteError("reset"),
        httpx.RemoteProtocolError("disconnected"),
        httpx.DecodingError("not gzip"),
        httpx.Response(500, json={"success": False, "error": "x"}),
        httpx.Response(502, text="<html>Bad gateway</html>"),
        httpx.Response(504),
        httpx.Response(408),
        httpx.Response(409, json={"success": False, "error": "Idempotency key already used"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"success": True}),
        httpx.Response(200, json={"success": True, "id": "../active"}),
        httpx.Response(200, json={"success": True, "id": 7}),
        httpx.Response(200, json=[]),
        httpx.Response(204),
    ],
    ids=repr,
)
async def test_lost_answer_leaves_the_start_unclear(
    client: FirecrawlClient, endpoint: respx.Route, answer: Any
) -> None:
    endpoint.side_effect = [answer]

    with pytest.raises(StartUnclear) as caught:
        await client.start(CRAWL)

    assert caught.value.code == "crawl_not_started"
    assert endpoint.call_count == 1  # never a second crawl
