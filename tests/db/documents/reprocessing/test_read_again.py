"""Stored sources are read again although they have not changed, old until new."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from ingest.errors import Permanent
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import job_control
from ingest.store.sources.source_control import read_again
from tests.builders.make_archives import zip_of
from tests.servers.web_server import response
from tests.support.archive_fixtures import ArchiveHouse, source, texts
from tests.support.crawl.crawl_fixtures import html, site_house


async def ask(pool: Pool, application_id: UUID, *ids: UUID) -> dict[UUID, UUID]:
    async with transaction(pool) as conn:
        return await read_again(conn, application_id=application_id, ids=ids)


async def job_row(conn: Connection, id: UUID) -> Any:
    query = "select status, priority, batch_id from rag.processing_jobs where id = %s"
    return await (await conn.execute(query, [id])).fetchone()


async def test_a_file_is_read_from_its_stored_bytes(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.txt", b"one\ntwo")
    archives.reader.read.clear()
    embedded = archives.embedder.calls

    started = await ask(archives.pool, application_id, id)
    pending = await source(conn, id)
    old = await texts(conn, id)
    await archives.run_all()

    assert (pending["status"], pending["current_job_id"]) == ("pending", started[id])
    assert old == {"a.txt": "one\ntwo"}  # searchable meanwhile
    assert archives.reader.read == ["a.txt"]
    assert (await source(conn, id))["status"] == "completed"
    assert await texts(conn, id) == old
    assert archives.embedder.calls == embedded  # the same chunks keep their vectors
    # Behind what people wait for, and in no batch: the counts of the upload stay.
    assert await job_row(conn, started[id]) == ("completed", -10, None)


async def test_files_in_an_archive_are_read_again_once(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    packed = zip_of({"a.txt": b"one", "inner.zip": zip_of({"b.txt": b"two"})})
    id = await archives.ingest(application_id, "docs.zip", packed)
    before = await texts(conn, id)

    archives.reader.read.clear()
    await ask(archives.pool, application_id, id)
    await archives.run_all()
    again = sorted(archives.reader.read)
    archives.reader.read.clear()
    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one", "c.txt": b"three"}))

    assert len(before) == 2
    assert again == ["a.txt", "b.txt", "docs.zip", "inner.zip"]
    assert sorted(archives.reader.read) == ["c.txt", "docs.zip"]


async def test_a_file_that_cannot_be_read_any_more_keeps_its_chunks(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await archives.ingest(application_id, "a.txt", b"one")

    async def refuse(*_: object, **__: object) -> None:
        raise Permanent("damaged", code="corrupt")

    monkeypatch.setattr(archives.reader, "parse", refuse)
    await ask(archives.pool, application_id, id)
    await archives.run_all()

    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("failed", "corrupt")
    assert await texts(conn, id) == {"a.txt": "one"}


async def test_sources_in_work_failed_files_and_those_of_others_are_left_alone(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    done = await archives.ingest(application_id, "done.txt", b"one")
    failed = await archives.ingest(application_id, "empty.txt", b"")
    removed = await archives.ingest(application_id, "removed.txt", b"two")
    await conn.execute(
        "update rag.knowledge_sources set deleted_at = now() where id = %s", [removed]
    )
    waiting = (await archives.send(application_id, "new.txt", b"three")).source_id
    assert waiting is not None
    before = await source(conn, failed)

    assert await ask(archives.pool, uuid4(), done) == {}
    first = await ask(archives.pool, application_id, done, failed, removed, waiting, uuid4())
    second = await ask(archives.pool, application_id, done)

    assert (list(first), second) == ([done], {})
    assert await source(conn, failed) == before


async def test_cancelling_it_keeps_what_is_stored(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    await ask(archives.pool, application_id, id)
    async with transaction(archives.pool) as writer:
        await job_control.cancel(writer, application_id=application_id, source_ids=[id])
    archives.reader.read.clear()

    # The next run still reads what has not been read.
    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one", "b.txt": b"two"}))

    assert sorted(archives.reader.read) == ["a.txt", "b.txt", "docs.zip"]


async def test_unchanged_pages_are_fetched_and_read_again_once(
    pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/a", headers={"ETag": '"1"'}),
        "/a": html("A.", headers={"Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        before, parsed = await house.texts(run), house.parser.calls
        house.web.requests.clear()

        await ask(pool, application_id, run.source_id)
        await house.run_all()
        asked = {request.path: request.headers for request in house.web.requests}
        parsed = house.parser.calls - parsed
        after = await house.texts(run)

        house.web.answers |= {"/": response(status=304), "/a": response(status=304)}
        run, _, parsed_later = await house.again(application_id, run.source_id)
        later = {page["status"] for page in (await house.pages(run)).values()}

    assert (parsed, parsed_later, later) == (2, 0, {"unchanged"})
    assert "if-none-match" not in asked["/"]
    assert "if-modified-since" not in asked["/a"]
    assert after == before
