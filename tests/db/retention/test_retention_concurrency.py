"""Cleaning up beside the work: several replicas at once, killed in the middle, by indexes alone."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from harness.patience import PATIENCE
from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import jobs
from ingest.store.queue.jobs import Ended
from ingest.store.retention import retention, retention_jobs, retention_runs
from ingest.store.retention.retention_jobs import EndedJob, JobRetention
from ingest.store.sources import job_events
from tests.support.queue_builders import claim, enqueue, upload
from tests.support.retention_fixtures import add_ended, clean, jobs_left, seen

NOW = timedelta(0)
AT_ONCE = JobRetention(jobs=NOW, failed_jobs=NOW)


@asynccontextmanager
async def replicas(pool: Pool, count: int) -> AsyncIterator[None]:
    """So many replicas that remove jobs as soon as they have ended, without a pause."""

    async def run() -> None:
        while True:
            await clean(pool, jobs=AT_ONCE)

    tasks = [asyncio.create_task(run()) for _ in range(count)]
    try:
        yield
    finally:
        await cancel_all(*tasks)


async def _work(pool: Pool) -> int:
    """Claim and complete all there is, as workers do; how many jobs were there to be completed."""
    done = 0
    while True:
        async with transaction(pool) as conn:
            claimed = await claim(conn, 20)
            await job_events.jobs_claimed(conn, claimed)
        if not claimed:
            return done
        ends = [Ended(job=job, status="completed") for job in claimed]
        async with transaction(pool) as conn:
            held = await jobs.hold(conn, claimed)
            await jobs.finish(conn, ends)
            await job_events.attempts_ended(conn, ends)
        done += len(held)


async def test_retention_keeps_open_jobs_and_counts_during_work(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await upload(conn, application_id, *[f"{n}.txt" for n in range(100)])
    await enqueue(conn, application_id, 100)
    await conn.execute("update rag.knowledge_sources set chunk_count = 1")

    async with replicas(pool, 2):
        done = await _work(pool)
    await clean(pool, jobs=AT_ONCE)

    after = await seen(conn, application_id)
    assert done == 200
    assert await jobs_left(conn) == set()
    assert (after["application"].total, after["application"].completed) == (100, 100)
    for source in after["sources"].values():
        assert (source["total"], source["completed"], source["percent"]) == (1, 1, 100)


async def test_interrupted_retention_round_continues_next_time(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_ended(conn, application_id, count=600, days=31)
    forget, reached, steps = retention_jobs.forget, asyncio.Event(), 0

    async def stuck(conn: Connection, keep: JobRetention, jobs: Sequence[EndedJob]) -> int:
        nonlocal steps
        removed = await forget(conn, keep, jobs)
        steps += 1
        if steps == 2:
            reached.set()
            await asyncio.Event().wait()
        return removed

    with monkeypatch.context() as patch:
        patch.setattr(retention_jobs, "forget", stuck)
        killed = asyncio.create_task(clean(pool))
        async with asyncio.timeout(PATIENCE):
            await reached.wait()
        await cancel_all(killed)
    left = len(await jobs_left(conn))

    assert left == 350  # the first step is done, the second is not
    assert (await clean(pool))["jobs"] == 350


async def test_locked_rows_are_left_for_the_next_round(
    pool: Pool, conn: Connection, dsn: str, application_id: UUID
) -> None:
    held, *others = await add_ended(conn, application_id, count=3, days=31)
    async with await AsyncConnection.connect(dsn) as other:
        await other.execute("select from rag.processing_jobs where id = %s for update", [held])
        async with asyncio.timeout(PATIENCE):
            beside = (await clean(pool))["jobs"]
        left = await jobs_left(conn)

    assert beside == len(others)
    assert left == {held}
    assert (await clean(pool))["jobs"] == 1


async def test_run_queued_again_during_retention_is_kept(
    conn: Connection, application_id: UUID
) -> None:
    [root] = await add_ended(conn, application_id, days=31)
    [child] = await add_ended(conn, application_id, days=31, parent_job_id=root)
    keep = JobRetention(jobs=timedelta(days=30), failed_jobs=timedelta(days=90))
    ended = await retention_jobs.list_ended(conn, keep, after=None, limit=10)
    await conn.execute("update rag.processing_jobs set status = 'pending' where id = %s", [child])

    async with conn.transaction():
        assert await retention_jobs.forget(conn, keep, ended) == 0

    assert await jobs_left(conn) == {root, child}


# ---------------------------------------------------------------- plans

_ROWS = 3000
_FILL = (
    "insert into rag.knowledge_sources (id, application_id, type, name, uri) "
    "select gen_random_uuid(), %(app)s, 'file', 'n', n::text from generate_series(1, 500) as n",
    "insert into rag.processing_jobs (id, application_id, type, status, max_attempts, completed_at,"
    " knowledge_source_id) "
    "select gen_random_uuid(), %(app)s, 'file', case n %% 2 when 0 then 'pending' else 'completed' "
    "end, 5, case n %% 2 when 1 then now() - n * interval '1 hour' end, gen_random_uuid() "
    "from generate_series(1, %(rows)s) as n",
    "insert into rag.progress_events (source_id, seq, type, data, created_at) "
    "select id, n, 'job', '{}', now() - n * interval '1 day' "
    "from rag.knowledge_sources, generate_series(1, %(rows)s / 500) as n",
    "insert into rag.embedding_models (provider, name, dimension) values ('p', 'n', 3)",
    "insert into rag.embedding_cache (application_id, model_id, text_hash, embedding, created_at) "
    "select %(app)s, model.id, n::text::bytea, '[1,2,3]', now() - n * interval '1 minute' "
    "from rag.embedding_models as model, generate_series(1, %(rows)s) as n",
    "insert into rag.webhook_endpoints (id, application_id, url, events, secret) "
    "values (gen_random_uuid(), %(app)s, 'https://a.example/', '{}', '')",
    "insert into rag.webhook_deliveries (id, endpoint_id, application_id, event, dedupe_key, body, "
    "status, created_at) select gen_random_uuid(), endpoint.id, %(app)s, 'e', n::text, '', "
    "'delivered', now() - n * interval '1 minute' "
    "from rag.webhook_endpoints as endpoint, generate_series(1, %(rows)s) as n",
    "insert into rag.documents (id, application_id, source_id, uri, media_type, status, "
    "content_hash, text, extractor, coverage, chunk_count, token_count, chunking, "
    "embedding_model_id, deleted_at) "
    "select gen_random_uuid(), %(app)s, source.id, n::text, 't', 'completed', '', '', 't', '{}', "
    "0, 0, '{}', 1, case n when 1 then now() - interval '40 days' end "
    "from rag.knowledge_sources as source, generate_series(1, %(rows)s / 500) as n",
    "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
    "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
    "select gen_random_uuid(), %(app)s, source_id, id, 0, 'a', '', 1, 0, 1, 0, 1 "
    "from rag.documents where deleted_at is null",
    "insert into rag.crawls (id, application_id, source_id, job_id, provider, status, created_at, "
    "ended_at) select gen_random_uuid(), %(app)s, source.id, gen_random_uuid(), 'builtin', "
    "'completed', now() - n * interval '1 day', now() - n * interval '1 day' "
    "from rag.knowledge_sources as source, generate_series(1, %(rows)s / 500) as n",
    "insert into rag.crawl_pages (id, crawl_id, source_id, uri, fetch_url, url_pattern, status) "
    "select gen_random_uuid(), id, source_id, 'u', 'u', 's', 'unchanged' from rag.crawls",
    "analyze",
)
_OLD = {"older_than": timedelta(days=3), "limit": 100}
_AFTER = {"after_time": None, "after_id": None, "after_source": None, "after_seq": None}
_PLANS: list[tuple[Mapping[str, bytes], str, dict[str, Any], set[str]]] = [
    (
        retention_jobs._SQL,
        "list_ended",
        {"jobs": timedelta(days=30), "failed_jobs": timedelta(days=90), "limit": 100}
        | {"after_time": None, "after_position": None},
        {"processing_jobs_completed"},
    ),
    (
        retention_jobs._SQL,
        "expired_runs",
        {"jobs": NOW, "failed_jobs": NOW, "root_ids": [uuid4()]},
        {"processing_jobs_pkey", "processing_jobs_parent"},
    ),
    (
        retention_jobs._SQL,
        "hold",
        {"jobs": NOW, "failed_jobs": NOW, "ids": [uuid4()]},
        {"processing_jobs_pkey", "processing_jobs_parent"},
    ),
    (retention_jobs._SQL, "note_pages", {"ids": [uuid4()]}, {"crawl_pages_job"}),
    (retention_jobs._SQL, "end_runs", {"ids": [uuid4()]}, {"crawls_job"}),
    (retention_jobs._SQL, "forget", {"ids": [uuid4()]}, {"processing_jobs_pkey"}),
    (retention._SQL, "old_events", _OLD | _AFTER, {"progress_events_age"}),
    (
        retention._SQL,
        "forget_events",
        {"source_ids": [uuid4()], "seqs": [1]},
        {"progress_events_pkey"},
    ),
    (retention._SQL, "deliveries", _OLD, {"webhook_deliveries_age"}),
    (retention._SQL, "cached_vectors", _OLD, {"embedding_cache_age"}),
    (retention._SQL, "documents", _OLD, {"documents_deleted", "chunks_document"}),
    (retention._SQL, "chunks", _OLD, {"documents_deleted", "chunks_document"}),
    (retention_runs._SQL, "old", _OLD | _AFTER, {"crawls_ended", "crawls_source"}),
    (
        retention_runs._SQL,
        "forget_pages",
        {"crawl_id": uuid4(), "limit": 100, "hiding": []},
        {"crawls_pkey", "crawls_source", "crawl_pages_identity"},
    ),
]


async def test_every_removal_reads_by_an_index(conn: Connection, application_id: UUID) -> None:
    for statement in _FILL:
        await conn.execute(statement.encode(), {"app": application_id, "rows": _ROWS})
    plans = {}
    for queries, name, values, _ in _PLANS:
        cursor = await conn.execute(b"explain (costs off) " + queries[name], values)
        plans[name] = "\n".join(line for (line,) in await cursor.fetchall())

    for _, name, _, indexes in _PLANS:
        assert "Seq Scan" not in plans[name], f"{name}:\n{plans[name]}"
        assert {index for index in indexes if index not in plans[name]} == set(), plans[name]
