"""Applications take turns at the embedder, and are charged for a local one."""

import asyncio
from collections import defaultdict
from uuid import UUID

import pytest

from ingest.embedding.service import EmbeddingService
from tests.support.fake_embedder import FakeEmbedder, FakeQueryEmbedder

A, B = UUID(int=1), UUID(int=2)


async def test_one_call_does_not_wait_for_many_of_another_application() -> None:
    embedder = FakeEmbedder(max_items=2)
    embedder.gate = asyncio.Event()
    service = EmbeddingService(embedder)
    calls = [
        asyncio.create_task(service.embed([f"a{n}.1", f"a{n}.2"], [1, 1], owner=A))
        for n in range(6)
    ]
    await asyncio.sleep(0)
    calls.append(asyncio.create_task(service.embed(["b1", "b2"], [1, 1], owner=B)))
    await asyncio.sleep(0)
    embedder.gate.set()
    await asyncio.gather(*calls)
    await service.close()

    # The first is under way, the second has its turn before a second call of A.
    assert embedder.requests.index(["b1", "b2"]) <= 2
    assert len(embedder.requests) == 7


async def test_calls_of_one_application_are_served_in_order() -> None:
    embedder = FakeEmbedder(max_items=2)
    service = EmbeddingService(embedder)
    await asyncio.gather(*(service.embed([f"{n}.1", f"{n}.2"], [1, 1], owner=A) for n in range(5)))
    await service.close()

    assert [first for first, _ in embedder.requests] == [f"{n}.1" for n in range(5)]


@pytest.mark.parametrize("lane", [None, "openai/x"])
async def test_the_time_of_a_local_embedder_is_charged_by_tokens(lane: str | None) -> None:
    charged: defaultdict[UUID, float] = defaultdict(float)

    def charge(owner: UUID, seconds: float) -> None:
        charged[owner] += seconds

    service = EmbeddingService(FakeEmbedder(max_items=4, lane=lane), on_cost=charge)
    await asyncio.gather(
        service.embed(["a b c"], [3], owner=A),
        service.embed(["d"], [1], owner=B),
        service.embed(["a query"], [2]),
    )
    await service.close()

    if lane is None:
        assert set(charged) == {A, B}
        assert charged[A] == pytest.approx(3 * charged[B])
    else:
        assert charged == {}


async def test_questions_and_passages_never_share_a_request() -> None:
    embedder = FakeQueryEmbedder(max_items=8)
    service = EmbeddingService(embedder)
    embedder.gate = asyncio.Event()
    calls = [
        asyncio.create_task(service.embed(["first"], [1], owner=A)),
        asyncio.create_task(service.embed(["passage"], [1], owner=B)),
        asyncio.create_task(service.embed_query("question", 1)),
    ]
    await asyncio.sleep(0)
    embedder.gate.set()
    await asyncio.gather(*calls)
    await service.close()

    assert embedder.queries == [["question"]]
    assert sorted(text for texts in embedder.requests for text in texts) == [
        "first",
        "passage",
        "question",
    ]
