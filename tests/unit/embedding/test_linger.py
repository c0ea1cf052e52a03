"""Texts that arrive during a request wait for more, but never for long."""

import asyncio
from datetime import timedelta

import pytest

from harness.patience import PATIENCE
from ingest.embedding.service import EmbeddingService
from tests.support.fake_embedder import FakeEmbedder
from tests.support.movable_clock import MovableClock


@pytest.fixture(autouse=True)
async def skipped_waits(movable_clock: MovableClock) -> None:
    movable_clock.skip_waits()


async def test_texts_arriving_during_a_request_are_sent_after_it() -> None:
    embedder = FakeEmbedder(max_items=100, concurrency=4)
    embedder.delay = timedelta(seconds=0.2)
    service = EmbeddingService(embedder, linger=timedelta(0))
    await service.embed(["how long it takes"], [1])
    embedder.delay, embedder.gate = timedelta(0), asyncio.Event()

    calls = []
    for text in "abc":
        calls.append(asyncio.create_task(service.embed([text], [1])))
        for _ in range(10):
            await asyncio.sleep(0)
    embedder.gate.set()
    await asyncio.gather(*calls)

    assert embedder.requests[1:] == [["a"], ["b", "c"]]


async def test_linger_is_bounded_while_a_request_hangs() -> None:
    embedder = FakeEmbedder(max_items=100, concurrency=4)
    service = EmbeddingService(embedder, linger=timedelta(0))
    await service.embed(["how long it takes"], [1])
    embedder.gate = asyncio.Event()
    stuck = asyncio.create_task(service.embed(["stuck"], [1]))
    await asyncio.sleep(0.001)

    other = asyncio.create_task(service.embed(["other"], [1]))
    async with asyncio.timeout(PATIENCE):
        while embedder.calls < 3:  # noqa: ASYNC110  # the fake sets no event
            await asyncio.sleep(0.001)
    embedder.gate.set()
    await asyncio.gather(stuck, other)

    assert embedder.requests[1:] == [["stuck"], ["other"]]
