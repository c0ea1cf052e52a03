"""The stand-in of Firecrawl and our client understand each other, whatever it is told to do."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import httpx
import pytest

from harness.patience import PATIENCE
from ingest.errors import Permanent, Transient
from ingest.providers.firecrawl.client import (
    CrawlNotFound,
    FirecrawlClient,
    StartCrawl,
    StartUnclear,
)
from ingest.providers.firecrawl.events import FirecrawlEvent, parse_event
from ingest.providers.firecrawl.signature import Signature
from tests.servers.firecrawl_crawls import Behaviour, SitePage
from tests.servers.firecrawl_server import KEY, SECRET, FirecrawlServer, firecrawl_server
from tests.support.movable_clock import MovableClock

SEED = "https://shop.test/"


def pages(count: int) -> dict[str, SitePage]:
    return {f"{SEED}{n}": SitePage(markdown=f"# {n}") for n in range(count)}


class Inbox:
    """A webhook endpoint that keeps what comes, in its order."""

    def __init__(self) -> None:
        self.events: list[FirecrawlEvent] = []
        self.has_page = threading.Event()
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signature = Signature([SECRET.encode()])
                signature.feed(body)
                if signature.matches(self.headers["X-Firecrawl-Signature"].encode()):
                    inbox.take(parse_event(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def take(self, event: FirecrawlEvent) -> None:
        self.events.append(event)
        if event.kind == "page":
            self.has_page.set()

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def urls(self) -> Counter[str]:
        return Counter(page.url for event in self.events for page in event.pages)


@contextmanager
def running(inbox: Inbox) -> Iterator[Inbox]:
    thread = threading.Thread(target=lambda: inbox.server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield inbox
    finally:
        inbox.server.shutdown()
        inbox.server.server_close()
        thread.join()


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running(Inbox()) as inbox:
        yield inbox


@pytest.fixture
def server() -> Iterator[FirecrawlServer]:
    with firecrawl_server() as server:
        yield server


@pytest.fixture
async def client(server: FirecrawlServer) -> AsyncIterator[FirecrawlClient]:
    opened = FirecrawlClient(base_url=server.url, api_key=KEY)
    yield opened
    await opened.close()


def asked(webhook: str | None = None, *, limit: int = 1000, **patterns: list[str]) -> StartCrawl:
    return StartCrawl(
        url=SEED,
        limit=limit,
        max_depth=None,
        include_paths=patterns.get("include", []),
        exclude_paths=patterns.get("exclude", []),
        run={"crawl_id": "c1"},
        webhook_url=webhook,
        idempotency_key=uuid4(),
    )


async def ended(client: FirecrawlClient, id: str) -> str:
    """Its state when it is no longer scraping."""
    async with asyncio.timeout(PATIENCE):
        while (status := (await client.status(id)).status) == "scraping":  # noqa: ASYNC110  # it is asked
            await asyncio.sleep(0)
    return status


async def read(client: FirecrawlClient, id: str) -> list[str]:
    return sorted([page.url async for page in client.pages(id)])


async def test_a_crawl_sends_its_events_and_can_be_read(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    server.sites[SEED] = pages(5)

    id = await client.start(asked(inbox.url))
    state = await ended(client, id)
    found = await read(client, id)
    await asyncio.to_thread(server.settle)

    assert (state, found) == ("completed", sorted(server.sites[SEED]))
    assert Counter(inbox.kinds()) == {"started": 1, "page": 5, "completed": 1}
    assert inbox.urls() == dict.fromkeys(server.sites[SEED], 1)
    assert all(event.provider_crawl_id == id for event in inbox.events)
    assert all(event.run == {"crawl_id": "c1"} for event in inbox.events)
    assert [delivery.status for delivery in server.deliveries] == [200] * 7


async def test_more_than_a_hundred_pages_are_read_in_parts(
    server: FirecrawlServer, client: FirecrawlClient
) -> None:
    server.sites[SEED] = pages(250)
    server.behaviours[SEED] = Behaviour(page_seconds=0.0001)

    id = await client.start(asked())
    await ended(client, id)

    assert await read(client, id) == sorted(server.sites[SEED])
    assert server.deliveries == []  # nobody asked for events


async def test_endless_crawl_pagination_terminates(
    server: FirecrawlServer, client: FirecrawlClient
) -> None:
    server.sites[SEED] = pages(10)
    server.behaviours[SEED] = Behaviour(page_seconds=0, stuck=True, part=3)

    id = await client.start(asked())

    assert await read(client, id) == sorted(server.sites[SEED])
    assert (await client.status(id)).status == "scraping"


async def test_failures_are_in_the_errors_and_lost_races_only_in_the_events(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    server.sites[SEED] = {
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
    await asyncio.to_thread(server.settle)

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
    server: FirecrawlServer, client: FirecrawlClient
) -> None:
    server.sites[SEED] = {f"{SEED}fails": SitePage(error="no"), **pages(9)}

    id = await client.start(asked(limit=3, include=["/[0-9]", "fails"], exclude=["/1$"]))
    await ended(client, id)

    assert await read(client, id) == [f"{SEED}{n}" for n in (0, 2, 3)]


async def test_duplicates_reruns_and_late_pages_are_made(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    server.sites[SEED] = pages(4)
    server.behaviours[SEED] = Behaviour(
        completed_first=True, duplicate=1, rerun=1, late=0.5, late_seconds=0.3
    )

    await client.start(asked(inbox.url))
    await asyncio.to_thread(server.settle)

    kinds = inbox.kinds()
    assert kinds.index("completed") < kinds.index("page")
    assert set(inbox.urls().values()) == {4}  # each twice, each as two events
    ids = {event.webhook_id for event in inbox.events if event.kind == "page"}
    assert len(ids) == 8
    assert len({page.scrape_id for event in inbox.events for page in event.pages}) == 4


async def test_events_may_arrive_before_the_response_to_the_start(
    server: FirecrawlServer,
    client: FirecrawlClient,
    inbox: Inbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.sites[SEED] = pages(3)
    server.behaviours[SEED] = Behaviour(start_seconds=0.5)
    # However long the events take to arrive.
    monkeypatch.setattr(time, "sleep", lambda _: server.settle())

    await client.start(asked(inbox.url))

    assert "completed" in inbox.kinds()


@pytest.mark.parametrize("behaviour", [Behaviour(silent=True), Behaviour(drop=1)])
async def test_stand_in_can_send_no_events(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox, behaviour: Behaviour
) -> None:
    server.sites[SEED] = pages(3)
    server.behaviours[SEED] = behaviour

    id = await client.start(asked(inbox.url))
    state = await ended(client, id)
    await asyncio.to_thread(server.settle)

    assert (state, inbox.events) == ("completed", [])


async def test_a_lost_answer_leaves_a_crawl_that_can_be_found(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    server.sites[SEED] = pages(3)
    server.behaviours[SEED] = Behaviour(lost_start=True, stuck=True)

    with pytest.raises(StartUnclear):
        await client.start(asked(inbox.url))
    [active] = await client.active()
    await asyncio.to_thread(server.settle)

    assert active.id == server.crawl_of(SEED).id == inbox.events[0].provider_crawl_id
    assert active.url == SEED


async def test_the_same_idempotency_key_twice_is_unclear_and_one_crawl(
    server: FirecrawlServer, client: FirecrawlClient
) -> None:
    crawl = asked()

    await client.start(crawl)
    with pytest.raises(StartUnclear):
        await client.start(crawl)

    assert len(server.crawls) == 1


async def test_stand_in_can_refuse_hide_or_fail_a_crawl(
    server: FirecrawlServer, client: FirecrawlClient
) -> None:
    server.behaviours[SEED] = Behaviour(refused_starts=1, unknown_reads=1, kickoff_fails=True)

    with pytest.raises(Transient, match="HTTP 429") as refused:
        await client.start(asked())
    id = await client.start(asked())
    with pytest.raises(CrawlNotFound):
        await client.status(id)
    status = await client.status(id)

    assert refused.value.retry_after is not None
    assert (status.status, status.error) == ("failed", "Kickoff failed")


async def test_a_cancelled_crawl_sends_stubs_and_completes(
    server: FirecrawlServer,
    client: FirecrawlClient,
    inbox: Inbox,
    movable_clock: MovableClock,
) -> None:
    movable_clock.stop()
    server.sites[SEED] = pages(40)
    server.behaviours[SEED] = Behaviour(page_seconds=0.05)

    id = await client.start(asked(inbox.url))
    movable_clock.forward(1)  # half of its time
    assert await asyncio.to_thread(inbox.has_page.wait, PATIENCE)
    await client.cancel(id)
    movable_clock.forward(1)
    await asyncio.to_thread(server.settle)
    done = await read(client, id)
    errors = await client.errors(id)

    outcomes = Counter(page.outcome for event in inbox.events for page in event.pages)
    assert (await client.status(id)).status == "cancelled"
    assert 0 < len(done) < 40
    assert outcomes == {"page": len(done), "cancelled": 40 - len(done)}
    assert Counter(page.outcome for page in errors.failed) == {"cancelled": 40 - len(done)}
    assert inbox.kinds().count("completed") == 1


async def test_crawl_can_be_cancelled_from_outside(
    server: FirecrawlServer, client: FirecrawlClient, movable_clock: MovableClock
) -> None:
    movable_clock.stop()
    server.sites[SEED] = pages(20)
    server.behaviours[SEED] = Behaviour(cancelled_at=0.5, page_seconds=0.2)

    id = await client.start(asked())
    movable_clock.forward(2)

    assert await ended(client, id) == "cancelled"
    assert 0 < len(await read(client, id)) < 20


async def test_a_request_with_a_key_that_v2_does_not_know_is_refused(
    server: FirecrawlServer,
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

    async with httpx.AsyncClient(base_url=server.url, headers=headers) as http:
        answers = [await http.post("/v2/crawl", json=body) for body in bodies]

    assert [answer.status_code for answer in answers] == [400] * 8
    assert server.crawls == []


async def test_a_wrong_key_is_refused(server: FirecrawlServer) -> None:
    client = FirecrawlClient(base_url=server.url, api_key="fc-other")

    with pytest.raises(Permanent, match="HTTP 401"):
        await client.start(asked())

    await client.close()


def test_a_behaviour_is_the_same_for_the_same_seed_and_differs_over_seeds() -> None:
    drawn = [Behaviour.random(seed) for seed in range(200)]

    assert drawn == [Behaviour.random(seed) for seed in range(200)]
    for trouble in ("lost_start", "kickoff_fails", "silent", "completed_first", "stuck"):
        assert {getattr(behaviour, trouble) for behaviour in drawn} == {True, False}
    assert sum(behaviour.ends_whole for behaviour in drawn) > 150


async def test_random_crawls_can_all_be_read_in_the_end(
    server: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    troubles = [Behaviour.random(seed) for seed in range(24)]
    answered = [t for t in troubles if t.ends_whole and not t.lost_start and not t.refused_starts]

    async def crawl(behaviour: Behaviour) -> list[str]:
        url = f"https://site{behaviour.seed}.test/"
        server.sites[url] = {f"{url}{n}": SitePage() for n in range(12)}
        server.behaviours[url] = behaviour
        id = await client.start(replace(asked(inbox.url), url=url))
        for _ in range(behaviour.unknown_reads):
            with pytest.raises(CrawlNotFound):
                await client.status(id)
        await ended(client, id)
        return [page.url.removeprefix(url) async for page in client.pages(id)]

    found = await asyncio.gather(*(crawl(behaviour) for behaviour in answered))
    await asyncio.to_thread(server.settle)

    assert len(answered) > 12
    assert [sorted(numbers, key=int) for numbers in found] == len(answered) * [
        [str(n) for n in range(12)]
    ]
