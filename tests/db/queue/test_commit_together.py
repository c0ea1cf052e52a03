"""Files that end at the same time: written together, and none at the cost of another."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.errors import LeaseLost
from ingest.handlers.context import Progress
from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.handlers.documents.file import ingest_file
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.embeddings import embedding_models
from ingest.store.queue import job_types
from ingest.store.tenants import applications
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished
from tests.db.documents.reprocessing.rechunk_fixtures import queued
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.queue_builders import claim, source_row
from tests.support.running_worker import committed, until


@pytest.fixture
async def house(pool: Pool, tmp_path: Path) -> AsyncIterator[House]:
    blobs = LocalBlobStore(tmp_path / "blobs")
    async with pool.session() as conn, conn.transaction():
        model_id = await embedding_models.register(conn, FakeEmbedder().model)
    yield House(pool, blobs, model_id)
    await blobs.close()


async def _outcomes(house: House, count: int) -> list[Finished]:
    """Of so many jobs that have run and are not committed yet."""
    async with transaction(house.pool) as conn:
        taken = await claim(conn, batch=count)
        types = {row.type: row for row in await job_types.all_types(conn)}
    assert len(taken) == count
    outcomes = []
    for job in taken:
        outcome = await attempt(
            job,
            types["file"],
            handlers={"file": ingest_file},
            context=house.context,
            progress=Progress(job),
        )
        assert outcome is not None
        outcomes.append(outcome)
    return outcomes


async def _upload(house: House, application_id: UUID, count: int) -> list[UUID]:
    return [await house.upload(application_id, f"{n}.txt", f"text {n}") for n in range(count)]


async def test_each_source_gets_its_own_content(
    house: House, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    texts = ["one", "two\nlines", "a\nb\nc"]
    ids = [await house.upload(application_id, f"{n}.txt", text) for n, text in enumerate(texts)]

    assert await committed(pool, await _outcomes(house, 3)) == [True] * 3
    rows = [await source_row(conn, id) for id in ids]
    assert [(row["status"], row["chunk_count"]) for row in rows] == [
        ("completed", 1),
        ("completed", 2),
        ("completed", 3),
    ]
    logged = await (
        await conn.execute(
            "select distinct details -> 'jobsInTransaction' from rag.job_logs where stage = 'store'"
        )
    ).fetchall()
    assert logged == [(3,)]


async def test_deleted_source_does_not_affect_others_in_the_commit(
    house: House, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    first, gone, last = await _upload(house, application_id, 3)
    outcomes = await _outcomes(house, 3)
    # As a deletion does it, but for the job, which it would have cancelled.
    await conn.execute("update rag.knowledge_sources set deleted_at = now() where id = %s", [gone])

    with pytest.raises(LeaseLost):
        await committed(pool, outcomes)

    for id in (first, last):
        assert (await source_row(conn, id))["status"] == "completed"
    found = await (
        await conn.execute("select count(*) from rag.chunks where source_id = %s", [gone])
    ).fetchone()
    assert found == (0,)


async def test_only_documents_with_outdated_chunking_are_rechunked(
    house: House, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    _, changed, _ = await _upload(house, application_id, 3)
    outcomes = await _outcomes(house, 3)
    async with transaction(pool) as changing:
        await applications.lock_sources(changing, application_id)
        await chunking.set_for_sources(
            changing,
            application_id=application_id,
            source_ids=[changed],
            own=ChunkingOverrides(size=50),
            application=ChunkingOverrides(),
            defaults=chunking_defaults(house.context),
        )

    await committed(pool, outcomes)

    assert await queued(conn) == [changed]


async def test_groups_of_the_same_sources_in_any_order_wait_for_each_other(
    house: House, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    ids = await _upload(house, application_id, 4)
    *others, last = await _outcomes(house, 4)
    outcomes = [*others, _locking_its_source(last)]
    async with transaction(pool) as holding:
        # Whoever locks them in the order of their ids meets the first of them here.
        await holding.execute(
            "select id from rag.knowledge_sources where id = %s for no key update", [min(ids)]
        )
        committing = asyncio.create_task(committed(pool, list(reversed(outcomes))))
        await until(lambda: _waits(conn))
        # So none of the others is locked yet.
        await holding.execute(
            "select id from rag.knowledge_sources where id = any(%s) for no key update nowait",
            [ids],
        )

    assert await committing == [True] * 4


def _locking_its_source(outcome: Finished) -> Finished:
    """By a write of its own, as that of a page."""
    source_id = outcome.ended.job.knowledge_source_id

    async def write(conn: Connection) -> None:
        await conn.execute(
            "select id from rag.knowledge_sources where id = %s for no key update", [source_id]
        )

    return replace(outcome, write=write)


async def _waits(conn: Connection) -> bool:
    row = await (await conn.execute("select count(*) from pg_locks where not granted")).fetchone()
    return row is not None and row[0] > 0
