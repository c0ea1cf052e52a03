"""What many jobs ask with one statement, when that is broken off."""

import asyncio
from uuid import UUID

import psycopg

from harness.patience import PATIENCE
from ingest.handlers.documents.batched_lookups import AT_ONCE, BatchedLookups
from ingest.postgres.database import Connection, Pool, is_database_unavailable, transaction
from tests.support.queue_builders import add_application, upload
from tests.support.running_worker import until


async def test_cancelled_batch_lookup_leaves_no_waiter(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    [mine] = await upload(conn, application_id, "a.txt")
    another = await add_application(conn)
    [theirs] = await upload(conn, another, "a.txt")
    lookups = BatchedLookups(pool, model_id=1, pacing=AT_ONCE)
    async with transaction(pool) as holding:
        await holding.execute("lock rag.knowledge_sources in access exclusive mode")
        asking = [asyncio.create_task(lookups.sources.get([id])) for id in (mine, theirs)]
        gone = asyncio.create_task(lookups.sources.get([mine]))
        pid = await until(lambda: _waiting(conn))
        gone.cancel()
        late = asyncio.create_task(lookups.sources.get([theirs]))
        await conn.execute("select pg_terminate_backend(%s, 5000)", [pid])
        async with asyncio.timeout(PATIENCE):
            broken_off = await asyncio.gather(*asking, return_exceptions=True)
    async with asyncio.timeout(PATIENCE):
        answers = [
            await late,
            *await asyncio.gather(*(lookups.sources.get([id]) for id in (mine,))),
        ]

    for error in broken_off:
        assert isinstance(error, psycopg.OperationalError)
        assert is_database_unavailable(error)
    assert gone.cancelled()
    assert answers[0][theirs].application_id == another
    assert answers[1][mine].application_id == application_id


async def _waiting(conn: Connection) -> int | None:
    cursor = await conn.execute("select pid from pg_locks where not granted limit 1")
    row = await cursor.fetchone()
    return row[0] if row else None
