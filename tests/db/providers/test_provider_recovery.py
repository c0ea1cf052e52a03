"""A provider that was mended: who finds out, and when."""

from datetime import timedelta
from uuid import UUID

import pytest

from ingest.embedding.provider_watch import ProviderWatch
from ingest.embedding.service import EmbeddingService
from ingest.governor import Governor
from ingest.postgres.database import Connection, Pool
from tests.db.providers.waiting_jobs import UNAUTHORIZED, is_ready, waiting_job
from tests.support.fake_embedder import FakeEmbedder
from tests.support.provider_lanes import LANE, lane_row, pass_by
from tests.support.running_worker import truth_of, until


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder(lane=LANE, max_items=16, concurrency=4)


async def test_a_start_ends_the_pause_and_frees_what_waited_in_an_earlier_lane(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    before = FakeEmbedder(lane="acme/llm#oldkey00")
    before.mood = UNAUTHORIZED
    await EmbeddingService(before, Governor(pool)).check()
    waiting = await waiting_job(conn, application_id)
    after = EmbeddingService(FakeEmbedder(lane=LANE), Governor(pool))

    await after.check()

    assert await is_ready(conn, waiting)
    assert (await after.embed(["a"], [1])).refused == {}


async def test_a_change_to_an_embedder_of_this_process_frees_what_waited(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    waiting = await waiting_job(conn, application_id)

    await EmbeddingService(FakeEmbedder(lane=None), Governor(pool)).check()

    assert await is_ready(conn, waiting)


async def test_a_start_with_the_same_settings_finds_out_that_the_provider_was_mended(
    service: EmbeddingService, embedder: FakeEmbedder, other_service: EmbeddingService
) -> None:
    embedder.mood = UNAUTHORIZED
    await service.check()
    embedder.mood = None

    await other_service.check()

    assert (await service.embed(["a"], [1])).refused == {}
    assert embedder.requests == [["ping"], ["ping"], ["a"]]


async def test_startup_check_respects_retry_after(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool
) -> None:
    await Governor(pool).record_rate_limit(LANE, retry_after=timedelta(minutes=5))

    await service.check()

    assert embedder.calls == 0


async def test_provider_watch_reports_at_start_and_resumes_jobs_later(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection, application_id: UUID
) -> None:
    embedder.mood = UNAUTHORIZED
    watch = ProviderWatch(service)
    watch.start()
    await until(lambda: truth_of(embedder.calls == 1))
    waiting = await waiting_job(conn, application_id)
    embedder.mood = None

    async def freed() -> bool:
        await pass_by(conn, 61)
        return await is_ready(conn, waiting)

    await until(freed)
    await watch.close()


async def test_an_operator_ends_all_pauses_and_a_provider_that_still_fails_is_tried_once(
    service: EmbeddingService, embedder: FakeEmbedder, pool: Pool, conn: Connection
) -> None:
    embedder.mood = UNAUTHORIZED
    for _ in range(8):
        await service.check()
        await pass_by(conn, 61)
    await service.check()
    before = embedder.calls

    ended = await Governor(pool).end_pauses()
    await service.watch()

    assert ended == [LANE]
    assert embedder.calls == before + 1
    row = await lane_row(conn)
    assert (row["pause_reason"], row["failures"]) == ("provider_unavailable", 4)
