"""The embedding service under its governor, on a real Postgres."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from ingest.embedding.earlier_models import EarlierModels
from ingest.embedding.service import EmbeddingService
from ingest.errors import Snooze, Transient
from ingest.governor import Governor, Hold
from ingest.postgres.database import Connection, Pool
from ingest.providers.embedders.base import Embedder, ProviderFault
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.limits.provider_lanes import Cause
from tests.db.providers.failures import limited
from tests.support.crawl.crawl_fixtures import html, site_house
from tests.support.fake_embedder import FakeEmbedder, FakeQueryEmbedder
from tests.support.provider_lanes import LANE, configure, lane_row, pass_by
from tests.support.running_worker import until

_MINUTE = timedelta(minutes=1)


def unavailable(seconds: float | None = None) -> Transient:
    wait = None if seconds is None else timedelta(seconds=seconds)
    return Transient("HTTP 503", code="embedding_unavailable", retry_after=wait)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder(lane=LANE, max_items=4, concurrency=4)


async def test_a_storm_of_429s_reaches_no_caller(
    service: EmbeddingService, embedder: FakeEmbedder
) -> None:
    embedder.failures = [limited(0.02), None, limited(0.01), limited(0.02), None] * 4
    texts = [[f"text {caller}.{number}" for number in range(6)] for caller in range(10)]

    answers = await asyncio.gather(*(service.embed(own, [1] * 6) for own in texts))

    for own, answer in zip(texts, answers, strict=True):
        assert np.array_equal(answer.vectors, np.stack([embedder.vector(text) for text in own]))
    assert service.counts.rate_limited == 12
    assert service.counts.texts == 60


async def test_a_limited_provider_is_told_which_texts_are_questions(pool: Pool) -> None:
    embedder = FakeQueryEmbedder(lane=LANE)
    service = EmbeddingService(embedder, Governor(pool))

    await service.embed_query("question", 1)
    await service.embed(["passage"], [1])
    await service.close()

    assert embedder.queries == [["question"]]
    assert embedder.requests == [["question"], ["passage"]]


async def test_an_earlier_model_is_asked_again_once_its_provider_is_back(
    pool: Pool, conn: Connection
) -> None:
    embedder = FakeEmbedder(lane=LANE)
    stored = StoredModel(
        id=1,
        provider=embedder.model.provider,
        name=embedder.model.name,
        dimension=embedder.model.dimension,
        config={},
    )

    async def rebuild(model: StoredModel) -> Embedder:
        return embedder

    models = EarlierModels(rebuild, Governor(pool))
    await models.embed_query(stored, "before")
    embedder.mood = ProviderFault("HTTP 401", code="embedding_unauthorized")
    with pytest.raises(Transient):
        await models.embed_query(stored, "meanwhile")
    embedder.mood = None

    async def answers() -> bool:
        try:
            await models.embed_query(stored, "after")
        except Transient:
            return False
        return True

    await until(answers)
    await models.close()


async def test_rate_limited_request_is_sent_again(
    service: EmbeddingService, embedder: FakeEmbedder
) -> None:
    embedder.failures = [limited(0.01), limited(0.01)]

    await service.embed(["a", "b"], [1, 1])

    assert embedder.requests == [["a", "b"]] * 3


async def test_cancelled_caller_causes_no_request_after_a_pause(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool, conn: Connection
) -> None:
    await Governor(pool).record_rate_limit(LANE, retry_after=timedelta(seconds=20))
    waiting = asyncio.create_task(service.embed(["a"], [1]))
    await asyncio.sleep(0.02)

    waiting.cancel()
    await pass_by(conn, 20)
    await service.embed(["b"], [1])

    assert embedder.requests == [["b"]]


async def test_a_caller_that_goes_while_the_lane_is_asked_causes_no_request(
    embedder: FakeEmbedder, pool: Pool
) -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    class Slow(Governor):
        async def reserve(self, *args: Any, **options: Any) -> Hold | None:
            hold = await super().reserve(*args, **options)
            asked.set()
            await may_answer.wait()
            return hold

    service = EmbeddingService(embedder, Slow(pool))
    going = asyncio.create_task(service.embed(["a"], [1]))
    await asked.wait()

    going.cancel()
    may_answer.set()
    await service.embed(["b"], [1])
    await service.close()

    assert embedder.requests == [["b"]]


async def test_long_pause_snoozes_the_job(
    service: EmbeddingService, embedder: FakeEmbedder
) -> None:
    embedder.failures = [limited(60)]

    with pytest.raises(Snooze) as caught:
        await service.embed(["a"], [1])

    assert embedder.calls == 1
    assert (caught.value.reason, caught.value.code) == ("rate_limited", "rate_limited")
    assert timedelta(seconds=50) < caught.value.delay <= 1.25 * _MINUTE


async def test_work_is_not_started_during_a_long_pause(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool
) -> None:
    await service.ready()
    await Governor(pool).record_rate_limit(LANE, retry_after=_MINUTE)

    with pytest.raises(Snooze, match="rate limit"):
        await service.ready()
    with pytest.raises(Snooze):
        await service.embed(["a"], [1])
    assert embedder.calls == 0


async def test_short_pause_does_not_delay_preparation(
    service: EmbeddingService, pool: Pool
) -> None:
    await Governor(pool).record_rate_limit(LANE, retry_after=timedelta(seconds=5))

    await service.ready()


async def test_failures_reach_their_callers_until_the_lane_pauses(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    embedder.failures = [unavailable()] * 3
    for _ in range(2):
        with pytest.raises(Transient, match="503"):
            await service.embed(["a"], [1])

    third = asyncio.create_task(service.embed(["a"], [1]))
    while not third.done():
        await asyncio.sleep(0.01)
        await pass_by(conn, 1)

    assert np.array_equal((await third).vectors[0], embedder.vector("a"))
    # After the pause something harmless is tried first, whatever the text may do to a provider.
    assert embedder.requests == [["a"]] * 3 + [["ping"], ["a"]]
    assert (await lane_row(conn))["failures"] == 0


async def test_a_long_outage_spends_no_attempt(
    service: EmbeddingService, embedder: FakeEmbedder
) -> None:
    embedder.failures = [unavailable(600)]

    with pytest.raises(Snooze) as caught:
        await service.embed(["a"], [1])

    assert (caught.value.reason, caught.value.code) == (
        "provider_unavailable",
        "embedding_unavailable",
    )


async def test_text_that_breaks_the_provider_exhausts_its_attempts(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection, pool: Pool
) -> None:
    embedder.moods = {"poison": unavailable()}
    # As after pauses of 1, 2, 4, 8, 16 and 32 seconds.
    await Governor(pool).record_failure(LANE)
    await conn.execute("update rag.lanes set failures = 8")

    with pytest.raises(Transient, match="503"):
        await service.embed(["poison"], [1])
    await service.embed(["another"], [1])


async def test_refused_request_counts_as_provider_available(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool, conn: Connection
) -> None:
    for _ in range(2):
        await Governor(pool).record_failure(LANE)
    embedder.refuses = {"a"}

    await service.embed(["a"], [1])

    assert (await lane_row(conn))["failures"] == 0


async def test_a_request_larger_than_the_burst_goes_in_parts(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    await configure(conn, {LANE: {"tokensPerMinute": 1000}})
    await service.embed(["first"], [100])
    running = asyncio.create_task(service.embed(["a", "b", "c", "d"], [50] * 4))

    while not running.done():
        await asyncio.sleep(0.01)
        await pass_by(conn, 1)

    assert embedder.requests == [["first"], ["a", "b"], ["c", "d"]]


async def test_a_lost_database_fails_the_callers_and_loses_nothing_that_was_paid_for(
    embedder: FakeEmbedder, pool: Pool
) -> None:
    service = EmbeddingService(embedder, _Forgetful(pool))
    embedder.failures = [None, limited(1)]

    paid = await service.embed(["a"], [1])
    with pytest.raises(psycopg.OperationalError):
        await service.embed(["b"], [1])

    assert np.array_equal(paid.vectors[0], embedder.vector("a"))


class _Forgetful(Governor):
    """Reserves, but loses the database before it can be told of the outcome."""

    async def record_rate_limit(
        self, lane: str, *, retry_after: timedelta | None = None, cause: Cause | None = None
    ) -> None:
        raise psycopg.OperationalError

    async def record_success(self, lane: str, *, wakes_jobs: bool = True) -> None:
        raise psycopg.OperationalError


async def test_a_page_is_not_fetched_while_the_provider_is_paused(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html("Home.")}) as house:
        house.embedder.lane = LANE
        await house.governor.record_failure(LANE, retry_after=timedelta(minutes=10))
        await house.start(application_id, type="url")
        [job] = await house.claim()

        finished = await house.carry_out(job)

        assert finished is not None
        assert finished.ended.wait_reason == "provider_unavailable"
        assert house.web.paths == []
