"""Ended attempts over time: what is counted, and stored once. Reading: test_activity_read.py."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context, Outcome, Progress, Review, Wait
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.embeddings import embedding_models
from ingest.store.overview import activity
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, Ended, NewJob
from ingest.worker import activity_ledger
from ingest.worker.activity_ledger import ActivityLedger
from ingest.worker.commit import Finished
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.queue_builders import add_application, claim, enqueue
from tests.support.running_worker import running_worker, until

WORKER: Final = UUID(int=7)


async def _counted(conn: Connection) -> dict[tuple[str, str], int]:
    """Attempts by type and outcome, whatever the minute and worker."""
    rows = await conn.execute(
        "select type, outcome, sum(n)::int from rag.activity group by type, outcome"
    )
    return {(type, outcome): n for type, outcome, n in await rows.fetchall()}


async def _completed(conn: Connection, application_id: UUID) -> Finished:
    await enqueue(conn, application_id)
    [job] = await claim(conn)
    return Finished(ended=Ended(job=job, status="completed"))


# ---------------------------------------------------------------- what is counted

_ANSWERS: Final[Mapping[str, Outcome | Exception]] = {
    "file": Outcome(),
    "url": Permanent("no", code="corrupt"),
    "crawl_page": Transient("later", code="fetch_failed", retry_after=timedelta(hours=1)),
    "rescrape": Outcome(review=Review(message="sure?", reason="mass_deletion")),
    "purge": Outcome(wait=Wait(delay=timedelta(hours=1), reason="pages")),
}


async def _answer(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    outcome = _ANSWERS[job.type]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def test_a_worker_counts_each_end_once_and_no_attempt_that_is_given_back(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    new = [NewJob(application_id=application_id, type=type) for type in _ANSWERS]
    await jobs.enqueue(conn, new)

    async def have_all_run() -> bool:
        rows = await conn.execute(
            "select from rag.processing_jobs where fence = 0 or status = 'processing'"
        )
        return rows.rowcount == 0

    async with running_worker(dsn, pool, dict.fromkeys(_ANSWERS, _answer)):
        await until(have_all_run)

    assert await _counted(conn) == {
        ("file", "completed"): 1,
        ("url", "failed"): 1,
        ("crawl_page", "retry"): 1,
        ("rescrape", "review_needed"): 1,
    }


async def test_a_worker_that_lost_its_job_counts_nothing(
    dsn: str, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    async def lose(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        await conn.execute(
            "update rag.processing_jobs set status = 'cancelled', fence = fence + 1 where id = %s",
            [job.id],
        )
        return Outcome(result={"n": 1})

    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": lose}) as worker:
        await until(lambda: _is_cancelled(conn, id))
        await worker.stop()

    assert await _counted(conn) == {}


async def _is_cancelled(conn: Connection, id: UUID) -> bool:
    rows = await conn.execute(
        "select from rag.processing_jobs where id = %s and status = 'cancelled'", [id]
    )
    return rows.rowcount == 1


async def test_a_file_counts_its_bytes_and_the_tokens_of_its_document(
    pool: Pool, conn: Connection, application_id: UUID, blobs: LocalBlobStore
) -> None:
    async with pool.session() as session, session.transaction():
        model_id = await embedding_models.register(session, FakeEmbedder().model)
    house = House(pool, blobs, model_id)
    await house.upload(application_id, "a.txt", "some words of a file")
    finished = await house.run()

    ledger = ActivityLedger(pool, worker_id=WORKER)
    ledger.add(finished)
    await ledger.close()

    row = await (await conn.execute("select n, tokens, bytes from rag.activity")).fetchone()
    tokens = sum(chunk.token_count for new in finished.documents for chunk in new.chunks)
    assert tokens > 0
    assert row == (1, tokens, len("some words of a file"))


# ---------------------------------------------------------------- stored once


async def test_counts_of_a_minute_add_up(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    ledger = ActivityLedger(pool, worker_id=WORKER)
    for _ in range(3):
        ledger.add(await _completed(conn, application_id))
        await ledger.store()
    await ledger.close()

    assert await _counted(conn) == {("file", "completed"): 3}


async def test_what_was_stored_although_the_answer_was_lost_is_not_counted_twice(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def lose_the_answer(pool: Pool) -> AsyncIterator[Connection]:
        async with transaction(pool) as conn:
            yield conn
        raise psycopg.OperationalError("the connection was lost after the commit")

    ledger = ActivityLedger(pool, worker_id=WORKER)
    ledger.add(await _completed(conn, application_id))
    with monkeypatch.context() as patch:
        patch.setattr(activity_ledger, "transaction", lose_the_answer)
        await ledger.store()
    ledger.add(await _completed(conn, application_id))
    await ledger.close()

    assert await _counted(conn) == {("file", "completed"): 2}


async def test_what_could_not_be_stored_is_stored_later(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise psycopg.OperationalError

    ledger = ActivityLedger(pool, worker_id=WORKER)
    for broken in ("minute", "store"):
        ledger.add(await _completed(conn, application_id))
        with monkeypatch.context() as patch:
            patch.setattr(activity, broken, refuse)
            await ledger.store()
    await ledger.close()

    assert await _counted(conn) == {("file", "completed"): 2}


async def test_an_idle_worker_writes_nothing(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    ledger = ActivityLedger(pool, worker_id=WORKER)
    ledger.add(await _completed(conn, application_id))
    await ledger.store()
    await conn.execute("delete from rag.activity")
    await ledger.close()

    assert await _counted(conn) == {}


async def test_a_deleted_application_does_not_lose_the_counts_of_others(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    gone = await add_application(conn)
    ledger = ActivityLedger(pool, worker_id=WORKER)
    ledger.add(await _completed(conn, gone))
    await conn.execute("delete from app.applications where id = %s", [gone])
    ledger.add(await _completed(conn, application_id))
    await ledger.close()

    assert await _counted(conn) == {("file", "completed"): 1}
