"""Versions that are held for a review: who reads them, when one is held, when it is dropped."""

from dataclasses import replace
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ingest.handlers.context import Progress
from ingest.handlers.documents.file import ingest_file
from ingest.postgres.database import Connection
from ingest.store.documents import held_documents
from ingest.store.queue import job_types, reviews
from ingest.store.sources import batch_views, progress, source_views
from ingest.worker.attempt import attempt
from ingest.worker.commit import commit
from tests.db.documents.reviews.conftest import NEW, POOR, held, rows, source_of
from tests.support.file_fixtures import House
from tests.support.queue_builders import add_application, claim, job_row


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
