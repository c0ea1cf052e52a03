"""Whose an event is: it may name a run, a crawl, both, neither, or those of somebody else."""

import asyncio
from uuid import UUID, uuid4

import pytest

from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection, Pool
from ingest.store.crawl import crawls, runs, webhook_events
from ingest.store.sources import source_control
from tests.servers.firecrawl_events import document, event
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    crawl_of,
    drain,
    event_row,
    page_rows,
    post,
    sent_run,
    stopped,
    told,
)
from tests.support.queue_builders import add_application
from tests.support.running_worker import until

DOOR = SITE + "door"


async def test_event_before_the_start_answer_reveals_the_crawl_id(
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

    await crawls.save_provider_id(conn, run.crawl_id, "c1")
    await webhook_events.requeue_for_crawl(conn, "c1")
    await drain(inbox)

    assert (before["error"], before["crawl_id"]) == ("unknown crawl", None)
    assert list(await page_rows(conn, run)) == [DOOR]
    assert (await event_row(conn, id))["error"] is None


async def test_concurrent_first_events_agree_on_the_crawl_owner(
    conn: Connection, application_id: UUID, inbox: Inbox, pool: Pool
) -> None:
    run = await sent_run(conn, application_id)
    await Post(conn, "c1", await told(conn, run))("crawl.page", document(DOOR, "# Doors"))
    async with pool.session() as first, first.transaction():
        # It has been told, too, and is a moment ahead.
        await crawls.save_provider_id(first, run.crawl_id, "c1")
        processing = asyncio.create_task(inbox.process())
        await until(lambda: _is_waiting(conn))
    await processing

    assert list(await page_rows(conn, run)) == [DOOR]


async def test_event_with_ids_releases_waiting_events_of_its_crawl(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id)
    await Post(conn, "c1")("crawl.page", document(DOOR, "# Doors"))
    await drain(inbox)

    await Post(conn, "c1", await told(conn, run))("crawl.started")
    await drain(inbox)

    assert list(await page_rows(conn, run)) == [DOOR]


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
    assert (row["error"], row["crawl_id"]) == ("the ids of the event contradict its run", None)


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
    assert (await event_row(conn, id))["error"] == "the crawl of the event belongs to another run"


async def test_crawls_of_other_runs_are_recognised(conn: Connection, application_id: UUID) -> None:
    mine = await sent_run(conn, application_id, provider_id="c1")
    await sent_run(conn, await add_application(conn), provider_id="c2")

    claimed = await crawls.owned_by_other_runs(conn, mine.crawl_id, ["c1", "c2", "c3"])

    assert claimed == {"c2"}


async def test_events_of_an_earlier_start_do_not_reach_a_restarted_run(
    conn: Connection, application_id: UUID, inbox: Inbox
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    old = Post(conn, "c1", await told(conn, run))
    await crawls.restart(conn, run.crawl_id)
    await old("crawl.page", document(SITE + "a", "# Old"))
    await drain(inbox)
    await crawls.record_start_sent(conn, run.crawl_id)

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
async def test_unmatched_event_is_kept_with_the_reason(
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

    async with pool.session() as person, person.transaction():
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
    assert (await event_row(conn, id))["error"] == "the run accepts no more pages"
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


async def _is_waiting(conn: Connection) -> bool:
    cursor = await conn.execute(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'"
    )
    return await cursor.fetchone() is not None
