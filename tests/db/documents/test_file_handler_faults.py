"""The file handler when something is missing, fails or changes meanwhile."""

import hashlib
from typing import Any
from uuid import UUID

import pytest

from ingest.errors import IngestError, Permanent, Transient
from ingest.handlers.context import Progress
from ingest.handlers.documents.file import ingest_file
from ingest.model import Coverage
from ingest.postgres.database import Connection
from ingest.store.queue import job_control
from ingest.store.queue.jobs import Ended
from ingest.store.sources import sources
from ingest.worker.commit import Finished, commit
from tests.support.file_fixtures import House
from tests.support.queue_builders import claim, source_row


async def _rows(conn: Connection, query: Any, *values: Any) -> list[Any]:
    return await (await conn.execute(query, values)).fetchall()


@pytest.mark.parametrize(
    "failure",
    [
        Permanent("no", code="embedding_rejected"),
        Transient("no", code="embedding_unavailable"),
    ],
)
async def test_a_failed_run_leaves_the_old_version_and_its_hash(
    house: House, conn: Connection, application_id: UUID, failure: IngestError
) -> None:
    source = await house.upload(application_id, "a.txt", "old")
    await house.run()
    await house.upload(application_id, "a.txt", "new")
    house.embedder.failures = [failure]
    await house.run()

    assert await _rows(conn, "select content from rag.chunks") == [("old",)]
    assert (await source_row(conn, source))["content_hash"] == hashlib.sha256(b"old").digest()


async def test_missing_blob_is_reported(
    house: House, conn: Connection, application_id: UUID
) -> None:
    source = await house.upload(application_id, "a.txt", "one")
    [(key,)] = await _rows(conn, "select blob_key from rag.job_files")
    await house.blobs.delete([key])
    await house.run()

    row = await source_row(conn, source)
    assert (row["status"], row["error_code"]) == ("failed", "blob_missing")


async def test_crashed_parser_is_retried_once(
    house: House, conn: Connection, application_id: UUID
) -> None:
    crash = Permanent("crash", code="parser_crashed")
    lucky = await house.upload(application_id, "lucky.txt", "one")
    house.parser.failures = [crash]
    await house.run()
    deadly = await house.upload(application_id, "deadly.txt", "two")
    house.parser.failures = [crash, crash, crash]
    await house.run()

    assert (await source_row(conn, lucky))["status"] == "completed"
    row = await source_row(conn, deadly)
    assert (row["status"], row["error_code"]) == ("failed", "parser_crashed")
    assert len(house.parser.failures) == 1


@pytest.mark.parametrize(
    ("coverage", "expected"),
    [
        (Coverage(pages=20, with_text=19, empty=0, failed=1), "completed"),
        (Coverage(pages=20, with_text=10, empty=10), "completed"),  # blank ones have nothing
        (Coverage(pages=20, with_text=10, empty=0, unread=10), "partial"),
        (Coverage(pages=20, with_text=10, empty=0, failed=10), "partial"),
    ],
)
async def test_a_document_that_lost_many_pages_is_partial(
    house: House, conn: Connection, application_id: UUID, coverage: Coverage, expected: str
) -> None:
    house.parser.coverage = coverage
    source = await house.upload(application_id, "a.pdf", "one")
    await house.run()

    assert (await source_row(conn, source))["status"] == expected


async def test_a_source_that_was_deleted_meanwhile_gets_no_chunks(
    house: House, conn: Connection, application_id: UUID
) -> None:
    source = await house.upload(application_id, "a.txt", "one")
    [job] = await claim(conn)
    async with conn.transaction():
        await sources.tombstone(conn, application_id=application_id, ids=[source])
    finished = await house.carry_out(job)

    assert finished.ended.error_code == "source_deleted"
    assert await _rows(conn, "select count(*) from rag.chunks") == [(0,)]


async def test_a_delete_between_embedding_and_storing_is_final(
    house: House, conn: Connection, application_id: UUID
) -> None:
    source = await house.upload(application_id, "a.txt", "one")
    [job] = await claim(conn)
    outcome = await ingest_file(job, house.context, Progress(job))
    async with conn.transaction():
        await job_control.cancel(conn, application_id=application_id, source_ids=[source])
        await sources.tombstone(conn, application_id=application_id, ids=[source])
    end = Ended(job=job, status="completed")
    late = Finished(ended=end, write=outcome.write, documents=outcome.documents)

    assert await commit(house.pool, [late]) == set()
    assert await _rows(conn, "select count(*) from rag.chunks") == [(0,)]
