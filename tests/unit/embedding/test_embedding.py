"""Texts of many callers share requests; what fails, fails for those that it belongs to."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from harness.patience import PATIENCE
from ingest.embedding.one_request import RequestCounts
from ingest.embedding.service import EmbeddingService
from ingest.errors import Transient
from ingest.model import Vectors
from tests.support.fake_embedder import FakeEmbedder
from tests.support.movable_clock import MovableClock


@pytest.fixture(autouse=True)
async def skipped_waits(movable_clock: MovableClock) -> None:
    movable_clock.skip_waits()


def ones(texts: Sequence[str]) -> list[int]:
    return [1] * len(texts)


async def test_each_text_gets_its_own_vector() -> None:
    embedder = FakeEmbedder()
    texts = [f"text {number}" for number in range(10)]

    embedded = await EmbeddingService(embedder).embed(texts, ones(texts))

    assert embedded.refused == {}
    for row, text in enumerate(texts):
        assert np.array_equal(embedded.vectors[row], embedder.vector(text))


async def test_texts_of_concurrent_callers_share_a_request() -> None:
    embedder = FakeEmbedder(max_items=4)
    service = EmbeddingService(embedder)

    first, second = await asyncio.gather(
        service.embed(["a", "b"], [1, 1]), service.embed(["c", "d"], [1, 1])
    )

    assert embedder.requests == [["a", "b", "c", "d"]]
    assert np.array_equal(first.vectors[1], embedder.vector("b"))
    assert np.array_equal(second.vectors[0], embedder.vector("c"))


async def test_a_request_keeps_to_the_limit_of_tokens() -> None:
    embedder = FakeEmbedder(max_items=100, max_request_tokens=10)
    service = EmbeddingService(embedder)

    await asyncio.gather(
        service.embed(["a", "b", "c"], [4, 4, 4]), service.embed(["d"], [6]), service.embed([], [])
    )

    assert sorted(map(sorted, embedder.requests)) == [["a", "b"], ["c", "d"]]


async def test_ten_thousand_texts_go_out_in_full_requests() -> None:
    embedder = FakeEmbedder(max_items=2048, max_request_tokens=300_000, concurrency=4)
    texts = [f"text {number}" for number in range(10_000)]

    embedded = await EmbeddingService(embedder).embed(texts, [200] * len(texts))

    assert max(map(len, embedder.requests)) == 1500
    assert embedder.calls == 7
    assert embedder.most_under_way == 4
    assert np.array_equal(embedded.vectors[-1], embedder.vector(texts[-1]))


async def test_a_small_caller_takes_turns_with_a_large_one() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    large = asyncio.create_task(service.embed(["large"] * 100, [1] * 100))
    await asyncio.sleep(0.01)

    small = asyncio.create_task(service.embed(["small"] * 2, [1, 1]))
    await asyncio.sleep(0.01)
    embedder.gate.set()
    await small

    assert embedder.requests.index(["small", "small"]) <= 2
    await large


async def test_refused_text_is_found_and_does_not_affect_others() -> None:
    embedder = FakeEmbedder(max_items=100)
    embedder.refuses = {"text 57"}
    service = EmbeddingService(embedder)
    texts = [f"text {number}" for number in range(100)]

    embedded, other = await asyncio.gather(
        service.embed(texts[:80], ones(texts[:80])), service.embed(texts[80:], ones(texts[80:]))
    )

    assert embedded.refused == {57: "HTTP 400"}
    assert not embedded.vectors[57].any()
    assert np.array_equal(embedded.vectors[58], embedder.vector("text 58"))
    assert other.refused == {}
    assert embedder.calls <= 2 * 7 + 2  # halving, not one by one


async def test_blank_texts_are_refused_without_a_call() -> None:
    embedder = FakeEmbedder()

    embedded = await EmbeddingService(embedder).embed(["", " \n", "word"], [0, 0, 1])

    assert sorted(embedded.refused) == [0, 1]
    assert embedder.requests == [["word"]]


async def test_only_blank_texts_make_no_request() -> None:
    embedder = FakeEmbedder()

    embedded = await EmbeddingService(embedder).embed([" "], [0])

    assert embedded.refused == {0: "the text is blank"}
    assert embedder.calls == 0


async def test_a_failed_request_reaches_its_callers_and_no_other() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.failures = [None, Transient("busy", code="embedding_unavailable")]
    service = EmbeddingService(embedder)

    results = await asyncio.gather(
        service.embed(["a", "b"], [1, 1]),
        service.embed(["c"], [1]),
        service.embed(["d"], [1]),
        service.embed(["e", "f"], [1, 1]),
        return_exceptions=True,
    )

    failed = [isinstance(result, Transient) for result in results]
    assert failed == [False, True, True, False]


async def test_after_a_failure_the_rest_of_the_caller_is_not_sent() -> None:
    embedder = FakeEmbedder(max_items=1)
    embedder.failures = [None, Transient("busy", code="embedding_unavailable")]
    service = EmbeddingService(embedder)

    with pytest.raises(Transient):
        await service.embed(["a", "b", "c", "d"], [1] * 4)

    assert embedder.calls == 2


async def test_finished_vectors_are_delivered_before_the_error() -> None:
    embedder = FakeEmbedder(max_items=1, concurrency=2)
    embedder.failures = [Transient("busy", code="embedding_unavailable"), None]
    embedder.delay = timedelta(milliseconds=1)
    service = EmbeddingService(embedder)
    saved: list[int] = []

    async def save(indices: Sequence[int], vectors: Vectors) -> None:
        await asyncio.sleep(0.02)
        assert vectors.shape == (len(indices), 8)
        saved.extend(indices)

    with pytest.raises(Transient):
        await service.embed(["a", "b"], [1, 1], on_vectors=save)

    assert saved == [1]


async def test_progress_counts_every_text_once() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.refuses = {"c"}
    seen: list[tuple[int, int]] = []

    await EmbeddingService(embedder).embed(
        ["a", "b", "c", " ", "d"], [1] * 5, on_progress=lambda done, of: seen.append((done, of))
    )

    assert seen == [(1, 5), (3, 5), (4, 5), (5, 5)]


async def test_a_callback_that_raises_fails_its_own_caller_only() -> None:
    embedder = FakeEmbedder(max_items=4)
    service = EmbeddingService(embedder)

    async def save(indices: Sequence[int], vectors: Vectors) -> None:
        raise RuntimeError("disk full")

    failed, fine = await asyncio.gather(
        service.embed(["a"], [1], on_vectors=save),
        service.embed(["b"], [1]),
        return_exceptions=True,
    )

    assert isinstance(failed, RuntimeError)
    assert not isinstance(fine, BaseException)


async def test_cancelling_a_caller_leaves_those_in_its_request_alone() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    cancelled = asyncio.create_task(service.embed(["a", "b", "x"], [1, 1, 1]))
    other = asyncio.create_task(service.embed(["c"], [1]))
    await asyncio.sleep(0.02)

    cancelled.cancel()
    embedder.gate.set()
    embedded = await other

    assert np.array_equal(embedded.vectors[0], embedder.vector("c"))
    assert ["x", "c"] not in embedder.requests
    assert cancelled.cancelled()


@pytest.mark.parametrize(
    "answer",
    [
        np.ones((1, 8), np.float32),
        np.full((2, 8), np.nan, np.float32),
    ],
    ids=["too few", "not finite"],
)
async def test_response_that_does_not_match_the_texts_is_requested_again(
    answer: Vectors,
) -> None:
    embedder = FakeEmbedder()
    embedder.answers = [answer]

    embedded = await EmbeddingService(embedder).embed(["a", "b"], [1, 1])

    assert embedder.requests == [["a", "b"]] * 2
    assert np.array_equal(embedded.vectors, np.stack([embedder.vector("a"), embedder.vector("b")]))


async def test_without_a_lane_wrong_dimension_is_not_blamed_on_a_text() -> None:
    embedder = FakeEmbedder()
    embedder.answers = [np.ones((2, 7), np.float32)] * 2

    with pytest.raises(Transient, match="7 dimensions instead of 8"):
        await EmbeddingService(embedder).embed(["a", "b"], [1, 1])


async def test_embedding_service_counts_calls_texts_and_tokens() -> None:
    embedder = FakeEmbedder(max_items=2)
    service = EmbeddingService(embedder)

    await service.embed(["a", "b", "c"], [5, 6, 7])

    assert service.counts == RequestCounts(calls=2, texts=3, tokens=18)


async def test_closing_fails_waiting_callers() -> None:
    embedder = FakeEmbedder(max_items=1)
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    waiting = [asyncio.create_task(service.embed([text], [1])) for text in "ab"]
    await asyncio.sleep(0.02)

    await service.close()

    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [Transient, Transient]
    assert embedder.closed


async def test_a_query_waits_for_no_other_callers() -> None:
    embedder = FakeEmbedder(max_items=100, concurrency=2)
    service = EmbeddingService(embedder, linger=timedelta(hours=1))

    async with asyncio.timeout(PATIENCE):
        await service.embed_query("question", 1)

    assert embedder.requests == [["question"]]
