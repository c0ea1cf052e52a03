"""Documents are cut again while others change them: nothing is lost, and nothing is overwritten."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from ingest.errors import Permanent
from ingest.handlers.documents import rechunk
from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import chunking
from ingest.store.documents.chunking import AppliedChunking
from ingest.store.sources import source_control
from ingest.worker.commit import commit
from tests.db.documents.reprocessing.rechunk_fixtures import (
    RechunkHouse,
    add_document,
    queued,
    rows,
    sizes,
)
from tests.support.queue_builders import job_row, make_due, source_row
from tests.support.running_worker import until


async def test_job_being_claimed_does_not_cover_newer_settings(
    rechunker: RechunkHouse, conn: Connection, pool: Pool, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 50)
    await rechunker.set_of_source(application_id, source_id, size=40)

    async with transaction(pool) as claiming:
        await claiming.execute(
            "select id from rag.processing_jobs where type = 'rechunk' for update"
        )
        await rechunker.set_of_source(application_id, source_id, size=41)

    assert await queued(conn) == [source_id, source_id]


async def test_document_chunked_with_outdated_settings_is_rechunked(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.upload(application_id, "a.txt", "one two three")
    finished = await rechunker.attempt(await rechunker.take("file"))
    assert finished is not None

    await rechunker.set_of_application(application_id, size=50)
    assert await queued(conn) == []
    await commit(rechunker.pool, [finished])

    assert await queued(conn) == [source_id]


async def test_a_document_that_changed_meanwhile_is_left_alone(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)
    job = await rechunker.take()

    async def upload_another() -> None:
        rechunker.parser.on_rechunk = None
        await rechunker.upload(application_id, "a.txt", "new words of a new version")
        await rechunker.carry_out(await rechunker.take("file"))

    rechunker.parser.on_rechunk = lambda _: upload_another()
    finished = await rechunker.carry_out(job)

    assert await sizes(conn, source_id) == [6]
    assert finished.ended.result is not None
    assert finished.ended.result["changedMeanwhile"] == 1


@pytest.mark.parametrize(("changes", "cut", "changed"), [(1, 1, 0), (2, 1, 0), (9, 0, 1)])
async def test_document_changed_during_rechunk_is_retried_a_few_times(
    rechunker: RechunkHouse,
    conn: Connection,
    application_id: UUID,
    changes: int,
    cut: int,
    changed: int,
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)
    job = await rechunker.take()
    looks = 0

    async def touch() -> None:
        nonlocal looks
        looks += 1
        if looks <= changes:
            await conn.execute("update rag.documents set updated_at = clock_timestamp()")

    rechunker.parser.on_rechunk = lambda _: touch()
    finished = await rechunker.carry_out(job)

    assert looks == min(changes + 1, 3)
    assert finished.ended.result is not None
    assert finished.ended.result["documents"] == cut
    assert finished.ended.result["changedMeanwhile"] == changed


async def test_newer_chunk_settings_are_not_overwritten_by_a_running_job(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)
    job = await rechunker.take()

    async def change_back() -> None:
        rechunker.parser.on_rechunk = None
        await rechunker.set_of_source(application_id, source_id)

    rechunker.parser.on_rechunk = lambda _: change_back()
    finished = await rechunker.carry_out(job)

    assert finished.ended.result is not None
    assert finished.ended.result["documents"] == 0
    assert finished.ended.result["changedMeanwhile"] == 1
    assert await sizes(conn, source_id) == [100, 20]
    assert await queued(conn) == []


@pytest.mark.parametrize("end", ["delete", "cancel"])
async def test_nothing_is_written_once_the_source_is_deleted_or_the_job_cancelled(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID, end: str
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)
    job = await rechunker.take()

    async def end_it() -> None:
        async with transaction(rechunker.pool) as other:
            if end == "delete":
                await source_control.delete(other, application_id=application_id, ids=[source_id])
            else:
                await source_control.cancel(other, application_id=application_id, job_ids=[job.id])

    rechunker.parser.on_rechunk = lambda _: end_it()
    finished = await rechunker.attempt(job)

    assert await sizes(conn, source_id) == [100, 20]
    if end == "cancel":
        assert finished is None
        assert (await source_row(conn, source_id))["status"] == "completed"


async def test_a_newer_upload_leaves_the_job_in_the_queue(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)

    await rechunker.upload(application_id, "a.txt", "another version")

    assert await queued(conn) == [source_id]


async def test_failed_rechunk_is_reported_and_affects_no_other_document(
    rechunker: RechunkHouse, conn: Connection, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await add_document(conn, source_id, "b.txt")
    await rechunker.set_of_source(application_id, source_id, size=50)
    answers: list[Any] = [Permanent("it crashed", code="parser_crashed"), None]

    rechunker.parser.on_rechunk = lambda _: answers.pop(0)
    finished = await rechunker.rechunk()

    assert (finished.ended.status, finished.ended.error_code) == ("failed", "parser_crashed")
    assert finished.ended.error_message == (
        "1 of 2 documents could not be rechunked; the last: it crashed"
    )
    assert (await source_row(conn, source_id))["status"] == "completed"
    [(left,)] = await rows(
        conn, "select count(*) from rag.documents where chunking ->> 'size' = '100'"
    )
    assert left == 1


async def test_a_failed_job_that_is_retried_cuts_what_is_left(
    rechunker: RechunkHouse,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rechunk, "_TIME_SLICE_SECONDS", 0.0)
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await rechunker.set_of_source(application_id, source_id, size=50)
    answers: list[Any] = [Permanent("it crashed", code="parser_crashed")]
    rechunker.parser.on_rechunk = lambda _: answers.pop(0) if answers else None
    turns = [await rechunker.rechunk()]
    await make_due(conn)
    turns.append(await rechunker.rechunk())
    job_id = turns[-1].ended.job.id

    async with transaction(rechunker.pool) as other:
        retried = await source_control.retry(
            other, application_id=application_id, statuses=("failed",), job_ids=[job_id]
        )
    for _ in range(2):
        await make_due(conn)
        turns.append(await rechunker.rechunk())

    assert retried == [job_id]
    statuses = [turn.ended.status for turn in turns]
    assert statuses == ["pending", "failed", "pending", "completed"]
    assert await sizes(conn, source_id) == [50, 50, 20]


async def test_rechunk_job_resumes_where_the_last_turn_stopped(
    rechunker: RechunkHouse,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rechunk, "_TIME_SLICE_SECONDS", 0.0)
    source_id = await rechunker.add(application_id, "a.txt", 120)
    for name in ("b.txt", "c.txt"):
        await add_document(conn, source_id, name)
    await rechunker.set_of_source(application_id, source_id, size=50)

    turns: list[str] = []
    for _ in range(4):
        await make_due(conn)
        turns.append((await rechunker.rechunk()).ended.status)

    assert turns == ["pending", "pending", "pending", "completed"]
    assert len(rechunker.parser.recut) == 3
    assert await sizes(conn, source_id) == [50, 50, 20] * 3
    row = await job_row(conn, await _only_rechunk(conn))
    assert (row["attempts"], row["result"]["documents"]) == (1, 3)


async def test_resumed_rechunk_restarts_when_settings_changed(
    rechunker: RechunkHouse,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rechunk, "_TIME_SLICE_SECONDS", 0.0)
    source_id = await rechunker.add(application_id, "a.txt", 120)
    await add_document(conn, source_id, "b.txt")
    await rechunker.set_of_source(application_id, source_id, size=50)
    await rechunker.rechunk()

    await rechunker.set_of_source(application_id, source_id, size=40)
    monkeypatch.undo()
    await make_due(conn)
    await rechunker.rechunk()

    assert await queued(conn) == []
    assert await sizes(conn, source_id) == [40, 40, 40] * 2


async def _only_rechunk(conn: Connection) -> UUID:
    [(id,)] = await rows(conn, "select id from rag.processing_jobs where type = 'rechunk'")
    return UUID(str(id))


async def test_application_settings_change_waits_for_open_writes(
    rechunker: RechunkHouse, conn: Connection, pool: Pool, application_id: UUID
) -> None:
    source_id = await rechunker.add(application_id, "a.txt", 120)
    usual = rechunker.context.chunking
    # As the application will want it, so that nothing would need to be done.
    await conn.execute("update rag.documents set chunking = chunking || '{\"size\": 50}'")
    async with transaction(pool) as storing:
        await storing.execute("select id from rag.knowledge_sources for no key update")
        moved = await chunking.rechunk_outdated(
            storing,
            [AppliedChunking(application_id=application_id, source_id=source_id, used=usual)],
            defaults=chunking_defaults(rechunker.context),
        )
        await storing.execute("update rag.documents set chunking = '{}'")
        changing = asyncio.create_task(rechunker.set_of_application(application_id, size=50))
        await until(lambda: _waits_for_a_lock(conn))
        assert not changing.done()
    await changing

    assert not moved
    assert await queued(conn) == [source_id]


async def _waits_for_a_lock(conn: Connection) -> bool:
    [(waiting,)] = await rows(conn, "select count(*) from pg_locks where not granted")
    return bool(waiting)
