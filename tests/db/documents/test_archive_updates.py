"""The next version of an archive or message: only what has changed is read, old until new."""

import gzip
from typing import LiteralString
from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from tests.builders.make_archives import zip_of
from tests.builders.make_mail_with_file import MAIL, MAIL_ALONE
from tests.support.archive_fixtures import ArchiveHouse, source, texts


async def test_a_second_version_reads_only_what_has_changed(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    first = {"same.txt": b"same", "changed.txt": b"before", "gone.txt": b"gone"}
    id = await archives.ingest(application_id, "docs.zip", zip_of(first))
    archives.reader.read.clear()

    await archives.ingest(
        application_id, "docs.zip", zip_of({"same.txt": b"same", "changed.txt": b"after"})
    )

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 2)
    assert archives.reader.read == ["docs.zip", "changed.txt"]
    assert await texts(conn, id) == {"docs.zip/changed.txt": "after", "docs.zip/same.txt": "same"}


@pytest.mark.parametrize("change", ["embedding_model_id = 0", "status = 'partial'"])
async def test_members_without_vectors_of_the_current_model_are_read_again(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, change: LiteralString
) -> None:
    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one"}))
    await conn.execute("update rag.documents set " + change)
    archives.reader.read.clear()

    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"one", "b.txt": b"two"}))

    assert sorted(archives.reader.read) == ["a.txt", "b.txt", "docs.zip"]


async def test_the_same_archive_again_is_unchanged(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = zip_of({"a.txt": b"one"})
    await archives.ingest(application_id, "docs.zip", data)

    verdict = await archives.send(application_id, "docs.zip", data)

    assert verdict.verdict == "unchanged"


async def test_removed_members_are_kept_until_the_new_version_is_complete(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", zip_of({"old.txt": b"old"}))
    await archives.send(application_id, "docs.zip", zip_of({"new.txt": b"new"}))

    seen = []
    while job := await archives.claim():
        await archives.carry_out(job)
        seen.append(list(await texts(conn, id)))

    old, new = "docs.zip/old.txt", "docs.zip/new.txt"
    # The root, its archive, the new file, and the root again.
    assert seen == [[old], [old], [new, old], [new]]


async def test_a_file_that_cannot_be_read_any_more_keeps_what_was_known(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(
        application_id, "docs.zip", zip_of({"a.txt": b"one", "b.txt": b"two"})
    )

    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt": b"", "b.txt": b"three"}))

    row = await source(conn, id)
    assert (row["status"], row["error_code"], row["chunk_count"]) == ("partial", "empty_content", 2)
    assert await texts(conn, id) == {"docs.zip/a.txt": "one", "docs.zip/b.txt": "three"}


async def test_an_inner_archive_that_is_damaged_now_keeps_what_was_in_it(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    inner = zip_of({"a.txt": b"one"})
    id = await archives.ingest(
        application_id, "docs.zip", zip_of({"in.zip": inner, "b.txt": b"two"})
    )

    await archives.ingest(application_id, "docs.zip", zip_of({"in.zip": inner[:-10]}))

    assert await texts(conn, id) == {"docs.zip/in.zip/a.txt": "one"}


async def test_plain_file_replacing_an_archive_removes_its_members(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs", zip_of({"a.txt": b"one", "b.txt": b"two"}))

    await archives.ingest(application_id, "docs", b"just text")
    after_file = (await texts(conn, id), (await source(conn, id))["chunk_count"])
    await archives.ingest(application_id, "docs", zip_of({"a.txt": b"one"}))

    assert after_file == ({"docs": "just text"}, 1)
    assert await texts(conn, id) == {"docs/a.txt": "one"}
    assert (await source(conn, id))["chunk_count"] == 1


async def test_documents_of_compressed_files_from_before_they_were_one_are_replaced(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    """Earlier versions took a compressed file for an archive with one file."""
    packed = gzip.compress(b"one")
    earlier = {"a.txt.gz/a.txt": b"one", "b.txt": b"two"}
    id = await archives.ingest(application_id, "docs.zip", zip_of(earlier))

    await archives.ingest(application_id, "docs.zip", zip_of({"a.txt.gz": packed, "b.txt": b"two"}))

    assert await texts(conn, id) == {"docs.zip/a.txt.gz": "one", "docs.zip/b.txt": "two"}


async def test_a_new_version_of_a_file_keeps_the_id_of_its_document(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    query = "select id from rag.documents"
    await archives.ingest(application_id, "a.txt", b"one")
    before = await (await conn.execute(query)).fetchall()

    await archives.ingest(application_id, "a.txt", b"two")

    assert await (await conn.execute(query)).fetchall() == before


async def test_missing_attachment_is_removed(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "mail.eml", MAIL)

    await archives.ingest(application_id, "mail.eml", MAIL_ALONE)

    row = await source(conn, id)
    assert list(await texts(conn, id)) == ["mail.eml"]
    assert (row["status"], row["chunk_count"]) == ("completed", 1)


async def test_a_message_whose_attachments_are_all_known_ends_at_once(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "mail.eml", MAIL)
    archives.reader.read.clear()

    await archives.ingest(
        application_id, "mail.eml", MAIL.replace(b"attached.", b"attached below.")
    )

    row = await source(conn, id)
    assert archives.reader.read == ["mail.eml"]
    assert sorted(await texts(conn, id)) == ["mail.eml", "mail.eml/minutes.txt"]
    assert (row["status"], row["chunk_count"]) == ("completed", 2)


async def test_attachments_of_a_message_in_an_archive_are_looked_at_again(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "docs.zip", zip_of({"m.eml": MAIL, "a.txt": b"one"}))

    await archives.ingest(application_id, "docs.zip", zip_of({"m.eml": MAIL}))

    assert sorted(await texts(conn, id)) == ["docs.zip/m.eml", "docs.zip/m.eml/minutes.txt"]
