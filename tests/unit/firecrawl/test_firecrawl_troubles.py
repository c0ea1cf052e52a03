"""The stand-in of Firecrawl makes the troubles that it is told to make."""

import asyncio
import time
from collections import Counter
from dataclasses import replace

import pytest

from harness.patience import PATIENCE
from ingest.errors import Transient
from ingest.providers.firecrawl.client import (
    CrawlNotFound,
    FirecrawlClient,
    StartUnclear,
)
from tests.servers.firecrawl_behaviour import Behaviour, SitePage
from tests.servers.firecrawl_server import FirecrawlServer
from tests.support.movable_clock import MovableClock
from tests.unit.firecrawl.stand_in import SEED, Inbox, asked, ended, pages, read


async def test_duplicates_reruns_and_late_pages_are_made(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    firecrawl.sites[SEED] = pages(4)
    firecrawl.behaviours[SEED] = Behaviour(
        completed_first=True, duplicate=1, rerun=1, late=0.5, late_seconds=0.3
    )

    await client.start(asked(inbox.url))
    await asyncio.to_thread(firecrawl.settle)

    kinds = inbox.kinds()
    assert kinds.index("completed") < kinds.index("page")
    assert set(inbox.urls().values()) == {4}  # each twice, each as two events
    ids = {event.webhook_id for event in inbox.events if event.kind == "page"}
    assert len(ids) == 8
    assert len({page.scrape_id for event in inbox.events for page in event.pages}) == 4


async def test_events_may_arrive_before_the_response_to_the_start(
    firecrawl: FirecrawlServer,
    client: FirecrawlClient,
    inbox: Inbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    firecrawl.sites[SEED] = pages(3)
    firecrawl.behaviours[SEED] = Behaviour(start_seconds=0.5)
    # However long the events take to arrive.
    monkeypatch.setattr(time, "sleep", lambda _: firecrawl.settle())

    await client.start(asked(inbox.url))

    assert "completed" in inbox.kinds()


@pytest.mark.parametrize("behaviour", [Behaviour(silent=True), Behaviour(drop=1)])
async def test_stand_in_can_send_no_events(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox, behaviour: Behaviour
) -> None:
    firecrawl.sites[SEED] = pages(3)
    firecrawl.behaviours[SEED] = behaviour

    id = await client.start(asked(inbox.url))
    state = await ended(client, id)
    await asyncio.to_thread(firecrawl.settle)

    assert (state, inbox.events) == ("completed", [])


async def test_a_lost_answer_leaves_a_crawl_that_can_be_found(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    firecrawl.sites[SEED] = pages(3)
    firecrawl.behaviours[SEED] = Behaviour(lost_start=True, stuck=True)

    with pytest.raises(StartUnclear):
        await client.start(asked(inbox.url))
    [active] = await client.active()
    await asyncio.to_thread(firecrawl.settle)

    assert active.id == firecrawl.crawl_of(SEED).id == inbox.events[0].provider_crawl_id
    assert active.url == SEED


async def test_the_same_idempotency_key_twice_is_unclear_and_one_crawl(
    firecrawl: FirecrawlServer, client: FirecrawlClient
) -> None:
    crawl = asked()

    await client.start(crawl)
    with pytest.raises(StartUnclear):
        await client.start(crawl)

    assert len(firecrawl.crawls) == 1


async def test_stand_in_can_refuse_hide_or_fail_a_crawl(
    firecrawl: FirecrawlServer, client: FirecrawlClient
) -> None:
    firecrawl.behaviours[SEED] = Behaviour(refused_starts=1, unknown_reads=1, kickoff_fails=True)

    with pytest.raises(Transient, match="HTTP 429") as refused:
        await client.start(asked())
    id = await client.start(asked())
    with pytest.raises(CrawlNotFound):
        await client.status(id)
    status = await client.status(id)

    assert refused.value.retry_after is not None
    assert (status.status, status.error) == ("failed", "Kickoff failed")


async def test_a_cancelled_crawl_sends_stubs_and_completes(
    firecrawl: FirecrawlServer,
    client: FirecrawlClient,
    inbox: Inbox,
    movable_clock: MovableClock,
) -> None:
    movable_clock.stop()
    firecrawl.sites[SEED] = pages(40)
    firecrawl.behaviours[SEED] = Behaviour(page_seconds=0.05)

    id = await client.start(asked(inbox.url))
    movable_clock.forward(1)  # half of its time
    assert await asyncio.to_thread(inbox.has_page.wait, PATIENCE)
    await client.cancel(id)
    movable_clock.forward(1)
    await asyncio.to_thread(firecrawl.settle)
    done = await read(client, id)
    errors = await client.errors(id)

    outcomes = Counter(page.outcome for event in inbox.events for page in event.pages)
    assert (await client.status(id)).status == "cancelled"
    assert 0 < len(done) < 40
    assert outcomes == {"page": len(done), "cancelled": 40 - len(done)}
    assert Counter(page.outcome for page in errors.failed) == {"cancelled": 40 - len(done)}
    assert inbox.kinds().count("completed") == 1


async def test_crawl_can_be_cancelled_from_outside(
    firecrawl: FirecrawlServer, client: FirecrawlClient, movable_clock: MovableClock
) -> None:
    movable_clock.stop()
    firecrawl.sites[SEED] = pages(20)
    firecrawl.behaviours[SEED] = Behaviour(cancelled_at=0.5, page_seconds=0.2)

    id = await client.start(asked())
    movable_clock.forward(2)

    assert await ended(client, id) == "cancelled"
    assert 0 < len(await read(client, id)) < 20


def test_a_behaviour_is_the_same_for_the_same_seed_and_differs_over_seeds() -> None:
    drawn = [Behaviour.random(seed) for seed in range(200)]

    assert drawn == [Behaviour.random(seed) for seed in range(200)]
    for trouble in ("lost_start", "kickoff_fails", "silent", "completed_first", "stuck"):
        assert {getattr(behaviour, trouble) for behaviour in drawn} == {True, False}
    assert sum(behaviour.ends_whole for behaviour in drawn) > 150


async def test_random_crawls_can_all_be_read_in_the_end(
    firecrawl: FirecrawlServer, client: FirecrawlClient, inbox: Inbox
) -> None:
    troubles = [Behaviour.random(seed) for seed in range(24)]
    answered = [t for t in troubles if t.ends_whole and not t.lost_start and not t.refused_starts]

    async def crawl(behaviour: Behaviour) -> list[str]:
        url = f"https://site{behaviour.seed}.test/"
        firecrawl.sites[url] = {f"{url}{n}": SitePage() for n in range(12)}
        firecrawl.behaviours[url] = behaviour
        id = await client.start(replace(asked(inbox.url), url=url))
        for _ in range(behaviour.unknown_reads):
            with pytest.raises(CrawlNotFound):
                await client.status(id)
        await ended(client, id)
        return [page.url.removeprefix(url) async for page in client.pages(id)]

    found = await asyncio.gather(*(crawl(behaviour) for behaviour in answered))
    await asyncio.to_thread(firecrawl.settle)

    assert len(answered) > 12
    assert [sorted(numbers, key=int) for numbers in found] == len(answered) * [
        [str(n) for n in range(12)]
    ]
