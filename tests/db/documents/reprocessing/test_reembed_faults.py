"""A change of the model that is killed, late, doubled or refused loses and doubles no vector."""

import asyncio
from datetime import timedelta

import pytest

from ingest.errors import LeaseLost, Snooze
from ingest.handlers.context import Progress
from ingest.handlers.documents import reembed
from ingest.postgres.database import Connection, transaction
from ingest.store.embeddings import model_changes
from ingest.store.queue import jobs
from ingest.worker.commit import commit
from tests.db.documents.reprocessing.changing_model import add_files, counts, until
from tests.support.model_change_fixtures import ModelChange


async def test_a_killed_worker_loses_one_batch_at_most(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = await add_files(change, 8)
    monkeypatch.setattr(reembed, "_DOCUMENTS", 2)
    await change.request()
    job = await change.take()
    embedder = change.new.embedder
    running = asyncio.create_task(change.attempt(job))
    await until(lambda: embedder.calls == 3 or running.done())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    await conn.execute("update rag.processing_jobs set locked_at = now() - interval '1 hour'")
    await jobs.recover(conn, stale_after=timedelta(minutes=2))
    await change.reembed()

    sent = [text for request in embedder.requests for text in request]
    assert len(set(sent)) == 16
    assert len(sent) <= 16 + 4
    assert await change.vectors(conn) == {change.new.model_id: 16}
    assert all([await change.found(text, limit=1) for text in texts])


async def test_a_worker_that_lost_its_job_writes_nothing(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 2)
    await change.request()
    stale = await change.take()
    await conn.execute("update rag.processing_jobs set fence = fence + 1 where type = 'reembed'")

    with pytest.raises(LeaseLost):
        await reembed.reembed_application(stale, change.new.context, Progress(stale))

    assert await change.vectors(conn) == {change.old.model_id: 4}


async def test_a_worker_with_the_old_settings_leaves_the_job_to_others(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 2)
    await change.request()

    finished = await change.attempt(await change.take(), change.old.context)

    assert (finished.ended.status, finished.ended.wait_reason) == ("pending", "other_model")
    assert finished.ended.refund
    assert await change.vectors(conn) == {change.old.model_id: 4}


async def test_two_jobs_at_once_store_each_vector_once(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = await add_files(change, 10)
    monkeypatch.setattr(reembed, "_DOCUMENTS", 2)
    await change.request()
    first = await change.take()
    assert await change.request() != first.id
    second = await change.take()

    ends = await asyncio.gather(change.reembed(first), change.reembed(second))

    assert [end.ended.status for end in ends] == ["completed", "completed"]
    assert await change.vectors(conn) == {change.new.model_id: 20}
    assert all([await change.found(text, limit=1) for text in texts])


async def test_a_refused_text_keeps_no_document_from_changing_over(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 2)
    await change.add(change.old, "bad.txt", "refused")
    change.new.embedder.refuses = {"refused", "old more 0"}
    await change.request()

    finished = await change.reembed()

    assert finished.ended.result is not None
    assert finished.ended.result["refusedChunks"] == 2
    assert await counts(change) == (3, 0, 0)
    assert await change.vectors(conn) == {change.new.model_id: 3}
    answer = await change.search("refused", mode="hybrid")
    assert answer.hits[0].content == "refused"


async def test_a_batch_that_is_refused_as_a_whole_is_found_by_words(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "_DOCUMENTS", 1)
    await change.add(change.old, "bad.txt", "refused")
    await add_files(change, 1)
    change.new.embedder.refuses = {"refused"}
    await change.request()

    finished = await change.reembed()

    assert finished.ended.status == "completed"
    assert await counts(change) == (2, 0, 0)
    assert (await change.search("refused", mode="hybrid")).hits[0].content == "refused"


async def test_a_long_document_goes_on_after_a_part_that_is_refused(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "_CHUNKS", 2)
    await change.add(change.old, "long.txt", "bad 0\nbad 1\ngood 0\ngood 1")
    change.new.embedder.refuses = {"bad 0", "bad 1"}
    await change.request()

    finished = await change.reembed()

    assert finished.ended.status == "completed"
    assert await change.vectors(conn) == {change.new.model_id: 2}


async def _fill_two_of_three(change: ModelChange, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_files(change, 3)
    monkeypatch.setattr(reembed, "_DOCUMENTS", 2)
    monkeypatch.setattr(reembed, "_TIME_SLICE_SECONDS", -1.0)
    await change.request()
    await commit(change.pool, [await change.attempt(await change.take())])


async def test_nothing_changes_over_while_one_document_lacks_its_vectors(
    change: ModelChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill_two_of_three(change, monkeypatch)

    async with transaction(change.pool.of(change.application_id)) as conn:
        done = await model_changes.switch(conn, change.application_id, change.new.model_id)

    assert not done
    assert await counts(change) == (3, 3, 2)


async def test_a_change_that_is_taken_back_forgets_what_was_marked_under_the_lock_of_its_sources(
    change: ModelChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill_two_of_three(change, monkeypatch)
    marked = await counts(change)

    async with transaction(change.pool.of(change.application_id)) as conn:
        done = await model_changes.switch(conn, change.application_id, change.old.model_id)

    # The lock itself is checked by the recorder of locks.
    assert (done, marked, await counts(change)) == (True, (3, 3, 2), (3, 3, 0))


async def test_a_paused_provider_makes_the_job_wait_and_loses_nothing(
    change: ModelChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = await add_files(change, 4)
    monkeypatch.setattr(reembed, "_DOCUMENTS", 1)
    await change.request()
    pause = Snooze(timedelta(minutes=1), reason="rate_limited", code="rate_limited", message="wait")
    change.new.embedder.failures = [None, pause]

    finished = await change.attempt(await change.take())

    assert (finished.ended.status, finished.ended.refund) == ("pending", True)
    assert (await counts(change))[2] == 1
    assert all([await change.found(text) for text in texts])
