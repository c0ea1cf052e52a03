"""Every way out of the review of a file, for its first version and for a later one."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ingest.blobs.local import LocalBlobStore
from ingest.handlers.context import Progress
from ingest.handlers.documents.file import ingest_file
from ingest.model import Coverage
from ingest.payloads import FilePayload
from ingest.postgres.database import Connection, Pool, transaction
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.documents import held_documents
from ingest.store.documents.documents import coverage_json
from ingest.store.embeddings import embedding_models
from ingest.store.queue import job_types, reviews
from ingest.store.search.scope import SearchScope
from ingest.store.search.vector_search import VectorQuery
from ingest.store.sources import batch_views, progress, source_control, source_views
from ingest.worker.attempt import attempt
from ingest.worker.commit import commit
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.live_sources import eventually, is_waiting_for_a_lock
from tests.support.queue_builders import add_application, claim, job_row, source_row
from tests.support.searchable_chunks import found_by_words, searching, texts

GOOD = Coverage(pages=10, with_text=10, empty=0)
POOR = Coverage(pages=10, with_text=2, empty=0, unread=8, lost=(3, 4, 5, 6, 7, 8, 9, 10))
OLD, NEW = "an old version", "a new version"


@pytest.fixture
async def house(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> AsyncIterator[House]:
    """The handler, for an application that wants to be asked about files with poor coverage."""
    blobs = LocalBlobStore(tmp_path / "blobs")
    await conn.execute(
        "update app.applications set settings = %s where id = %s",
        [Jsonb({"reviews": ["low_coverage"]}), application_id],
    )
    yield House(pool, blobs, await embedding_models.register(conn, FakeEmbedder().model))
    await blobs.close()


@pytest.fixture(params=[False, True], ids=["first", "second"])
async def waiting(request: pytest.FixtureRequest, house: House, application_id: UUID) -> UUID:
    """The job of a file that waits for a review, as its first or its second version."""
    if request.param:
        house.parser.coverage = GOOD
        await house.upload(application_id, "a.pdf", OLD)
        await house.run()
    house.parser.coverage = POOR
    await house.upload(application_id, "a.pdf", NEW)
    return (await house.run()).ended.job.id


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


async def rows(conn: Connection, query: Any, *values: Any) -> list[Any]:
    return await (await conn.execute(query, values)).fetchall()


async def held(conn: Connection) -> int:
    return len(await rows(conn, "select from rag.documents where held_by_job_id is not null"))


async def source_of(conn: Connection, job_id: UUID) -> dict[str, Any]:
    return await source_row(conn, (await job_row(conn, job_id))["knowledge_source_id"])


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


async def test_a_version_is_held_in_the_commit_that_asks_about_it_or_not_at_all(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.parser.coverage = POOR
    await house.upload(application_id, "a.pdf", NEW)
    [job] = await claim(conn)
    types = {row.type: row for row in await job_types.all_types(conn)}
    finished = await attempt(
        job,
        types["file"],
        handlers={"file": ingest_file},
        context=house.context,
        progress=Progress(job),
    )
    assert finished is not None
    # The job's end is written after its document: Postgres refuses this message.
    broken = replace(finished, ended=replace(finished.ended, error_message="\0"))
    with pytest.raises(psycopg.DataError):
        await commit(house.pool, [broken])
    after_failure = await held(conn), (await job_row(conn, job.id))["status"]
    await commit(house.pool, [finished])

    assert after_failure == (0, "processing")
    assert (await held(conn), (await job_row(conn, job.id))["status"]) == (1, "review_needed")


async def test_only_reviewers_can_read_held_text(
    house: House, conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    document_id = UUID((await job_row(conn, waiting))["result"]["documentId"])
    stranger = await add_application(conn)
    mine, theirs = [
        await source_views.document_text(conn, application_id=id, document_id=document_id)
        for id in (application_id, stranger)
    ]
    async with conn.transaction():
        await reviews.reject(conn, application_id=application_id, job_id=waiting)
    later = await source_views.document_text(
        conn, application_id=application_id, document_id=document_id
    )

    assert (mine, theirs, later) == (NEW, None, None)


async def test_a_decision_is_in_the_log_of_the_job(
    conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    async with conn.transaction():
        await reviews.reject(conn, application_id=application_id, job_id=waiting)

    [*_, last] = await rows(conn, "select message, details from rag.job_logs order by id")
    assert last == ("rejected", {"reason": "low_coverage"})


async def test_reviews_are_raised_only_for_configured_reasons(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.parser.coverage = POOR
    house.parser.warnings = ("hidden_text",)
    reasons = []
    for number, settings in enumerate(
        [{}, {"reviews": []}, {"reviews": ["flagged_content"]}, {"reviews": ["low_coverage"]}]
    ):
        await conn.execute("update app.applications set settings = %s", [Jsonb(settings)])
        await house.upload(application_id, f"{number}.pdf", NEW)
        reasons.append((await house.run()).ended.review_reason)

    assert reasons == [None, None, "flagged_content", "low_coverage"]


async def test_pending_review_does_not_block_counts(
    conn: Connection, application_id: UUID, waiting: UUID
) -> None:
    source = await source_of(conn, waiting)
    batch = await batch_views.get(conn, application_id=application_id, id=source["batch_id"])
    [of_source] = await progress.of_sources(conn, application_id=application_id, ids=[source["id"]])

    assert batch is not None
    assert (batch.accepted, batch.review_needed, batch.pending, batch.processing) == (1, 1, 0, 0)
    assert (of_source.total, of_source.review_needed, of_source.status) == (1, 1, "review_needed")


async def test_only_orphaned_held_versions_are_dropped(
    house: House, conn: Connection, application_id: UUID
) -> None:
    house.parser.coverage = POOR
    for path in ("a.pdf", "b.pdf", "c.pdf"):
        await house.upload(application_id, path, NEW)
    ended = [(await house.run()).ended.job.id for _ in range(3)]
    await conn.execute("update rag.processing_jobs set status = 'failed' where id = %s", [ended[0]])
    await conn.execute("delete from rag.processing_jobs where id = %s", [ended[1]])

    dropped = [await held_documents.drop_orphans(conn, 1) for _ in range(3)]

    assert dropped == [1, 1, 0]
    assert await rows(conn, "select held_by_job_id from rag.documents") == [(ended[2],)]
