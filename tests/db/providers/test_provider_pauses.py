"""Providers that the operator has paused, on a real Postgres."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import pytest

from harness.pools import pool_across_applications
from ingest.embedding.service import EmbeddingService
from ingest.errors import Snooze, Transient
from ingest.governor import Governor
from ingest.model import Vectors
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.limits import provider_pauses
from tests.support.fake_embedder import FakeEmbedder
from tests.support.provider_lanes import LANE
from tests.support.queue_builders import enqueue, job_row

NAME = "acme/llm"


async def pause(conn: Connection, name: str = NAME, note: str | None = None) -> None:
    await provider_pauses.pause(conn, name, note=note)


async def waiting_job(conn: Connection, application_id: UUID) -> UUID:
    [job] = await enqueue(conn, application_id, 1)
    await conn.execute(
        "update rag.processing_jobs set run_at = now() + interval '15 minutes',"
        " wait_reason = 'provider_paused', last_error_code = 'provider_paused' where id = %s",
        [job],
    )
    return job


async def is_ready(conn: Connection, job: UUID) -> bool:
    row = await job_row(conn, job)
    return row["run_at"] is None and row["wait_reason"] is None


@pytest.fixture(params=[LANE, None], ids=["endpoint", "in-process"])
async def embedder(request: pytest.FixtureRequest) -> FakeEmbedder:
    return FakeEmbedder(lane=request.param, max_items=1)


@pytest.fixture
async def service(embedder: FakeEmbedder, pool: Pool) -> AsyncIterator[EmbeddingService]:
    opened = EmbeddingService(embedder, Governor(pool))
    yield opened
    await opened.close()


def name_of(embedder: FakeEmbedder) -> str:
    model = embedder.model
    return NAME if embedder.lane else f"{model.provider}/{model.name}"


async def test_jobs_that_begin_together_ask_once(
    service: EmbeddingService,
    embedder: FakeEmbedder,
    conn: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    question = "current_hold" if embedder.lane else "is_stopped"
    answer = getattr(Governor, question)

    async def ask(governor: Governor, lane: str) -> object:
        asked.append(lane)
        return await answer(governor, lane)

    monkeypatch.setattr(Governor, question, ask)

    await asyncio.gather(*(service.ready() for _ in range(20)))
    assert len(asked) == 1
    await pause(conn, name_of(embedder))  # known to all that ask from now on
    refused = await asyncio.gather(*(service.ready() for _ in range(20)), return_exceptions=True)

    assert {type(error) for error in refused} == {Snooze}
    assert len(asked) == 2


@pytest.mark.parametrize("name", [NAME, LANE, f"{LANE}@0a1b2c3d"])
async def test_a_lane_is_paused_by_each_of_its_names(
    pool: Pool, conn: Connection, name: str
) -> None:
    governor = Governor(pool)

    await pause(conn, name)

    assert await governor.is_stopped(f"{LANE}@0a1b2c3d")
    assert await governor.current_hold(f"{LANE}@0a1b2c3d") is not None
    hold = await governor.reserve(f"{LANE}@0a1b2c3d")
    assert hold is not None
    assert hold.reason == "provider_paused"
    assert await governor.reserve("acme/other#12345678") is None


async def test_a_paused_provider_gets_no_request_of_a_job(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    await pause(conn, name_of(embedder))

    for ask in (service.ready(), service.embed(["a"], [1])):
        with pytest.raises(Snooze, match="operator has paused") as caught:
            await ask
        assert (caught.value.reason, caught.value.code) == ("provider_paused", "provider_paused")

    assert embedder.requests == []


async def test_a_job_that_starts_after_the_pause_waits(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    await service.embed(["before"], [1])
    await pause(conn, name_of(embedder))

    with pytest.raises(Snooze):
        await service.ready()


async def test_a_paused_provider_is_not_asked_for_a_question(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection
) -> None:
    await pause(conn, name_of(embedder))

    with pytest.raises(Transient, match="operator has paused") as caught:
        await service.embed_query("a", 1)

    assert caught.value.code == "provider_paused"
    assert embedder.requests == []


async def test_neither_a_start_nor_the_watch_asks_a_paused_provider(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection, application_id: UUID
) -> None:
    await pause(conn, name_of(embedder))
    waiting = await waiting_job(conn, application_id)

    await service.check()
    await service.watch()

    assert embedder.requests == []
    assert not await is_ready(conn, waiting)


async def test_a_request_that_runs_when_the_pause_begins_keeps_its_vectors(
    pool: Pool, conn: Connection
) -> None:
    class Interrupted(FakeEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            await pause(conn)
            return await super().embed(texts)

    embedder = Interrupted(lane=LANE, max_items=1)
    service = EmbeddingService(embedder, Governor(pool))
    stored: list[int] = []

    async def keep(indices: object, vectors: object) -> None:
        stored.append(len(embedder.requests))

    with pytest.raises(Snooze):
        await service.embed(["first", "second"], [1, 1], on_vectors=keep)

    assert embedder.requests == [["first"]]
    assert stored == [1]
    await service.close()


async def test_of_two_operators_the_first_is_remembered(dsn: str, conn: Connection) -> None:
    async with pool_across_applications(dsn, size=2, application_name="tests") as pool:

        async def by(note: str) -> str | None:
            async with transaction(pool) as own:
                return (await provider_pauses.pause(own, NAME, note=note)).note

        notes = await asyncio.gather(by("Ada"), by("Bob"))
    await pause(conn, "acme/other", "Cy")

    assert len(set(notes)) == 1
    found = await provider_pauses.paused(conn)
    assert {name: pause.note for name, pause in found.items()} == {
        NAME: notes[0],
        "acme/other": "Cy",
    }


async def test_ending_one_pause_keeps_the_others(conn: Connection) -> None:
    await pause(conn)
    await pause(conn, "acme/other")

    ended = [await provider_pauses.resume(conn, NAME) for _ in range(2)]

    assert ended == [True, False]
    assert list(await provider_pauses.paused(conn)) == ["acme/other"]


async def test_the_watch_wakes_jobs_that_the_killed_request_to_resume_left(
    service: EmbeddingService, embedder: FakeEmbedder, conn: Connection, application_id: UUID
) -> None:
    await pause(conn, name_of(embedder))
    await service.watch()
    left = await waiting_job(conn, application_id)
    await provider_pauses.resume(conn, name_of(embedder))

    await service.watch()
    late = await waiting_job(conn, application_id)  # it saw the pause before its end
    woken = await is_ready(conn, left), await is_ready(conn, late)
    await service.watch()

    assert woken == (True, False)
    assert await is_ready(conn, late)


@pytest.mark.parametrize("value", ["[]", '"x"', '{"acme/llm": 1}', '{"acme/llm": {"at": "soon"}}'])
async def test_a_value_changed_by_hand_can_be_read_and_mended(conn: Connection, value: str) -> None:
    await conn.execute(
        "insert into rag.worker_config (key, value) values ('pauses', %s::jsonb)", [value]
    )

    await provider_pauses.paused(conn)
    await pause(conn)
    await provider_pauses.resume(conn, NAME)

    assert await provider_pauses.paused(conn) == {}
