"""Usage of applications: counted in the transaction of each change, and added up later."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from harness.patience import PATIENCE
from ingest.postgres.database import Connection, Pool, load_queries, transaction
from ingest.quotas import DEFAULTS, Usage
from ingest.store.limits import usage
from ingest.store.queue import job_control, jobs
from ingest.store.queue.jobs import Ended
from ingest.store.sources import sources
from ingest.ticks.schedule import fold_usage
from tests.support.queue_builders import add_application, claim, enqueue, source_row, upload
from tests.support.searchable_chunks import add_document, add_space

NOTHING = Usage()


async def used(conn: Connection, application_id: UUID) -> Usage:
    return (await usage.room(conn, application_id, DEFAULTS)).used


async def counted(conn: Connection, application_id: UUID) -> Usage:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(
            "select sources, stored_bytes, staged_bytes, pending_jobs from rag.counted_usage"
            " where application_id = %s",
            [application_id],
        )
        return Usage(**(await cur.fetchone() or {}))


async def finish(conn: Connection, status: Any) -> None:
    async with conn.transaction():
        await jobs.finish(conn, [Ended(job=job, status=status) for job in await claim(conn, 10)])


async def test_each_step_of_a_file_is_counted(conn: Connection, application_id: UUID) -> None:
    steps = []

    async def step() -> None:
        steps.append(await used(conn, application_id))
        assert steps[-1] == await counted(conn, application_id)

    [first, second] = await upload(conn, application_id, "a.txt", "b.txt", content="12345")
    await step()
    await finish(conn, "failed")
    await step()
    await conn.execute("update rag.knowledge_sources set size_bytes = 5 where id = %s", [first])
    async with conn.transaction():
        await job_control.retry(
            conn,
            application_id=application_id,
            job_ids=[(await source_row(conn, first))["current_job_id"]],
            statuses=("failed",),
        )
    await step()
    await finish(conn, "completed")
    await step()
    await sources.tombstone(conn, application_id=application_id, ids=[first, second])
    await step()
    await conn.execute("delete from rag.processing_jobs")
    await sources.purge(conn, first)
    await sources.purge(conn, second)
    await step()

    assert steps == [
        Usage(sources=2, staged_bytes=10, pending_jobs=2),
        Usage(sources=2, staged_bytes=10),
        Usage(sources=2, staged_bytes=10, stored_bytes=5, pending_jobs=1),
        Usage(sources=2, staged_bytes=5, stored_bytes=5),
        Usage(staged_bytes=5),
        NOTHING,
    ]


async def test_text_of_documents_is_stored_bytes(conn: Connection, application_id: UUID) -> None:
    space = await add_space(conn)
    await add_document(conn, application_id, space, ["the owl sleeps"])
    added = await used(conn, application_id)
    await conn.execute("update rag.documents set text = text || ' well'")
    longer = await used(conn, application_id)
    await conn.execute("update rag.documents set deleted_at = now()")

    assert added.stored_bytes > 0
    assert longer.stored_bytes == added.stored_bytes + 5
    assert await used(conn, application_id) == replace(added, stored_bytes=0)


async def test_a_transaction_that_fails_leaves_no_trace(
    conn: Connection, application_id: UUID
) -> None:
    async with conn.transaction(force_rollback=True):
        await enqueue(conn, application_id, 3)

    assert await used(conn, application_id) == NOTHING


async def test_adding_up_changes_nothing_that_is_read(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    other = await add_application(conn)
    await upload(conn, application_id, "a.txt", "b.txt")
    await enqueue(conn, other, 3)
    await fold_usage(pool)
    await finish(conn, "completed")
    before = [await used(conn, id) for id in (application_id, other)]

    assert await fold_usage(pool) > 0
    assert [await used(conn, id) for id in (application_id, other)] == before
    assert before == [await counted(conn, id) for id in (application_id, other)]
    assert await fold_usage(pool) == 0


async def test_jobs_end_while_changes_are_added_up(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 2)
    async with transaction(pool) as folding:
        assert await usage.fold(folding, limit=100) == 1
        # Nothing that the open transaction holds makes these wait; nor does it count them twice.
        async with asyncio.timeout(PATIENCE):
            await finish(conn, "completed")
        during = await used(conn, application_id)
        assert await fold_usage(pool) == 0

    assert during == NOTHING
    assert await used(conn, application_id) == NOTHING


async def test_a_recount_repairs_rows_changed_with_triggers_off(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    await upload(conn, application_id, "a.txt")
    await conn.execute("set session_replication_role = replica")
    await enqueue(conn, application_id, 2)
    await conn.execute("set session_replication_role = origin")
    drifted = await used(conn, application_id)

    async with transaction(pool) as own:
        assert await usage.recount(own) == 1

    assert drifted.pending_jobs == 1
    assert await used(conn, application_id) == await counted(conn, application_id)
    async with transaction(pool) as own:
        assert await usage.recount(own) == 0


async def test_changes_of_a_deleted_application_are_dropped(conn: Connection, pool: Pool) -> None:
    other = await add_application(conn)
    await upload(conn, other, "a.txt")
    await conn.execute("delete from app.applications where id = %s", [other])

    assert await fold_usage(pool) > 0
    cursor = await conn.execute("select count(*) from rag.usage_totals")
    assert await cursor.fetchone() == (0,)


async def test_reading_usage_looks_only_at_changes_of_the_application(
    conn: Connection, application_id: UUID
) -> None:
    await conn.execute(
        "insert into rag.usage_changes (application_id, sources)"
        " select case when n %% 10000 = 0 then %s else gen_random_uuid() end, 1"
        "   from generate_series(1, 100000) n",
        [application_id],
    )
    await conn.execute("analyze rag.usage_changes")
    text = load_queries("limits/usage.sql")["of_application"]

    plan = b"explain (analyze, timing off, format json) " + text.rstrip(b"; \n")
    cursor = await conn.execute(plan, {"application_id": application_id})
    row = await cursor.fetchone()

    assert row is not None
    nodes = list(_nodes(row[0][0]["Plan"]))
    assert {node["Relation Name"] for node in nodes if "Relation Name" in node} == {
        "usage_changes",
        "usage_totals",
        "applications",
    }
    assert all(node["Actual Rows"] <= 10 for node in nodes)
    assert all(
        node["Node Type"] != "Seq Scan"
        for node in nodes
        if node.get("Relation Name") == "usage_changes"
    )


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)
