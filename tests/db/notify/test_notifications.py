"""What is told: each end once, in the transaction of the end, to those who want to hear of it."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg import AsyncConnection, Rollback

from ingest.postgres.database import Connection, Pool
from ingest.store.notify import outbox
from ingest.store.queue import jobs, reviews
from ingest.store.queue.jobs import Ended
from ingest.store.sources import job_events, source_control
from ingest.ticks.recovery import reconcile_sources, recover_stale_jobs
from tests.support.crawl.crawl_sources import start
from tests.support.notification_fixtures import (
    add_endpoint,
    batch_of,
    data_of,
    end,
    end_one,
    events,
    rows,
)
from tests.support.queue_builders import add_application, claim, enqueue, upload
from tests.support.running_worker import until

URL = "https://hooks.example/x"


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("completed", ["source.completed"]),
        ("review_needed", ["source.review_needed"]),
        ("failed", ["source.failed", "job.failed"]),
    ],
)
async def test_every_source_completion_is_notified_once(
    conn: Connection, application_id: UUID, status: str, told: list[str]
) -> None:
    await add_endpoint(conn, application_id, URL)
    [source] = await upload(conn, application_id, "a.txt")

    job = await end_one(conn, status, error_code="corrupt", error_message="it is broken")
    async with conn.transaction():
        await job_events.attempts_ended(
            conn, [Ended(job=job, status="completed")]
        )  # nothing has changed

    assert await events(conn) == told
    data = await data_of(conn, told[0])
    assert (data["knowledgeSourceId"], data["status"]) == (str(source), status)
    assert (data["name"], data["uri"], data["sourceType"]) == ("a.txt", "a.txt", "file")
    assert data["batchId"] == str(await batch_of(conn, source))
    if status == "failed":
        assert (data["errorCode"], data["errorMessage"]) == ("corrupt", "it is broken")
        failed = await data_of(conn, "job.failed")
        assert (failed["jobId"], failed["jobType"]) == (str(job.id), "file")
        assert (failed["errorCode"], failed["attempts"]) == ("corrupt", 1)


async def test_nonfinal_states_are_not_notified(conn: Connection, application_id: UUID) -> None:
    await add_endpoint(conn, application_id, URL)
    await upload(conn, application_id, "again.txt", "gone.txt")
    first, second = await claim(conn, 2)
    async with conn.transaction():
        await job_events.jobs_claimed(conn, [first, second])

    await end(conn, first, "pending", wait_reason="retry", error_code="internal")
    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, job_ids=[second.id])

    assert await events(conn) == []


async def test_second_completion_of_a_source_is_notified_again(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["source.failed", "source.completed"])
    await upload(conn, application_id, "a.txt")
    job = await end_one(conn, "failed", error_code="corrupt")
    async with conn.transaction():
        await source_control.retry(
            conn, application_id=application_id, job_ids=[job.id], statuses=("failed",)
        )

    await end_one(conn, "failed", error_code="corrupt")

    assert await events(conn) == ["source.failed", "source.failed"]


async def test_approval_notifies_the_completion(conn: Connection, application_id: UUID) -> None:
    await add_endpoint(conn, application_id, URL)
    await upload(conn, application_id, "a.txt")
    job = await end_one(conn, "review_needed")

    async with conn.transaction():
        assert await reviews.approve(conn, application_id=application_id, job_id=job.id)

    assert await events(conn) == ["source.review_needed", "source.completed"]


async def test_worker_lost_and_reconciled_sources_are_notified(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL)
    await upload(conn, application_id, "killer.txt")
    await conn.execute("update rag.processing_jobs set max_attempts = 1")
    await claim(conn)  # by a worker that never was
    await upload(conn, application_id, "lost.txt")
    await conn.execute("delete from rag.processing_jobs where status = 'pending'")
    await conn.execute("update rag.knowledge_sources set updated_at = now() - interval '1 hour'")

    await recover_stale_jobs(pool, stale_after=timedelta(minutes=1))
    await reconcile_sources(pool)

    assert sorted(await events(conn)) == ["job.failed", "source.failed", "source.failed"]
    assert (await data_of(conn, "job.failed"))["errorCode"] == "worker_lost"


async def test_only_subscribed_endpoints_are_notified(
    conn: Connection, application_id: UUID
) -> None:
    wanting = await add_endpoint(conn, application_id, URL, events=["source.completed"])
    await add_endpoint(conn, application_id, URL, events=["source.failed"])
    disabled = await add_endpoint(conn, application_id, URL)
    await add_endpoint(conn, await add_application(conn), URL)
    await conn.execute(
        "update rag.webhook_endpoints set is_enabled = false where id = %s", [disabled.id]
    )
    await upload(conn, application_id, "a.txt")

    await end_one(conn, "completed")

    assert [row["endpoint_id"] for row in await rows(conn)] == [wanting.id]


async def test_rolled_back_completion_is_not_notified(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL)
    await upload(conn, application_id, "a.txt")
    [job] = await claim(conn)
    ended = Ended(job=job, status="failed", error_code="corrupt")

    async with conn.transaction():
        await jobs.finish(conn, [ended])
        await job_events.attempts_ended(conn, [ended])
        assert len(await rows(conn)) == 2
        raise Rollback

    assert await rows(conn) == []
    cursor = await conn.execute("select 1 from rag.processing_jobs where type = 'notification'")
    assert await cursor.fetchall() == []


async def test_failed_notification_causes_no_notification(
    conn: Connection, application_id: UUID
) -> None:
    endpoint = await add_endpoint(conn, application_id, URL)
    async with conn.transaction():
        await outbox.queue_test(conn, endpoint)
    [job] = await claim(conn, types=["notification"])

    await end(conn, job, "failed", error_code="delivery_failed")

    [row] = await rows(conn)
    assert (row["event"], row["status"]) == ("endpoint.test", "failed")


async def test_rescrape_notification_contains_its_digest(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, URL, events=["rescrape.completed"])
    run = await start(conn, application_id)
    first = await claim(conn, types=["site_crawl"])
    await end(conn, first[0], "completed")
    await conn.execute("update rag.processing_jobs set type = 'rescrape', status = 'pending'")
    await conn.execute(
        """update rag.crawls set digest = '{"new": 3, "removed": 1}', is_complete = true"""
    )
    [job] = await claim(conn, types=["rescrape"])

    await end(conn, job, "completed")

    assert await events(conn) == ["rescrape.completed"]
    data = await data_of(conn, "rescrape.completed")
    assert data["digest"] == {"new": 3, "removed": 1}
    assert (data["knowledgeSourceId"], data["crawlId"]) == (str(run.source_id), str(run.crawl_id))
    assert (data["status"], data["isComplete"]) == ("completed", True)


async def test_email_gets_no_single_failures_that_a_digest_counts(
    conn: Connection, application_id: UUID
) -> None:
    await add_endpoint(conn, application_id, "mailto:ops@mail.example", events=["job.failed"])
    await add_endpoint(conn, application_id, URL, events=["job.failed"])
    await upload(conn, application_id, "of-a-batch.txt")
    await end_one(conn, "failed", error_code="corrupt")
    await enqueue(conn, application_id)

    await end_one(conn, "failed", error_code="internal")

    assert len([row for row in await rows(conn) if "of-a-batch" in row["body"]]) == 1
    assert len(await rows(conn)) == 3


async def test_deleting_an_endpoint_breaks_no_completion(
    conn: Connection, dsn: str, application_id: UUID
) -> None:
    endpoint = await add_endpoint(conn, application_id, URL)
    await upload(conn, application_id, "a.txt")
    [job] = await claim(conn)
    async with await AsyncConnection.connect(dsn) as other:
        await other.execute("delete from rag.webhook_endpoints where id = %s", [endpoint.id])
        ending = asyncio.create_task(end(conn, job, "completed"))
        await _until_blocked(other)
        await other.commit()
        await ending

    assert await rows(conn) == []


async def _until_blocked(conn: Connection) -> None:
    """Wait until somebody waits for a lock of this connection."""

    async def is_blocked() -> bool:
        cursor = await conn.execute(
            "select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))"
        )
        return bool(await cursor.fetchall())

    await until(is_blocked)
