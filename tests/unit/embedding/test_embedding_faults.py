"""Callers of the embedding service when it is closed, when one is urgent, when a library panics."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from harness.patience import PATIENCE
from ingest.embedding.service import EmbeddingService
from ingest.errors import Transient
from ingest.model import Vectors
from tests.support.fake_embedder import FakeEmbedder
from tests.support.movable_clock import MovableClock


@pytest.fixture(autouse=True)
async def skipped_waits(movable_clock: MovableClock) -> None:
    movable_clock.skip_waits()


class Panic(BaseException):
    """As those of libraries in Rust: no Exception."""


class FallingEmbedder(FakeEmbedder):
    def __init__(self, fall: BaseException) -> None:
        super().__init__()
        self.fall: BaseException | None = fall

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fall is not None:
            raise self.fall
        return await super().embed(texts)


@pytest.mark.parametrize("fall", [Panic(), asyncio.CancelledError()])
async def test_texts_without_an_answer_are_an_error_and_no_zeros(fall: BaseException) -> None:
    embedder = FallingEmbedder(fall)
    service = EmbeddingService(embedder)

    results = await asyncio.gather(
        service.embed(["a"], [1]), service.embed(["b"], [1]), return_exceptions=True
    )
    embedder.fall = None
    embedded = await service.embed(["c"], [1])

    assert [type(result) for result in results] == [RuntimeError, RuntimeError]
    assert np.array_equal(embedded.vectors[0], embedder.vector("c"))


async def test_query_precedes_waiting_requests() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    jobs = [asyncio.create_task(service.embed(["text", "more"], [1, 1])) for _ in range(5)]
    await asyncio.sleep(0.02)
    query = asyncio.create_task(service.embed_query("question", 1))
    await asyncio.sleep(0.02)
    embedder.gate.set()
    await asyncio.gather(query, *jobs)

    assert embedder.requests.index(["question"]) == 1


async def test_calls_during_or_after_close_fail() -> None:
    embedder = FakeEmbedder()
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    calls = [asyncio.create_task(service.embed(["under way"], [1]))]
    await asyncio.sleep(0.02)
    closing = asyncio.create_task(service.close())
    await asyncio.sleep(0)
    calls.append(asyncio.create_task(service.embed(["while it closes"], [1])))
    await closing
    calls.append(asyncio.create_task(service.embed(["later"], [1])))

    async with asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [Transient] * 3
    assert embedder.requests == [["under way"]]
