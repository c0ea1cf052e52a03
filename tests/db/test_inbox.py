"""Events of a provider become pages of their runs: in any order, twice, or not at all."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from ingest.blobs.base import new_key
from ingest.blobs.local import LocalBlobStore
from ingest.db import Connection, Pool
from ingest.inbox import CHANNEL, Inbox
from ingest.listen import Listener
from ingest.store import crawls, runs, source_control, webhook_events
from tests.builders import add_application, job_row
from tests.firecrawl_events import CANCELLED, RACED, document, event, stub
from tests.firecrawl_runs import (
    SITE,
    Post,
    child_jobs,
    claim_root,
    crawl_of,
    drain,
    event_row,
    make_inbox,
    page_rows,
    post,
    sent_run,
    stopped,
    told,
)
from tests.worker import until

DOOR = SITE + "door"


@pytest.fixture
async def blobs(tmp_path: Path) -> AsyncIterator[LocalBlobStore]:
    store = LocalBlobStore(tmp_path / "blobs")
    yield store
    await store.close()


@pytest.fixture
def inbox(pool: Pool, blobs: LocalBlobStore) -> Inbox:
    return make_inbox(pool, blobs)


# ---------------------------------------------------------------- pages


async def test_a_page_event_becomes_a_page_with_its_job_under_the_root_job(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    id = await send("crawl.page", document(DOOR + "/", "# Doors", scrape_id="s1"))

    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    [job] = await child_jobs(conn, run)
    assert (page["uri"], page["fetch_url"], page["status"]) == (DOOR, DOOR + "/", "queued")
    assert (page["event_id"], page["event_index"], page["scrape_id"]) == (id, 0, "s1")
    assert (job["id"], job["type"], job["status"]) == (page["job_id"], "crawl_page", "pending")
    assert job["payload"] == {"crawlId": str(run.crawl_id), "pageId": str(page["id"])}
    assert (await crawl_of(conn, run)).page_count == 1
    assert (await event_row(conn, id))["processed_at"] is not None
    assert (await event_row(conn, id))["crawl_id"] == run.crawl_id


async def test_what_comes_again_changes_nothing(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", document(DOOR, "# Doors", scrape_id="s1"))
    await drain(inbox)
    before = await page_rows(conn, run)

    await send("crawl.page", document(DOOR, "# Doors", scrape_id="s1"))  # the same scrape
    await send("crawl.page", document(DOOR + "#top", "# Doors", scrape_id="s2"))  # a re-run
    await send("crawl.page", stub(DOOR), error="timed out")  # a worker that came too late
    await drain(inbox)

    assert await page_rows(conn, run) == before
    assert len(await child_jobs(conn, run)) == 1


async def test_events_of_one_page_that_are_processed_at_once_make_one_page(
    conn: Connection, application_id: UUID, pool: Pool, blobs: LocalBlobStore
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    for number in range(12):
        await send("crawl.page", document(DOOR, "# Doors", scrape_id=f"s{number}"))

    await asyncio.gather(*[drain(make_inbox(pool, blobs)) for _ in range(3)])

    assert len(await page_rows(conn, run)) == len(await child_jobs(conn, run)) == 1


async def test_races_and_cancelled_pages_are_no_pages(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(SITE + "a"), error=RACED)
    await send("crawl.page", stub(SITE + "b"), error=CANCELLED)
    await send("crawl.page", document("https://shop.test:99999/", "# No address"))

    await drain(inbox)

    assert await page_rows(conn, run) == {}


@pytest.mark.parametrize(
    ("data", "error", "code", "http_status"),
    [
        (stub(DOOR), "The scrape operation timed out", "fetch_failed", None),
        (document(DOOR, "# Not found", status=404), None, "fetch_status", 404),
        (document(DOOR, " \n"), None, "empty_content", 200),
    ],
)
async def test_a_page_that_could_not_be_had_gets_a_job_that_will_say_why(
    conn: Connection,
    application_id: UUID,
    inbox: Inbox,
    data: dict[str, object],
    error: str | None,
    code: str,
    http_status: int | None,
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    await Post(conn, "c1", await told(conn, run))("crawl.page", data, error=error)

    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    assert (page["uri"], page["error_code"], page["http_status"]) == (DOOR, code, http_status)
    assert (page["event_id"], page["job_status"]) == (None, "pending")
    assert (await crawl_of(conn, run)).page_count == 0


@pytest.mark.parametrize("job_status", ["pending", "processing", "failed"])
async def test_a_page_that_had_failed_and_now_comes_is_begun_again_with_the_same_job(
    conn: Connection, application_id: UUID, inbox: Inbox, job_status: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [failed] = await child_jobs(conn, run)
    await conn.execute(
        "update rag.processing_jobs set status = %s, attempts = 1 where id = %s",
        [job_status, failed["id"]],
    )

    # It is known by where it ended, the failure by where it began.
    await send("crawl.page", document(DOOR + "s", "# Doors", source_url=DOOR))
    await drain(inbox)

    [page] = (await page_rows(conn, run)).values()
    [job] = await child_jobs(conn, run)
    assert (page["uri"], page["error_code"], page["job_id"]) == (DOOR + "s", None, failed["id"])
    assert page["event_id"] is not None
    assert (job["status"], job["attempts"]) == ("pending", 0)
    assert job["fence"] == failed["fence"] + 1
    assert (await crawl_of(conn, run)).page_count == 1


async def test_a_failed_page_whose_job_is_just_ending_is_taken_up_later(
    conn: Connection, application_id: UUID, inbox: Inbox, pool: Pool
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [job] = await child_jobs(conn, run)
    id = await send("crawl.page", document(DOOR, "# Doors"))

    async with pool.connection() as worker, worker.transaction():
        # As a worker that commits the end of the job: it will want the run's lock next.
        await worker.execute(
            "select 1 from rag.processing_jobs where id = %s for update", [job["id"]]
        )
        await inbox.process()
        await crawls.lock(worker, run.crawl_id, source_id=run.source_id, job_id=job["id"])
    waiting = await event_row(conn, id)
    await conn.execute("update rag.webhook_events set retry_at = null")
    await drain(inbox)

    assert (waiting["processed_at"], waiting["attempts"]) == (None, 1)
    [page] = (await page_rows(conn, run)).values()
    assert page["event_id"] == id


async def test_a_page_whose_job_somebody_cancelled_stays_cancelled(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="timed out")
    await drain(inbox)
    [job] = await child_jobs(conn, run)
    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, job_ids=[job["id"]])

    await send("crawl.page", document(DOOR, "# Doors"))
    await drain(inbox)

    assert [row["status"] for row in await child_jobs(conn, run)] == ["cancelled"]
    assert (await crawl_of(conn, run)).page_count == 0


async def test_a_run_takes_no_more_pages_than_its_limit_but_notes_every_failure(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1", limit=2)
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", *[document(f"{SITE}{n}", f"# Page {n}") for n in range(5)])
    await send("crawl.page", stub(SITE + "bad"), error="timed out")

    await drain(inbox)

    assert set(await page_rows(conn, run)) == {SITE + "0", SITE + "1", SITE + "bad"}
    [(skipped,)] = await (await conn.execute("select skipped from rag.crawls")).fetchall()
    assert skipped == {"limit": 3}


async def test_hostile_text_is_stored_as_far_as_it_can_be(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send("crawl.page", stub(DOOR), error="\0 half \ud800 of it " + "x" * 9000)
    await send(
        "crawl.page",
        document(SITE + "b", "# \0", scrape_id="s" * 9000, title=["a", "\udfff"], language=[]),
    )

    await drain(inbox)

    rows = await page_rows(conn, run)
    assert rows[DOOR]["error_message"].startswith(" half".strip())
    assert rows[SITE + "b"]["scrape_id"] is None


# ---------------------------------------------------------------- whose event it is


async def test_an_event_that_beats_the_answer_to_the_start_tells_the_crawls_id(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id)
    await Post(conn, "c1", await told(conn, run))("crawl.page", document(DOOR, "# Doors"))

    await drain(inbox)

    assert (await crawl_of(conn, run)).provider_crawl_id == "c1"
    assert len(await page_rows(conn, run)) == 1


async def test_an_event_without_our_ids_waits_until_the_crawl_is_known(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id)
    id = await Post(conn, "c1")("crawl.page", document(DOOR, "# Doors"))
    await drain(inbox)
    before = await event_row(conn, id)

    await crawls.started(conn, run.crawl_id, "c1")
    await webhook_events.take_up_again(conn, "c1")
    await drain(inbox)

    assert (before["error"], before["crawl_id"]) == ("unknown crawl", None)
    assert list(await page_rows(conn, run)) == [DOOR]
    assert (await event_row(conn, id))["error"] is None


@pytest.mark.parametrize("key", ["applicationId", "knowledgeSourceId", "startId"])
async def test_an_event_that_names_our_run_but_another_owner_is_refused(
    conn: Connection, application_id: UUID, inbox: Inbox, key: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    other = str(await add_application(conn)) if key == "applicationId" else str(uuid4())
    id = await send("crawl.page", document(DOOR, "# Doors"), run={**send.run, key: other})

    await drain(inbox)

    assert await page_rows(conn, run) == {}
    row = await event_row(conn, id)
    assert (row["error"], row["crawl_id"]) == ("the event is of another crawl than it says", None)


async def test_an_event_of_another_crawl_with_our_ids_is_refused(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    mine = await sent_run(conn, application_id, provider_id="c1")
    await Post(conn, "c2", await told(conn, mine))("crawl.page", document(DOOR, "# Doors"))

    await drain(inbox)

    assert await page_rows(conn, mine) == {}


async def test_an_event_cannot_take_the_crawl_of_another_run(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    other = await add_application(conn)
    theirs = await sent_run(conn, other, provider_id="c1")
    mine = await sent_run(conn, application_id)
    id = await Post(conn, "c1", await told(conn, mine))("crawl.page", document(DOOR, "# Doors"))

    await drain(inbox)

    assert (await crawl_of(conn, mine)).provider_crawl_id is None
    assert await page_rows(conn, mine) == await page_rows(conn, theirs) == {}
    assert (await event_row(conn, id))["error"] == "the event is of another run's crawl"


async def test_events_of_an_earlier_start_do_not_reach_the_run_that_was_begun_anew(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    old = Post(conn, "c1", await told(conn, run))
    await crawls.restart(conn, run.crawl_id)
    await old("crawl.page", document(SITE + "a", "# Old"))
    await drain(inbox)
    await crawls.start_sent(conn, run.crawl_id)

    await old("crawl.page", document(SITE + "b", "# Old"))
    await drain(inbox)

    assert await page_rows(conn, run) == {}
    assert (await crawl_of(conn, run)).provider_crawl_id is None


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"not JSON \xff", None),
        (b"[1, 2]", None),
        (b"{}", "the event names no crawl"),
        (event("crawl.page", id="x" * 9000), "the event names no crawl"),
        (event("crawl.page", id="c9", run={"crawlId": "no uuid"}), "unknown crawl"),
        (event("crawl.page", id="c9", run={"crawlId": str(uuid4())}), "unknown crawl"),
        (event("extract.completed", id="c9"), "unknown crawl"),
    ],
)
async def test_an_event_that_is_nobodys_is_kept_with_the_reason(
    conn: Connection, application_id: UUID, inbox: Inbox, body: bytes, error: str | None
) -> None:
    id = await post(conn, body)

    await drain(inbox)

    row = await event_row(conn, id)
    assert row["processed_at"] is not None
    assert row["error"] == error if error else row["error"]
    assert row["crawl_id"] is None


async def test_an_event_of_a_deleted_source_changes_nothing(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    await Post(conn, "c1", await told(conn, run))("crawl.page", document(DOOR, "# Doors"))
    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[run.source_id])

    await drain(inbox)

    assert await page_rows(conn, run) == {}


async def test_a_source_that_is_deleted_while_its_event_is_processed_gets_no_page(
    conn: Connection, application_id: UUID, inbox: Inbox, pool: Pool
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    id = await Post(conn, "c1", await told(conn, run))("crawl.page", document(DOOR, "# Doors"))

    async with pool.connection() as person, person.transaction():
        await source_control.delete(person, application_id=application_id, ids=[run.source_id])
        processing = asyncio.create_task(inbox.process())
        await until(lambda: _is_waiting(conn))
    await processing

    assert await page_rows(conn, run) == {}
    assert (await event_row(conn, id))["error"] is not None


@pytest.mark.parametrize("status", ["finishing", "completed"])
async def test_a_late_event_of_a_run_that_has_ended_changes_nothing(
    conn: Connection, application_id: UUID, inbox: Inbox, status: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await conn.execute("update rag.crawls set status = %s", [status])
    id = await send("crawl.page", document(DOOR, "# Doors"))

    await drain(inbox)

    assert await page_rows(conn, run) == {}
    assert (await event_row(conn, id))["error"] == "the run takes no more pages"
    assert await stopped(conn) == []


async def test_a_run_cancelled_before_its_crawl_was_known_is_stopped_by_the_first_event(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id)
    send = Post(conn, "c1", await told(conn, run))
    async with conn.transaction():
        await runs.end_open(conn, job_ids=[run.job_id])

    await send("crawl.started")
    await send("crawl.page", document(DOOR, "# Doors"))
    await drain(inbox)

    assert await stopped(conn) == ["c1"]
    assert await page_rows(conn, run) == {}


# ---------------------------------------------------------------- waking, failing, large bodies


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


async def test_an_event_that_cannot_be_processed_is_tried_five_times_and_stays_visible(
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


async def test_an_event_that_arrives_is_processed_at_once(
    conn: Connection, application_id: UUID, dsn: str, pool: Pool, blobs: LocalBlobStore
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    listener = Listener(dsn, channels=(CHANNEL,))
    inbox = make_inbox(pool, blobs, listener)
    inbox.start()
    listener.start()
    try:
        await send("crawl.page", document(DOOR, "# Doors"))
        await until(lambda: page_rows(conn, run))
    finally:
        await inbox.close()
        await listener.close()


async def _is_waiting(conn: Connection) -> bool:
    cursor = await conn.execute(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'"
    )
    return await cursor.fetchone() is not None
