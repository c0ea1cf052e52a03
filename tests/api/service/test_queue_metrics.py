"""GET /metrics: the query of the queue is cached, capped and cheap."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from api.installation_state import OverviewCache
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.support.prometheus_text import scrape
from tests.support.queue_builders import enqueue

JOBS = "rag_ingest_jobs"


async def test_metrics_query_is_cached_and_backs_off_when_slow(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, cost, reads = 0.0, 0.0, 0
    overviews = OverviewCache(runtime, clock=lambda: now)
    read = overviews._read

    async def counting() -> Any:
        nonlocal now, reads
        reads += 1
        now += cost
        return await read()

    monkeypatch.setattr(overviews, "_read", counting)

    async def reads_at(*times: float) -> list[int]:
        nonlocal now
        seen = []
        for moment in times:
            now = moment
            await overviews.get()
            seen.append(reads)
        return seen

    assert await reads_at(0, 4.9, 5.0) == [1, 1, 2]
    cost = 1.0
    assert await reads_at(10.0, 30.9, 31.0) == [3, 3, 4]


async def test_metric_counts_are_capped(
    anonymous: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.store.queue.queue_stats.LARGEST_COUNT", 3)
    await enqueue(conn, application_id, 5)

    assert (await scrape(anonymous)).value(JOBS, type="file", status="ready") == 3


async def test_queue_metrics_do_not_read_completed_jobs(
    conn: Connection, application_id: UUID
) -> None:
    """Every count finds its rows by a partial index of its own."""
    from ingest.store.queue.queue_stats import _SQL

    # Of an empty table, each index is as good as another.
    await enqueue(conn, application_id, 2000)
    await conn.execute("update rag.processing_jobs set status = 'completed', completed_at = now()")
    await conn.execute("vacuum analyze rag.processing_jobs")
    await conn.execute("set enable_seqscan = off")
    plan = ""
    for name in ("types", "waiting", "oldest_ready"):
        parameters = {"bound": 10, "reasons": ["retry"]}
        rows = await (await conn.execute(b"explain " + _SQL[name], parameters)).fetchall()
        plan += "\n".join(row[0] for row in rows)

    scans = [line for line in plan.splitlines() if "on processing_jobs" in line]
    assert len(scans) >= 7
    used = {line.split(" using ")[1].split()[0] for line in scans if " using " in line}
    used |= {
        line.split(" on ")[1].split()[0] for line in plan.splitlines() if "Bitmap Index" in line
    }
    assert used <= {
        "processing_jobs_ready",
        "processing_jobs_ready_by_age",
        "processing_jobs_scheduled",
        "processing_jobs_waiting",
        "processing_jobs_running",
        "processing_jobs_needs_attention",
    }
    assert not any("Seq Scan on processing_jobs" in line for line in scans)
