"""Embedding providers that fail, and texts that they fail on: who suffers, and for how long."""

import asyncio
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from structlog.testing import capture_logs

from harness.patience import PATIENCE
from ingest.embedding.service import EmbeddingService
from ingest.errors import Snooze, Transient
from ingest.model import Vectors
from ingest.postgres.database import Connection
from ingest.providers.embedders.base import ProviderFault, mismatch_error
from tests.db.providers.waiting_jobs import UNAUTHORIZED, is_ready, waiting_job
from tests.support.fake_embedder import FakeEmbedder
from tests.support.provider_lanes import LANE, lane_row, pass_by

BAD_GATEWAY = ProviderFault("HTTP 502", code="embedding_unavailable", status=502)


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder(lane=LANE, max_items=16, concurrency=4)


def short(count: int) -> Vectors:
    return np.ones((count, 8), np.float32)


# -- texts


@pytest.mark.parametrize(
    "mood",
    [
        short(0),
        short(30),
        np.zeros((4, 3), np.float32),
        mismatch_error("a vector of zeros"),
        BAD_GATEWAY,
    ],
    ids=["fewer", "more", "another dimension", "zeros", "502"],
)
async def test_only_the_file_with_the_unusable_text_is_affected(
    service: EmbeddingService, embedder: FakeEmbedder, mood: Any
) -> None:
    embedder.moods = {"poison": mood}
    files = [["a", "b", "c"], ["d", "poison", "e"], ["f", "g"]]

    first, bad, last = await asyncio.gather(
        *(service.embed(texts, [1] * len(texts)) for texts in files), return_exceptions=True
    )

    assert len(embedder.requests[0]) == 8  # they were asked for together
    for texts, answer in ((files[0], first), (files[2], last)):
        assert not isinstance(answer, BaseException)
        assert np.array_equal(answer.vectors, np.stack([embedder.vector(text) for text in texts]))
        assert answer.refused == {}
    if mood is BAD_GATEWAY:
        assert bad is BAD_GATEWAY  # an attempt of its own job
    else:
        assert not isinstance(bad, BaseException)
        assert set(bad.refused) == bad.unusable == {1}
        assert np.array_equal(bad.vectors[[0, 2]], np.stack([embedder.vector(t) for t in "de"]))
    assert (await service.embed(["h"], [1])).refused == {}


async def test_single_wrong_answer_is_requested_again(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    embedder.answers = [short(1)]

    embedded = await service.embed(["a", "b"], [1, 1])

    assert embedded.refused == {}
    assert embedder.requests == [["a", "b"], ["ping"], ["a", "b"]]
    assert (await lane_row(conn))["failures"] == 0


async def test_a_model_of_another_dimension_is_the_provider_s_fault_and_no_file_s(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    embedder.mood = mismatch_error("vectors of 3 dimensions instead of 8")

    files = [service.embed([f"{file}.{n}" for n in range(4)], [1] * 4) for file in range(10)]
    async with asyncio.timeout(PATIENCE):
        ends = await asyncio.gather(*files, return_exceptions=True)

    assert {type(end) for end in ends} == {Snooze}
    assert {end.code for end in ends if isinstance(end, Snooze)} == {"embedding_mismatch"}
    assert "3 dimensions instead of 8" in (await lane_row(conn))["error_message"]


# -- causes


async def test_pause_cause_is_shared_with_other_processes(
    service: EmbeddingService,
    embedder: FakeEmbedder,
    other_service: EmbeddingService,
    conn: Connection,
) -> None:
    embedder.mood = UNAUTHORIZED
    await service.check()
    await conn.execute("update rag.lanes set paused_until = now() + interval '1 minute'")

    with pytest.raises(Snooze) as job:
        await other_service.embed(["a"], [1])
    with pytest.raises(Transient) as person:
        await other_service.embed_query("a", 1)

    row = await lane_row(conn)
    assert (row["error_code"], row["error_status"]) == ("embedding_unauthorized", 401)
    assert row["failing_since"] is not None
    for caught in (job.value, person.value):
        assert (caught.code, str(caught)) == ("embedding_unauthorized", str(UNAUTHORIZED))


async def test_a_cause_is_logged_when_it_changes_and_not_for_every_job(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    with capture_logs() as logged:
        for mood in (UNAUTHORIZED, UNAUTHORIZED, BAD_GATEWAY, None):
            embedder.mood = mood
            await pass_by(conn, 61)
            await service.check()

    told = [(line["event"], line.get("code")) for line in logged]
    assert told == [
        ("provider.failing", "embedding_unauthorized"),
        ("provider.failing", "embedding_unavailable"),
        ("provider.back", None),
    ]


async def test_an_outage_costs_no_attempt_however_long_it_is(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    embedder.mood = BAD_GATEWAY
    ends: list[type] = []

    for _ in range(15):
        embedding = asyncio.create_task(service.embed(["a"], [1]))
        while not embedding.done():
            await asyncio.sleep(0.01)
            await pass_by(conn, 1)
        ends.append(type(embedding.exception()))
        await pass_by(conn, 61)

    assert set(ends) == {Snooze}
    # All but the first were tried with something that costs nothing.
    assert embedder.requests.count(["a"]) == 1


# -- the way back


async def test_waiting_jobs_resume_when_the_probe_text_is_embedded(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection, application_id: UUID
) -> None:
    embedder.mood = UNAUTHORIZED
    await service.check()
    waiting = [await waiting_job(conn, application_id) for _ in range(3)]
    embedder.mood = None
    await service.watch()
    during_the_pause = [await is_ready(conn, id) for id in waiting]

    await pass_by(conn, 61)
    await service.watch()

    assert during_the_pause == [False] * 3
    assert [await is_ready(conn, id) for id in waiting] == [True] * 3
    row = await lane_row(conn)
    assert (row["failures"], row["error_code"], row["failing_since"]) == (0, None, None)


async def test_a_flapping_provider_is_tried_by_a_request_of_each_process_at_most(
    service: EmbeddingService,
    embedder: FakeEmbedder,
    other_service: EmbeddingService,
    conn: Connection,
) -> None:
    for _ in range(4):
        embedder.mood = BAD_GATEWAY
        await service.check()
        await pass_by(conn, 61)
        embedder.mood = None
        before = embedder.calls

        embedded = await asyncio.gather(
            *(which.embed([f"{n}"], [1]) for n, which in enumerate([service, other_service] * 5))
        )

        assert [answer.refused for answer in embedded] == [{}] * 10
        assert 1 <= embedder.requests[before:].count(["ping"]) <= 2


async def test_a_person_waits_five_seconds_for_a_provider_that_hangs(
    service: EmbeddingService, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.embedding.retry_and_split._QUERY_SECONDS", 0.2)
    embedder.gate = asyncio.Event()

    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Transient, match="no response within") as caught:
            await service.embed_query("a", 1)

    assert caught.value.code == "embedding_unavailable"


async def test_failed_query_triggers_a_provider_check(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    embedder.answers = [short(2)]
    with pytest.raises(Transient) as caught:
        await service.embed_query("a", 1)
    embedder.mood = BAD_GATEWAY

    for _ in range(3):
        await service.watch()

    assert caught.value.code == "embedding_mismatch"
    assert (await lane_row(conn))["error_code"] == "embedding_unavailable"
    assert (await lane_row(conn))["pause_reason"] == "provider_unavailable"
