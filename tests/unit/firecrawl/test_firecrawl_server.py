"""The stand-in of Firecrawl and our client understand each other, whatever it is told to do."""

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from ingest.errors import Permanent
from ingest.providers.firecrawl.client import (
    FirecrawlClient,
)
from tests.servers.firecrawl_behaviour import Behaviour, SitePage
from tests.servers.firecrawl_server import KEY, FirecrawlServer
from tests.unit.firecrawl.stand_in import SEED, Inbox, asked, ended, pages, read


async def test_a_crawl_sends_its_events_and_can_be_read(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    firecrawl.sites[SEED] = pages(5)

    id = await client.start(asked(inbox.url))
    state = await ended(client, id)
    found = await read(client, id)
    await asyncio.to_thread(firecrawl.settle)

    assert (state, found) == ("completed", sorted(firecrawl.sites[SEED]))
    assert Counter(inbox.kinds()) == {"started": 1, "page": 5, "completed": 1}
    assert inbox.urls() == dict.fromkeys(firecrawl.sites[SEED], 1)
    assert all(event.provider_crawl_id == id for event in inbox.events)
    assert all(event.run == {"crawl_id": "c1"} for event in inbox.events)
    assert [delivery.status for delivery in firecrawl.deliveries] == [200] * 7


async def test_more_than_a_hundred_pages_are_read_in_parts(
    firecrawl: FirecrawlServer, client: FirecrawlClient
) -> None:
    firecrawl.sites[SEED] = pages(250)
    firecrawl.behaviours[SEED] = Behaviour(page_seconds=0.0001)

    id = await client.start(asked())
    await ended(client, id)

    assert await read(client, id) == sorted(firecrawl.sites[SEED])
    assert firecrawl.deliveries == []  # nobody asked for events


async def test_endless_crawl_pagination_terminates(
    firecrawl: FirecrawlServer, client: FirecrawlClient
) -> None:
    firecrawl.sites[SEED] = pages(10)
    firecrawl.behaviours[SEED] = Behaviour(page_seconds=0, stuck=True, part=3)

    id = await client.start(asked())

    assert await read(client, id) == sorted(firecrawl.sites[SEED])
    assert (await client.status(id)).status == "scraping"


async def test_failures_are_in_the_errors_and_lost_races_only_in_the_events(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    firecrawl.sites[SEED] = {
        f"{SEED}a": SitePage(),
        f"{SEED}slow": SitePage(error="timed out"),
        f"{SEED}old": SitePage(redirects_to=f"{SEED}a"),
        f"{SEED}private": SitePage(blocked=True),
        f"{SEED}moved": SitePage(redirects_to="https://elsewhere.test/"),
        f"{SEED}gone": SitePage(status=404),
    }

    id = await client.start(asked(inbox.url))
    await ended(client, id)
    errors = await client.errors(id)
    await asyncio.to_thread(firecrawl.settle)

    outcomes = {
        page.source_url.removeprefix(SEED): page.outcome
        for event in inbox.events
        for page in event.pages
    }
    assert outcomes == {
        "a": "page",
        "slow": "failed",
        "old": "raced",
        "moved": "page",
        "gone": "page",
    }
    assert [(page.url, page.outcome) for page in errors.failed] == [(f"{SEED}slow", "failed")]
    assert errors.robots_blocked == (f"{SEED}private",)
    assert await read(client, id) == ["https://elsewhere.test/", f"{SEED}a", f"{SEED}gone"]


async def test_the_limit_and_the_patterns_are_kept(
    firecrawl: FirecrawlServer, client: FirecrawlClient
) -> None:
    firecrawl.sites[SEED] = {f"{SEED}fails": SitePage(error="no"), **pages(9)}

    id = await client.start(asked(limit=3, include=["/[0-9]", "fails"], exclude=["/1$"]))
    await ended(client, id)

    assert await read(client, id) == [f"{SEED}{n}" for n in (0, 2, 3)]


async def test_a_request_with_a_key_that_v2_does_not_know_is_refused(
    firecrawl: FirecrawlServer,
) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    bodies: list[Any] = [
        {"url": SEED, "maxDepth": 3},
        {"url": SEED, "webhook": {"url": SEED, "metadata": {"n": 1}}},
        {"url": SEED, "webhook": {"url": SEED, "events": ["crawl.page"]}},
        {"url": SEED, "scrapeOptions": {"parsePDF": True}},
        {"url": SEED, "includePaths": ["("]},
        {"url": "http://intranet/"},
        {"limit": 3},
        [],
    ]

    async with httpx.AsyncClient(base_url=firecrawl.url, headers=headers) as http:
        answers = [await http.post("/v2/crawl", json=body) for body in bodies]

    assert [answer.status_code for answer in answers] == [400] * 8
    assert firecrawl.crawls == []


async def test_a_wrong_key_is_refused(firecrawl: FirecrawlServer) -> None:
    client = FirecrawlClient(base_url=firecrawl.url, api_key="fc-other")

    with pytest.raises(Permanent, match="HTTP 401"):
        await client.start(asked())

    await client.close()
