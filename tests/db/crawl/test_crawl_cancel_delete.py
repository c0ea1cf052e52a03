"""Cancel and delete of sources that are being crawled: everything of the run ends."""

from uuid import UUID

import pytest

from ingest.payloads import StopCrawlPayload
from ingest.postgres.database import Connection
from ingest.store.crawl.runs import CrawlSettings, StartedRun
from ingest.store.sources import source_control
from tests.support.crawl.crawl_sources import add_child, crawl_row, start
from tests.support.queue_builders import add_application, job_row, source_row

ELSEWHERE = CrawlSettings(provider="firecrawl")


async def crawling(conn: Connection, application_id: UUID) -> StartedRun:
    """A run that goes on at a provider."""
    run = await start(conn, application_id, settings=ELSEWHERE)
    await conn.execute(
        "update rag.crawls set status = 'running', provider_crawl_id = 'theirs' where id = %s",
        [run.crawl_id],
    )
    return run


async def stops(conn: Connection) -> list[str]:
    cursor = await conn.execute("select payload from rag.processing_jobs where type = 'stop_crawl'")
    return [
        StopCrawlPayload.model_validate(row[0]).provider_crawl_id for row in await cursor.fetchall()
    ]


async def test_cancelling_the_root_job_ends_its_pages_and_the_run(
    conn: Connection, application_id: UUID
) -> None:
    run = await crawling(conn, application_id)
    waiting = await add_child(conn, application_id, run)
    done = await add_child(conn, application_id, run, status="completed")

    async with conn.transaction():
        ended = await source_control.cancel(
            conn, application_id=application_id, job_ids=[run.job_id]
        )

    assert set(ended) == {run.job_id, waiting}
    assert (await job_row(conn, waiting))["status"] == "cancelled"
    assert (await job_row(conn, done))["status"] == "completed"
    crawl = await crawl_row(conn, run.crawl_id)
    assert (crawl["status"], crawl["is_complete"]) == ("cancelled", False)
    assert (await source_row(conn, run.source_id))["status"] == "cancelled"
    assert await stops(conn) == ["theirs"]


async def test_cancelling_one_page_leaves_the_run(conn: Connection, application_id: UUID) -> None:
    run = await crawling(conn, application_id)
    page = await add_child(conn, application_id, run)

    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, job_ids=[page])

    assert (await job_row(conn, run.job_id))["status"] == "pending"
    assert (await crawl_row(conn, run.crawl_id))["status"] == "running"
    assert await stops(conn) == []


async def test_cancelling_the_source_ends_the_run(conn: Connection, application_id: UUID) -> None:
    run = await crawling(conn, application_id)

    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, source_ids=[run.source_id])

    assert (await crawl_row(conn, run.crawl_id))["status"] == "cancelled"
    assert await stops(conn) == ["theirs"]


@pytest.mark.parametrize("root", ["pending", "failed"])
async def test_deleting_the_source_ends_the_run(
    conn: Connection, application_id: UUID, root: str
) -> None:
    run = await crawling(conn, application_id)
    await conn.execute(
        "update rag.processing_jobs set status = %s where id = %s", [root, run.job_id]
    )

    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[run.source_id])

    assert (await crawl_row(conn, run.crawl_id))["status"] == "cancelled"
    assert await stops(conn) == ["theirs"]


async def test_another_application_cannot_end_a_run(conn: Connection, application_id: UUID) -> None:
    run = await crawling(conn, application_id)
    other = await add_application(conn)

    async with conn.transaction():
        await source_control.delete(conn, application_id=other, ids=[run.source_id])
        await source_control.cancel(conn, application_id=other, source_ids=[run.source_id])
        await source_control.cancel(conn, application_id=other, job_ids=[run.job_id])

    assert (await crawl_row(conn, run.crawl_id))["status"] == "running"
    assert await stops(conn) == []
