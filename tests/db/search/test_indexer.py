"""Vectors are put under the index when it is quiet, whatever else happens to them meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.analysis.subject import Subject
from ingest.blobs.local import LocalBlobStore
from ingest.model import Chunk
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents import documents
from ingest.store.documents.documents import DocumentChunks
from ingest.store.embeddings import fresh_vectors
from ingest.store.search.scope import SearchScope
from ingest.store.sources import sources
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.schedule import build_ticks
from ingest.ticks.vector_indexer import index_vectors
from tests.support.live_sources import eventually
from tests.support.queue_builders import claim, complete, enqueue
from tests.support.retention_fixtures import KEEP
from tests.support.searchable_chunks import Space, add_document, nearest
from tests.support.vector_index import count_fresh, count_indexed, delete_chunks


@pytest.fixture
async def other(dsn: str) -> AsyncIterator[Connection]:
    """A second connection, for what happens at the same time; it autocommits."""
    async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
        yield conn


async def somebody_waits(pool: Pool) -> None:
    """Until a statement waits for a lock."""
    async with asyncio.timeout(PATIENCE), pool.session() as conn:
        while True:
            cursor = await conn.execute(
                "select exists (select from pg_stat_activity where wait_event_type = 'Lock')"
            )
            if (row := await cursor.fetchone()) and row[0]:
                return
            await asyncio.sleep(0.01)


async def replace_chunks(conn: Connection, source_id: UUID, space: Space) -> None:
    """Store a document again, with a single chunk."""
    cursor = await conn.execute(
        "select application_id, id from rag.documents where source_id = %s", [source_id]
    )
    row = await cursor.fetchone()
    assert row is not None
    async with conn.transaction():
        await sources.lock(conn, [source_id])
        await documents.swap_chunks(
            conn,
            DocumentChunks(
                application_id=row[0],
                source_id=source_id,
                document_id=row[1],
                chunks=[
                    Chunk(ordinal=0, text="new", token_count=1, start=0, end=3, section=(0, 3))
                ],
                subject=Subject(title=None, uri="a.txt", language=None),
                hashes=[b"hash"],
                vectors=space.clustered(1),
                embedded=np.ones(1, dtype=np.bool_),
                model_id=space.id,
            ),
        )


async def test_vectors_are_indexed_when_nothing_runs_and_nothing_is_ready(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, [f"text {n}" for n in range(250)])
    await enqueue(conn, application_id)
    ready = await index_vectors(pool)
    claimed = await claim(conn)
    running = await index_vectors(pool)
    await complete(conn, claimed)
    quiet = await index_vectors(pool)

    assert (ready, running, quiet) == (0, 0, 250)
    assert (await count_fresh(conn), await count_indexed(conn)) == (0, 250)


@pytest.mark.parametrize(
    "paused",
    [
        "update rag.job_types set is_paused = true where type = 'file'",
        "update rag.worker_config set value = 'true' where key = 'paused'",
    ],
)
async def test_blocked_jobs_do_not_delay_indexing(
    conn: Connection, pool: Pool, application_id: UUID, space: Space, paused: str
) -> None:
    await add_document(conn, application_id, space, ["text"])
    await enqueue(conn, application_id)
    await conn.execute(paused.encode())

    assert await index_vectors(pool) == 1


async def test_many_fresh_vectors_are_indexed_while_jobs_run(
    conn: Connection,
    pool: Pool,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh_vectors, "_MOST_ROWS", 800)
    await add_document(conn, application_id, space, [f"text {n}" for n in range(280)])
    await enqueue(conn, application_id)

    assert await index_vectors(pool) == 200
    assert await count_fresh(conn) == 80


async def test_one_process_moves_at_a_time(
    conn: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["text"])
    async with transaction(pool) as mover:
        assert await fresh_vectors.lock_moving(mover)
        meanwhile = await index_vectors(pool)

    assert meanwhile == 0
    assert await index_vectors(pool) == 1


async def test_killed_indexer_loses_nothing(
    conn: Connection, dsn: str, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["text"])
    mover = await AsyncConnection.connect(dsn)
    moved = await fresh_vectors.move(mover, space.id, limit=10)
    await conn.execute("select pg_terminate_backend(%s, 5000)", [mover.info.backend_pid])
    await mover.close()

    assert moved == 1
    assert (await count_fresh(conn), await count_indexed(conn)) == (1, 0)


async def test_vector_being_indexed_is_found_exactly_once(
    conn: Connection, other: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, [f"text {n}" for n in range(5)])
    scope = SearchScope(application_id=application_id)
    query = space.clustered(1)[0]
    before = await nearest(conn, scope, space, query)
    async with other.transaction():
        assert await fresh_vectors.move(other, space.id, limit=3) == 3
        during = await nearest(conn, scope, space, query)
    after = await nearest(conn, scope, space, query)

    assert len(before) == len(set(before)) == 5
    assert before == during == after


async def test_a_delete_waits_for_the_move_and_leaves_nothing(
    conn: Connection, other: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    source = await add_document(conn, application_id, space, ["one", "two"])
    async with other.transaction():
        assert await fresh_vectors.move(other, space.id, limit=10) == 2
        deleting = asyncio.create_task(delete_chunks(conn, source))
        await somebody_waits(pool)
    async with asyncio.timeout(PATIENCE):
        await deleting

    assert (await count_fresh(conn), await count_indexed(conn)) == (0, 0)


async def test_a_move_leaves_alone_what_is_being_deleted(
    conn: Connection, other: Connection, application_id: UUID, space: Space
) -> None:
    source = await add_document(conn, application_id, space, ["going", "gone"])
    await add_document(conn, application_id, space, ["staying"])
    async with other.transaction():
        await delete_chunks(other, source)
        async with asyncio.timeout(PATIENCE):
            moved = await fresh_vectors.move(conn, space.id, limit=10)

    assert moved == 1
    assert (await count_fresh(conn), await count_indexed(conn)) == (0, 1)


async def test_a_document_is_replaced_while_its_vectors_are_moved(
    conn: Connection, other: Connection, pool: Pool, application_id: UUID, space: Space
) -> None:
    source = await add_document(conn, application_id, space, ["old", "older"])
    async with other.transaction():
        assert await fresh_vectors.move(other, space.id, limit=10) == 2
        replacing = asyncio.create_task(replace_chunks(conn, source, space))
        await somebody_waits(pool)
    async with asyncio.timeout(PATIENCE):
        await replacing

    assert (await count_fresh(conn), await count_indexed(conn)) == (1, 0)
    found = await nearest(
        conn, SearchScope(application_id=application_id), space, space.clustered(1)[0]
    )
    assert len(found) == 1


async def test_the_tick_indexes_and_ends_at_once_in_the_middle_of_a_move(
    conn: Connection,
    other: Connection,
    pool: Pool,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
) -> None:
    await add_document(conn, application_id, space, ["text"])
    blobs = LocalBlobStore(tmp_path)
    ticks = build_ticks(
        pool=pool,
        blobs=blobs,
        wake=lambda: None,
        tick="0 0 0 1 1 *",
        stale_after=timedelta(minutes=2),
        rescrape=None,
        retention=KEEP,
        clock=DatabaseClock(),
        page_image_cache=0,
    )
    async with other.transaction():
        await other.execute("lock rag.embeddings in share mode")
        ticks.start()
        await somebody_waits(pool)
        async with asyncio.timeout(PATIENCE):
            await ticks.close()
    left = await count_fresh(conn)

    ticks.start()

    async def is_empty() -> bool:
        return await count_fresh(conn) == 0

    await eventually(is_empty)
    await ticks.close()
    await blobs.close()

    assert left == 1
    assert await count_indexed(conn) == 1
