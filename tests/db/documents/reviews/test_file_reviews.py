"""Every way out of the review of a file, for its first version and for a later one."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, transaction
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.documents.documents import coverage_json
from ingest.store.queue import reviews
from ingest.store.search.scope import SearchScope
from ingest.store.search.vector_search import VectorQuery
from ingest.store.sources import source_control, source_views
from tests.db.documents.reviews.conftest import GOOD, NEW, OLD, POOR, held, rows, source_of
from tests.support.file_fixtures import House
from tests.support.live_sources import eventually, is_waiting_for_a_lock
from tests.support.queue_builders import job_row
from tests.support.searchable_chunks import found_by_words, searching, texts


async def found(conn: Connection, house: House, application_id: UUID) -> set[str]:
    """The chunks that a search finds by words or by meaning, with a filter and without."""
    everywhere = SearchScope(application_id=application_id)
    sources = [row[0] for row in await rows(conn, "select id from rag.knowledge_sources")]
    ranked = await found_by_words(conn, everywhere, "version")
    async with searching(conn, application_id):
        statistics = SearchStatistics()
        for scope in (everywhere, replace(everywhere, source_ids=sources)):
            query = VectorQuery(
                scope=scope,
                model_id=house.model_id,
                vector=house.embedder.vector(NEW),
                limit=9,
            )
            ranked += await by_meaning(conn, query, statistics)
    return set(await texts(conn, [hit.id for hit in ranked]))


def is_second(source: dict[str, Any]) -> bool:
    return source["content_hash"] is not None


async def test_held_version_is_hidden_and_the_old_one_searchable(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    source = await source_of(conn, waiting)
    before = {OLD} if is_second(source) else set()
    job = await job_row(conn, waiting)
    chunks = await source_views.list_chunks(
        conn, application_id=application_id, source_id=source["id"], limit=9, after=None
    )
    documents = await source_views.list_documents(
        conn, application_id=application_id, source_id=source["id"], limit=9, after=None
    )

    assert await found(conn, house, application_id) == before
    assert {chunk.content for chunk in chunks} == before
    assert [document.uri for document in documents] == ["a.pdf"] * len(before)
    assert (job["status"], job["review_reason"]) == ("review_needed", "low_coverage")
    assert job["last_error_message"].startswith("2 of 10 pages have text")
    assert (source["status"], source["error_message"]) == (
        "review_needed",
        job["last_error_message"],
    )
    assert source["chunk_count"] == len(before)


async def test_approval_puts_the_new_version_in_the_place_of_the_old(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        assert await reviews.approve(conn, application_id=application_id, job_id=waiting)

    job, source = await job_row(conn, waiting), await source_of(conn, waiting)
    assert await found(conn, house, application_id) == {NEW}
    assert (job["status"], job["review_reason"], job["last_error_message"]) == (
        "completed",
        None,
        None,
    )
    assert (source["status"], source["chunk_count"], source["token_count"]) == ("partial", 1, 3)
    file = FilePayload.model_validate(job["payload"])
    assert source["content_hash"] == file.content_hash
    assert source["blob_key"] == file.blob_key
    assert source["size_bytes"] == len(NEW)
    assert source["embedding_model_id"] == house.model_id
    assert source["coverage"] == coverage_json(POOR)
    [document] = await rows(conn, "select id, uri, deleted_at, held_by_job_id from rag.documents")
    assert document == (UUID(job["result"]["documentId"]), "a.pdf", None, None)


async def test_rejection_changes_nothing(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    before = await source_of(conn, waiting)
    async with conn.transaction():
        assert await reviews.reject(conn, application_id=application_id, job_id=waiting)

    job, source = await job_row(conn, waiting), await source_of(conn, waiting)
    assert (job["status"], job["last_error_code"]) == ("cancelled", "rejected")
    assert (await held(conn), source["content_hash"]) == (0, before["content_hash"])
    if is_second(before):
        assert await found(conn, house, application_id) == {OLD}
        assert (source["status"], source["error_code"]) == ("completed", None)
    else:
        assert await found(conn, house, application_id) == set()
        assert (source["status"], source["error_code"]) == ("cancelled", "rejected")


async def test_a_retry_looks_at_the_file_again(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        await source_control.retry(
            conn, application_id=application_id, job_ids=[waiting], statuses=["review_needed"]
        )
    job, left = await job_row(conn, waiting), await held(conn)
    house.parser.coverage = GOOD
    await house.run()

    assert (job["status"], job["review_reason"], left) == ("pending", None, 0)
    assert await found(conn, house, application_id) == {NEW}
    assert (await source_of(conn, waiting))["status"] == "completed"


async def test_retry_may_raise_the_review_again(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        await source_control.retry(
            conn, application_id=application_id, job_ids=[waiting], statuses=["review_needed"]
        )
    await house.run()

    assert (await job_row(conn, waiting))["status"] == "review_needed"
    assert await held(conn) == 1


async def test_a_newer_upload_ends_the_review(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    house.parser.coverage = GOOD
    await house.upload(application_id, "a.pdf", "the newest version")
    left, job = await held(conn), await job_row(conn, waiting)
    await house.run()

    assert (left, job["status"], job["review_reason"]) == (0, "cancelled", None)
    assert await found(conn, house, application_id) == {"the newest version"}
    assert (await source_of(conn, waiting))["status"] == "completed"


async def test_the_same_bytes_again_do_not_ask_twice(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    await house.upload(application_id, "a.pdf", NEW)

    assert (await job_row(conn, waiting))["status"] == "review_needed"
    assert await held(conn) == 1
    assert await rows(conn, "select from rag.processing_jobs where status = 'pending'") == []


async def test_rejected_bytes_raise_no_second_review(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        await reviews.reject(conn, application_id=application_id, job_id=waiting)
    before = await source_of(conn, waiting)

    await house.upload(application_id, "a.pdf", NEW)

    assert await source_of(conn, waiting) == before
    assert await rows(conn, "select from rag.processing_jobs where status = 'pending'") == []


async def test_a_cancel_ends_the_review(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    before = {OLD} if is_second(await source_of(conn, waiting)) else set()
    async with conn.transaction():
        await source_control.cancel(conn, application_id=application_id, job_ids=[waiting])

    source = await source_of(conn, waiting)
    assert (source["status"], source["error_code"]) == ("cancelled", "cancelled")
    assert await held(conn) == 0
    assert await found(conn, house, application_id) == before


async def test_nothing_is_left_of_a_source_that_is_deleted_in_its_review(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    source = await source_of(conn, waiting)
    async with conn.transaction():
        await source_control.delete(conn, application_id=application_id, ids=[source["id"]])

    assert (await job_row(conn, waiting))["status"] == "cancelled"
    assert await held(conn) == 0
    assert await found(conn, house, application_id) == set()


async def test_of_two_people_who_decide_at_the_same_moment_one_does(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async def reject() -> bool:
        async with transaction(house.pool) as other:
            return await reviews.reject(other, application_id=application_id, job_id=waiting)

    async with transaction(house.pool) as first:
        approved = await reviews.approve(first, application_id=application_id, job_id=waiting)
        rejecting = asyncio.create_task(reject())
        await eventually(lambda: is_waiting_for_a_lock(conn))

    assert (approved, await rejecting) == (True, False)
    assert await found(conn, house, application_id) == {NEW}


async def test_a_decision_is_in_the_log_of_the_job(
    conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        await reviews.reject(conn, application_id=application_id, job_id=waiting)

    [*_, last] = await rows(conn, "select message, details from rag.job_logs order by id")
    assert last == ("rejected", {"reason": "low_coverage"})
