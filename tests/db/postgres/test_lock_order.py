"""Transactions that ask for locks out of order are found out."""

from uuid import UUID, uuid4

import pytest

from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import job_control
from ingest.store.sources import members, sources
from ingest.store.tenants import applications
from tests.support.live_sources import add_source
from tests.support.lock_recorder import LockRecorder
from tests.support.queue_builders import enqueue

JOBS_AFTER_SOURCES = (
    "queue/job_control.sql: cancel locks rag.processing_jobs"
    " after sources/sources.sql: lock has locked rag.knowledge_sources"
)


@pytest.fixture
async def source(conn: Connection, application_id: UUID) -> UUID:
    return await add_source(conn, application_id)


async def test_jobs_that_are_locked_after_sources_are_an_inversion(
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    source: UUID,
    lock_recorder: LockRecorder,
) -> None:
    [job] = await enqueue(conn, application_id)

    async with transaction(pool) as wrong:
        await sources.lock(wrong, [source])
        await job_control.cancel(wrong, application_id=application_id, job_ids=[job])

    assert set(lock_recorder.violations) == {JOBS_AFTER_SOURCES}
    lock_recorder.violations.clear()


async def test_an_advisory_lock_after_rows_is_an_inversion(
    pool: Pool, application_id: UUID, source: UUID, lock_recorder: LockRecorder
) -> None:
    async with transaction(pool) as wrong:
        await sources.lock(wrong, [source])
        await applications.lock_sources(wrong, application_id)

    [violation] = lock_recorder.violations
    assert violation.startswith("tenants/applications.sql: lock_sources locks 7245110383 after")
    lock_recorder.violations.clear()


async def test_guarded_rows_need_their_guard(
    conn: Connection, source: UUID, lock_recorder: LockRecorder
) -> None:
    await conn.execute(
        "insert into rag.documents (id, application_id, source_id, uri, media_type, status,"
        " content_hash, text, pages, extractor, coverage, chunk_count, token_count, chunking,"
        " embedding_model_id)"
        " select %s, application_id, id, 'a', 'text/plain', 'completed',"
        "        '', '', '[]', 'text', '{}', 0, 0, '{}', 1"
        "   from rag.knowledge_sources",
        [uuid4()],
    )

    await members.mark_unchanged(conn, source_id=source, root_job_id=uuid4(), uris=["a"])

    assert lock_recorder.violations == [
        "sources/members.sql: mark_unchanged locks rag.documents without rag.knowledge_sources"
    ]
    lock_recorder.violations.clear()


async def test_another_transaction_on_the_same_connection_starts_anew(
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    source: UUID,
    lock_recorder: LockRecorder,
) -> None:
    [job] = await enqueue(conn, application_id)

    async with pool.session() as right:
        async with right.transaction():
            await sources.lock(right, [source])
        async with right.transaction():
            await job_control.cancel(right, application_id=application_id, job_ids=[job])

    assert lock_recorder.violations == []


async def test_a_statement_without_rows_holds_no_lock(
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    lock_recorder: LockRecorder,
) -> None:
    [job] = await enqueue(conn, application_id)

    async with transaction(pool) as right:
        await sources.lock(right, [uuid4()])
        await job_control.cancel(right, application_id=application_id, job_ids=[job])

    assert lock_recorder.violations == []
