"""Questions of people under the governor: ahead of jobs, and never kept waiting."""

import asyncio
from datetime import timedelta

import numpy as np
import pytest

from ingest.embedding.service import EmbeddingService
from ingest.errors import Transient
from ingest.governor import Governor
from ingest.postgres.database import Connection, Pool
from tests.db.providers.failures import limited
from tests.support.fake_embedder import FakeEmbedder
from tests.support.provider_lanes import LANE, configure, freeze
from tests.support.running_worker import truth_of, until


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder(lane=LANE, max_items=4, concurrency=4)


async def test_query_is_not_queued_behind_jobs(
    service: EmbeddingService, embedder: FakeEmbedder
) -> None:
    embedder.gate = asyncio.Event()
    waiting = [asyncio.create_task(service.embed(["job"] * 4, [1] * 4)) for _ in range(8)]
    await until(lambda: truth_of(embedder.under_way == 4))

    query = asyncio.create_task(service.embed_query("query", 1))
    await until(lambda: truth_of(["query"] in embedder.requests))
    embedder.gate.set()

    assert np.array_equal(await query, embedder.vector("query"))
    await asyncio.gather(*waiting)


@pytest.mark.parametrize(
    ("requests", "code"), [(1, "rate_limited"), (None, "embedding_unavailable")]
)
async def test_query_during_a_pause_gets_retry_after(
    service: EmbeddingService, pool: Pool, conn: Connection, requests: int | None, code: str
) -> None:
    if requests:
        await configure(conn, {LANE: {"requestsPerMinute": requests}})
        await service.embed_query("first", 1)
        await freeze(conn)
    else:
        await Governor(pool).record_failure(LANE, retry_after=timedelta(minutes=10))

    with pytest.raises(Transient) as caught:
        await service.embed_query("second", 1)

    assert caught.value.code == code
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > timedelta(seconds=5)


async def test_a_query_that_is_limited_fails_at_once_and_pauses_the_lane(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool
) -> None:
    embedder.failures = [limited(30)]

    with pytest.raises(Transient) as caught:
        await service.embed_query("query", 1)

    assert caught.value.retry_after == timedelta(seconds=30)
    assert await Governor(pool).current_hold(LANE) is not None


async def test_local_embedder_is_never_rate_limited(pool: Pool, conn: Connection) -> None:
    service = EmbeddingService(FakeEmbedder(), Governor(pool))

    await service.ready()
    await service.embed(["a"], [1])
    await service.embed_query("a", 1)

    assert await (await conn.execute("select count(*) from rag.lanes")).fetchone() == (0,)
