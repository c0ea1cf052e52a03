"""The inbox at work: woken, failing, reading large bodies, waking the root job."""

import asyncio
from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from harness.patience import PATIENCE
from ingest.blobs.base import new_key
from ingest.blobs.local import LocalBlobStore
from ingest.firecrawl_inbox import CHANNEL, Inbox
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.store.crawl import webhook_events
from ingest.store.crawl.runs import StartedRun
from tests.servers.firecrawl_events import document, event
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    claim_root,
    drain,
    event_row,
    page_rows,
    post,
    sent_run,
    told,
)
from tests.support.queue_builders import job_row
from tests.support.running_worker import truth_of, until

DOOR = SITE + "door"


@pytest.mark.parametrize("kind", ["completed", "failed", "cancelled"])
async def test_the_end_of_a_crawl_wakes_the_root_job(
    conn: Connection, application_id: UUID, inbox: Inbox, kind: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    job = await claim_root(conn)
    await conn.execute(
        "update rag.processing_jobs set status = 'pending', run_at = now() + interval '1 hour', "
        "wait_reason = 'provider' where id = %s",
        [job.id],
    )
    await Post(conn, "c1", await told(conn, run))(f"crawl.{kind}")

    await drain(inbox)

    assert (await job_row(conn, run.job_id))["run_at"] is None


async def test_a_large_body_is_read_from_the_blob_store(
    conn: Connection, application_id: UUID, inbox: Inbox, blobs: LocalBlobStore
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    staged = blobs.stage(new_key(application_id))
    body = event(
        "crawl.page", id="c1", data=[document(DOOR, "x" * 2_000_000)], run=await told(conn, run)
    )
    await staged.write(body)
    await staged.finish()
    await blobs.commit([staged])
    await post(conn, body, blob_key=staged.key)
    lost = await post(conn, b"lost", blob_key=new_key(application_id))

    await drain(inbox)

    assert list(await page_rows(conn, run)) == [DOOR]
    assert "missing" in (await event_row(conn, lost))["error"]


async def test_unprocessable_event_is_tried_five_times_and_kept(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    id = await send("crawl.page", document(DOOR, "# Doors"))
    await conn.execute(
        "alter table rag.crawl_pages add constraint broken check (uri = '') not valid"
    )
    try:
        for _ in range(6):
            await inbox.process()
            await conn.execute("update rag.webhook_events set retry_at = null")
    finally:
        await conn.execute("alter table rag.crawl_pages drop constraint broken")

    row = await event_row(conn, id)
    assert (row["attempts"], row["error"]) == (5, "CheckViolation")
    assert row["processed_at"] is not None


async def test_event_locked_by_another_process_is_skipped(
    conn: Connection, application_id: UUID, inbox: Inbox, pool: Pool
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    id = await Post(conn, "c1", await told(conn, run))("crawl.page", document(DOOR, "# Doors"))

    async with pool.session() as other, other.transaction(), asyncio.timeout(PATIENCE):
        await webhook_events.hold(other, id)
        seen = await inbox.process()

    assert seen == (1, 0)


async def test_an_event_that_arrives_is_processed_at_once(
    conn: Connection, application_id: UUID, dsn: str, pool: Pool, blobs: LocalBlobStore
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    listener = Listener(dsn, channels=(CHANNEL,), pool=pool)
    inbox = Inbox(pool=pool, blobs=blobs, listener=listener, poll=timedelta(hours=1))
    listener.start()
    await until(lambda: truth_of(listener.is_connected))
    inbox.start()  # only now: without a listener it polls
    try:
        for path in ("a", "b"):  # one that it sees as it begins is not enough
            await send("crawl.page", document(SITE + path, "# A page"))
            await until(partial(_is_page, conn, run, SITE + path))
    finally:
        await inbox.close()
        await listener.close()


async def _is_page(conn: Connection, run: StartedRun, uri: str) -> bool:
    return uri in await page_rows(conn, run)
