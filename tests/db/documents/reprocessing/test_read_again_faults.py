"""Reading again when something else happens between the request and the end of its run."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from ingest.errors import Permanent
from ingest.postgres.database import Connection, transaction
from ingest.store.sources.source_control import delete, edit, retry
from ingest.ticks.recovery import recover_stale_jobs
from ingest.worker.commit import commit
from tests.builders.make_archives import zip_of
from tests.db.documents.reprocessing.test_read_again import ask, job_row
from tests.support.archive_fixtures import ArchiveHouse, source, texts
from tests.support.queue_builders import add_application


async def marked(conn: Connection, source_id: UUID) -> int:
    query = "select count(*) from rag.documents where source_id = %s and read_again"
    [(count,)] = await (await conn.execute(query, [source_id])).fetchall()
    return int(count)


async def test_of_two_requests_at_once_one_starts_a_run(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.txt", b"one")

    both = await asyncio.gather(*(ask(archives.pool, application_id, id) for _ in range(2)))

    [started] = [answer for answer in both if answer]
    assert {"status": "pending", "current_job_id": started[id]}.items() <= (
        await source(conn, id)
    ).items()
    open_jobs = "select count(*) from rag.processing_jobs where status = 'pending'"
    assert await (await conn.execute(open_jobs)).fetchone() == (1,)


@pytest.mark.parametrize("name", ["a.txt", "docs.zip"])
async def test_what_is_stored_stays_when_the_bytes_are_gone(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, name: str
) -> None:
    data = zip_of({"a.txt": b"one"}) if name == "docs.zip" else b"one"
    id = await archives.ingest(application_id, name, data)
    before, stored = await source(conn, id), await texts(conn, id)
    await archives.blobs.delete([before["blob_key"]])

    await ask(archives.pool, application_id, id)
    await archives.run_all()

    after = await source(conn, id)
    assert (after["status"], after["error_code"]) == ("failed", "blob_missing")
    assert (after["chunk_count"], await texts(conn, id)) == (before["chunk_count"], stored)
    # It cannot be read again, only uploaded: which is accepted although the bytes are the same.
    assert await ask(archives.pool, application_id, id) == {}
    await archives.ingest(application_id, name, data)
    assert (await source(conn, id))["status"] == "completed"
    assert await texts(conn, id) == stored


async def test_an_upload_before_the_run_wins(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.txt", b"one")
    started = await ask(archives.pool, application_id, id)
    old = await archives.claim()  # a worker holds the run, and ends it late
    assert old is not None
    finished = await archives.attempt(old)

    same = await archives.send(application_id, "a.txt", b"one")
    newer = await archives.send(application_id, "a.txt", b"two")
    await commit(archives.pool, [finished])
    await archives.run_all()

    assert (same.verdict, same.job_id) == ("unchanged", started[id])
    assert newer.verdict == "accepted"
    assert (await source(conn, id))["status"] == "completed"
    assert await texts(conn, id) == {"a.txt": "two"}
    assert (await job_row(conn, started[id]))[0] == "cancelled"


async def test_a_source_deleted_before_the_run_stays_deleted(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    started = await ask(archives.pool, application_id, id)
    job = await archives.claim()
    assert job is not None
    finished = await archives.attempt(job)
    async with transaction(archives.pool) as writer:
        await delete(writer, application_id=application_id, ids=[id])

    await commit(archives.pool, [finished])
    await archives.run_all()

    assert (await source(conn, id))["deleted_at"] is not None
    assert (await job_row(conn, started[id]))[0] == "cancelled"
    assert await ask(archives.pool, application_id, id) == {}


async def test_a_run_whose_worker_was_killed_goes_on(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(
        application_id, "docs.zip", zip_of({"a.txt": b"one", "b.txt": b"two"})
    )
    before = await texts(conn, id)
    await ask(archives.pool, application_id, id)
    archives.reader.read.clear()
    for _ in range(3):  # the archive, its unpacking and a member
        job = await archives.claim()
        assert job is not None
        await archives.carry_out(job)
    killed = await archives.claim()
    assert killed is not None
    await archives.attempt(killed)

    assert await recover_stale_jobs(archives.pool, stale_after=timedelta(0)) == 1
    await conn.execute("update rag.processing_jobs set run_at = null where status = 'pending'")
    await archives.run_all()

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 2)
    assert await texts(conn, id) == before
    assert await marked(conn, id) == 0
    # Only the file in the killed hands is read twice.
    twice = [name for name in ("a.txt", "b.txt") if archives.reader.read.count(name) == 2]
    assert (len(archives.reader.read), len(twice)) == (4, 1)


async def test_a_source_renamed_before_the_run_keeps_its_new_name(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.txt", b"one")
    await ask(archives.pool, application_id, id)
    async with transaction(archives.pool) as writer:
        await edit(writer, application_id=application_id, id=id, name="Other", metadata=None)

    await archives.run_all()

    row = await source(conn, id)
    assert (row["status"], row["name"]) == ("completed", "Other")
    assert await texts(conn, id) == {"a.txt": "one"}


async def test_only_documents_of_the_sources_asked_for_are_marked(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    other = await add_application(conn)
    data = zip_of({"a.txt": b"one"})
    mine, next_to_it = [
        await archives.ingest(application_id, name, data) for name in ("a.zip", "b.zip")
    ]
    foreign = await archives.ingest(other, "a.zip", data)

    started = await ask(archives.pool, application_id, mine, foreign)

    assert list(started) == [mine]
    assert [await marked(conn, id) for id in (mine, next_to_it, foreign)] == [1, 0, 0]


async def test_a_source_whose_failed_file_is_tried_again_is_in_work(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    archives.embedder.failures = [Permanent("no", code="embedding_rejected")]
    data = zip_of({"a.txt": b"one", "b.txt": b"two"})
    id = await archives.ingest(application_id, "docs.zip", data)
    async with transaction(archives.pool) as writer:
        cursor = await writer.execute("select id from rag.processing_jobs where status = 'failed'")
        failed = [row[0] for row in await cursor.fetchall()]
        await retry(writer, application_id=application_id, statuses=["failed"], job_ids=failed)

    assert await ask(archives.pool, application_id, id) == {}
    await archives.run_all()
    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 2)
    assert list(await ask(archives.pool, application_id, id)) == [id]
