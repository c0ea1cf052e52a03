"""An application changes its embedding model: no query loses a hit, whatever happens meanwhile."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from ingest.errors import Permanent
from ingest.handlers.documents import reembed
from ingest.postgres.database import Connection
from ingest.store.queue import jobs
from ingest.store.search.hits import SearchHit
from ingest.worker.commit import commit
from tests.db.documents.reprocessing.changing_model import add_files, counts, until
from tests.db.documents.reprocessing.rechunk_fixtures import rows
from tests.support.model_change_fixtures import ModelChange
from tests.support.queue_builders import add_worker


async def test_all_documents_get_new_vectors_and_the_old_ones_are_dropped(
    change: ModelChange, conn: Connection
) -> None:
    texts = await add_files(change, 5)
    assert await counts(change) == (5, 5, 0)

    await change.request()
    finished = await change.reembed()

    assert finished.ended.status == "completed"
    assert finished.ended.result == {
        "documents": 5,
        "vectors": 10,
        "reusedVectors": 0,
        "refusedChunks": 0,
        "droppedVectors": 10,
    }
    assert await change.vectors(conn) == {change.new.model_id: 10}
    assert await counts(change) == (5, 0, 0)
    assert await rows(conn, "select * from rag.reembedded_documents") == []
    assert all([await change.found(text, limit=1) for text in texts])
    old_requests = change.old.embedder.calls
    await change.search(texts[0])
    assert change.old.embedder.calls == old_requests  # the old model is not asked any more


async def test_a_change_starts_with_one_request_for_many_small_documents(
    change: ModelChange,
) -> None:
    await add_files(change, 20)
    await change.request()
    await change.reembed()

    assert [len(request) for request in change.new.embedder.requests] == [40]


async def test_the_old_model_is_searched_until_the_new_one_is_complete(
    change: ModelChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = await add_files(change, 6)
    monkeypatch.setattr(reembed, "_DOCUMENTS", 2)
    monkeypatch.setattr(reembed, "_TIME_SLICE_SECONDS", -1.0)  # one batch per attempt
    await change.request()
    first = await change.search(texts[0])

    await commit(change.pool, [await change.attempt(await change.take())])

    assert await counts(change) == (6, 6, 2)
    asked_new = [request for request in change.new.embedder.requests if len(request) > 1]
    assert len(asked_new) == 1
    again = await change.search(texts[0])
    assert ids(again.hits) == ids(first.hits)  # not mixed with what is half ready
    await change.add(change.new, "fresh.txt", "fresh text")
    mixed = (await change.search(texts[0], limit=20)).hits
    others = [hit for hit in mixed if hit.content != "fresh text"]
    assert len(others) == len(mixed) - 1
    assert ids(others)[:10] == ids(first.hits)
    await change.reembed()
    assert await counts(change) == (7, 0, 0)


def ids(hits: Sequence[SearchHit]) -> list[UUID]:
    return [hit.chunk_id for hit in hits]


async def test_a_file_uploaded_meanwhile_is_found_beside_the_old_ones(
    change: ModelChange, conn: Connection
) -> None:
    texts = await add_files(change, 4)
    await change.add(change.new, "fresh.txt", "fresh text")

    assert await change.found("fresh text")
    assert all([await change.found(text) for text in texts])

    await change.request()
    await change.reembed()
    assert await change.found("fresh text", limit=1)
    assert await change.vectors(conn) == {change.new.model_id: 9}


async def test_an_unreachable_model_leaves_words_and_the_new_vectors(
    change: ModelChange, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = await add_files(change, 4)
    change.is_old_reachable = False

    answer = await change.search(texts[0], mode="hybrid")
    assert answer.hits[0].content == texts[0]
    assert [model.name for model in answer.lacks_models] == ["old"]
    assert (await change.search(texts[0])).hits == []

    monkeypatch.setattr(reembed, "_DOCUMENTS", 2)
    monkeypatch.setattr(reembed, "_TIME_SLICE_SECONDS", -1.0)
    await change.request()
    await commit(change.pool, [await change.attempt(await change.take())])
    found = [text for text in texts if await change.found(text, limit=1)]
    assert len(found) == 2

    await change.reembed()
    answer = await change.search(texts[3], mode="hybrid")
    assert answer.lacks_models == ()


async def test_a_changed_document_is_embedded_in_its_new_version(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 3)
    job_id = await change.request()
    job = await change.take()
    change.new.embedder.gate = asyncio.Event()
    running = asyncio.create_task(change.attempt(job))
    await until(lambda: change.new.embedder.calls > 0)

    await change.add(change.old, "old1.txt", "replaced by a process with the old settings")
    change.new.embedder.gate.set()
    finished = await running

    assert finished.ended.status == "completed"
    assert finished.ended.job.id == job_id
    await commit(change.pool, [finished])
    assert await change.vectors(conn) == {change.new.model_id: 5}
    assert await change.found("replaced by a process with the old settings", limit=1)
    assert not await change.found("old text 1", limit=5)


async def test_what_is_deleted_meanwhile_stays_deleted(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 3)
    await change.request()
    job = await change.take()
    change.new.embedder.gate = asyncio.Event()
    running = asyncio.create_task(change.attempt(job))
    await until(lambda: change.new.embedder.calls > 0)

    await conn.execute("delete from rag.documents where uri = 'old0.txt'")
    await conn.execute("update rag.knowledge_sources set deleted_at = now() where uri = 'old1.txt'")
    change.new.embedder.gate.set()
    await commit(change.pool, [await running])

    assert not await change.found("old text 0", limit=9)
    assert not await change.found("old text 1", limit=9)
    assert await change.found("old text 2", limit=1)
    [orphans] = await rows(
        conn,
        "select count(*) from rag.embeddings where chunk_id not in (select id from rag.chunks)",
    )
    assert orphans == (0,)


async def test_a_waiting_job_is_used_again(change: ModelChange) -> None:
    await add_files(change, 1)

    assert await change.request() == await change.request()


async def test_a_long_document_is_embedded_in_parts_that_are_kept(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "_CHUNKS", 4)
    lines = [f"line {number}" for number in range(11)]
    await change.add(change.old, "long.txt", "\n".join(lines))
    await change.request()
    failure = Permanent("the disk is full", code="internal")
    change.new.embedder.failures = [None, None, failure]
    failed = await change.attempt(await change.take())
    await commit(change.pool, [failed])

    assert failed.ended.status != "completed"
    assert await change.vectors(conn) == {change.old.model_id: 11, change.new.model_id: 8}
    assert await counts(change) == (1, 1, 0)
    await conn.execute("update rag.processing_jobs set status = 'pending', completed_at = null")
    await change.reembed()
    assert [len(request) for request in change.new.embedder.requests] == [4, 4, 3, 3]
    assert await change.vectors(conn) == {change.new.model_id: 11}


async def test_an_unchanged_file_is_not_read_again_after_the_change(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 1)
    await change.request()
    await change.reembed()

    source_id = await change.new.upload(change.application_id, "old0.txt", "old text 0\nold more 0")

    assert source_id is not None
    open_jobs = "select type from rag.processing_jobs where status = 'pending'"
    assert await rows(conn, open_jobs) == []


async def test_documents_cut_for_a_longer_limit_are_cut_again(
    change: ModelChange, conn: Connection
) -> None:
    await add_files(change, 1)
    await conn.execute(
        "update rag.documents set chunking = chunking || jsonb_build_object('size', 300)"
    )
    await change.request()
    await change.reembed()

    [queued] = await rows(conn, "select count(*) from rag.processing_jobs where type = 'rechunk'")
    assert queued == (1,)


async def test_a_change_of_hundreds_of_documents_under_load_loses_no_hit(
    change: ModelChange, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searches never stop, while a worker is killed, another goes on, and files come and go."""
    monkeypatch.setattr(reembed, "_DOCUMENTS", 16)
    monkeypatch.setattr(reembed, "_SECONDS_BETWEEN_DROPS", 0)
    monkeypatch.setattr(reembed, "_DROPPED_AT_ONCE", 50)
    texts = await add_files(change, 200)
    alive, lost, searches, is_over = set(texts), [], 0, False

    async def ask(start: int) -> None:
        nonlocal searches
        number = start
        while not is_over:
            number = (number + 7) % len(texts)
            text = texts[number]
            if text not in alive:
                continue
            if not await change.found(text, limit=4) and text in alive:
                lost.append(text)
            searches += 1

    asking = [asyncio.create_task(ask(start)) for start in range(3)]
    await change.request()
    job = await change.take()
    running = asyncio.create_task(change.attempt(job))
    await until(lambda: change.new.embedder.calls > searches + 6 or running.done())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    for number in range(5):
        text = f"new text {number}"
        await change.add(change.new, f"new{number}.txt", text)
        texts.append(text)
        alive.add(text)
    for number in range(5):
        alive.discard(texts[number])
        await conn.execute("delete from rag.documents where uri = %s", [f"old{number}.txt"])
    await conn.execute("update rag.processing_jobs set locked_at = now() - interval '1 hour'")
    await add_worker(conn)
    await jobs.recover(conn, stale_after=timedelta(minutes=2))
    await change.reembed()
    at_the_end = searches
    await until(lambda: searches > at_the_end + 10)
    is_over = True
    await asyncio.gather(*asking)

    assert lost == []
    assert await change.vectors(conn) == {change.new.model_id: 2 * 195 + 5}
    assert await counts(change) == (200, 0, 0)
