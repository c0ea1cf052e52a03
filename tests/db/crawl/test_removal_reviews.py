"""What a person's word does to a run whose removals were held."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, Pool
from ingest.store.queue import reviews
from tests.support.crawl.crawl_fixtures import five_pages, html, site_house
from tests.support.crawl.crawl_sources import add_page, crawl_row, hold_removals, start
from tests.support.queue_builders import add_application, enqueue, job_row, source_row

Decision = Callable[..., Awaitable[bool]]

HOME = "https://site.example/"
OLD = "https://site.example/old"


async def live_pages(conn: Connection, source_id: UUID) -> set[str]:
    cursor = await conn.execute(
        "select uri from rag.documents where source_id = %s and deleted_at is null", [source_id]
    )
    return {row[0] for row in await cursor.fetchall()}


async def chunk_count(conn: Connection, document_id: UUID) -> int:
    cursor = await conn.execute("select from rag.chunks where document_id = %s", [document_id])
    return cursor.rowcount


async def test_approval_removes_what_was_held(conn: Connection, application_id: UUID) -> None:
    run = await start(conn, application_id)
    documents = await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])

    async with conn.transaction():
        assert await reviews.approve(conn, application_id=application_id, job_id=run.job_id)

    assert await live_pages(conn, run.source_id) == {HOME}
    assert await chunk_count(conn, documents[OLD]) == 0
    digest = (await crawl_row(conn, run.crawl_id))["digest"]
    assert (digest["removed"], digest["removalsHeld"]) == (1, 0)
    source = await source_row(conn, run.source_id)
    assert (source["status"], source["chunk_count"]) == ("completed", 1)
    assert (await job_row(conn, run.job_id))["status"] == "completed"


async def test_approval_keeps_a_page_that_was_found_after_all(
    conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])
    await add_page(conn, run, OLD)

    async with conn.transaction():
        await reviews.approve(conn, application_id=application_id, job_id=run.job_id)

    assert await live_pages(conn, run.source_id) == {HOME, OLD}
    assert (await crawl_row(conn, run.crawl_id))["digest"]["removed"] == 0


async def test_approved_removal_of_all_pages_leaves_an_empty_source(
    conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[], lost=[HOME, OLD])

    async with conn.transaction():
        await reviews.approve(conn, application_id=application_id, job_id=run.job_id)

    source = await source_row(conn, run.source_id)
    assert (source["status"], source["error_code"]) == ("failed", "empty_content")


async def test_rejection_keeps_everything(conn: Connection, application_id: UUID) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])

    async with conn.transaction():
        assert await reviews.reject(conn, application_id=application_id, job_id=run.job_id)

    assert await live_pages(conn, run.source_id) == {HOME, OLD}
    digest = (await crawl_row(conn, run.crawl_id))["digest"]
    assert (digest["removed"], digest["removalsHeld"]) == (0, 0)
    job = await job_row(conn, run.job_id)
    assert (job["status"], job["last_error_code"], job["last_error_message"]) == (
        "cancelled",
        "rejected",
        "rejected",
    )
    source = await source_row(conn, run.source_id)
    assert (source["status"], source["chunk_count"]) == ("completed", 2)


@pytest.mark.parametrize("decision", [reviews.approve, reviews.reject])
async def test_a_decision_is_announced_once_and_cannot_be_made_twice(
    conn: Connection, application_id: UUID, decision: Decision
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])
    before = (await source_row(conn, run.source_id))["event_seq"]

    async with conn.transaction():
        first = await decision(conn, application_id=application_id, job_id=run.job_id)
        second = await decision(conn, application_id=application_id, job_id=run.job_id)

    assert (first, second) == (True, False)
    assert (await source_row(conn, run.source_id))["event_seq"] == before + 1


async def test_another_application_cannot_decide_a_review(
    conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])
    other = await add_application(conn)

    async with conn.transaction():
        assert not await reviews.approve(conn, application_id=other, job_id=run.job_id)
        assert not await reviews.reject(conn, application_id=other, job_id=run.job_id)

    assert (await job_row(conn, run.job_id))["status"] == "review_needed"
    assert await live_pages(conn, run.source_id) == {HOME, OLD}


async def test_approving_a_job_without_run_completes_it(
    conn: Connection, application_id: UUID
) -> None:
    [job] = await enqueue(conn, application_id)
    await conn.execute("update rag.processing_jobs set status = 'review_needed'")

    async with conn.transaction():
        assert await reviews.approve(conn, application_id=application_id, job_id=job)

    assert (await job_row(conn, job))["status"] == "completed"


async def test_a_review_for_another_reason_removes_nothing(
    conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[HOME], lost=[OLD])
    await conn.execute(
        "update rag.crawls set digest = digest || '{\"removalsHeld\": 0}' where id = %s",
        [run.crawl_id],
    )

    async with conn.transaction():
        await reviews.approve(conn, application_id=application_id, job_id=run.job_id)

    assert await live_pages(conn, run.source_id) == {HOME, OLD}


async def test_mass_removal_without_review_is_immediate(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    await conn.execute("update app.applications set settings = '{\"reviews\": []}'")
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/"] = html("Home of the story, nothing else.", "/a")
        run, _, _ = await house.again(application_id, run.source_id)

        assert await house.documents(run) == {"/", "/a"}
        assert (await house.source(run))["status"] == "completed"
    digest = (await crawl_row(conn, run.crawl_id))["digest"]
    assert (digest["removed"], digest["removalsHeld"]) == (3, 0)


async def test_removed_pages_that_are_still_linked_are_gone_and_no_failures(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        del house.web.answers["/b"], house.web.answers["/c"], house.web.answers["/d"]
        home = html("Home of the story.", "/a", "/b", "/c", "/d", "/never-there")
        house.web.answers["/"] = home
        run, _, _ = await house.again(application_id, run.source_id)
        held = await house.pages(run)
        async with conn.transaction():
            await reviews.approve(conn, application_id=application_id, job_id=run.job_id)
        removed = await house.pages(run)
        house.web.answers["/"] = html("Home of the story.", "/a", "/b", "/c", "/d")
        for _ in range(2):
            run, _, _ = await house.again(application_id, run.source_id)
        source, crawl, pages = (
            await house.source(run),
            await house.crawl(run),
            await house.pages(run),
        )
        house.web.answers |= five_pages()
        run, _, _ = await house.again(application_id, run.source_id)

        assert await house.documents(run) == {"/", "/a", "/b", "/c", "/d"}
    assert (held["/b"]["status"], held["/b"]["chunk_count"]) == ("held", 1)
    assert (removed["/b"]["status"], removed["/b"]["chunk_count"]) == ("removed", 0)
    assert held["/never-there"]["status"] == "failed"
    assert [pages[path]["status"] for path in ("/b", "/c", "/d")] == ["gone"] * 3
    assert (source["status"], crawl["is_complete"]) == ("completed", True)
    assert (crawl["digest"]["failed"], crawl["digest"]["removalsHeld"]) == (0, 0)


async def test_rejected_removals_keep_the_run_complete(
    pool: Pool, conn: Connection, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/"] = html("Home of the story, nothing else.", "/a")
        run, _, _ = await house.again(application_id, run.source_id)
        asked = await house.source(run)
        async with conn.transaction():
            await reviews.reject(conn, application_id=application_id, job_id=run.job_id)
        source = await house.source(run)

    assert asked["error_message"].startswith("3 of 5 pages are no longer on the site")
    assert (source["status"], source["error_code"], source["error_message"]) == (
        "completed",
        None,
        None,
    )
