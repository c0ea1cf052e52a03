"""Files that hold no text of their own: the files inside them are read all the same."""

from uuid import UUID

import pytest

from ingest.postgres.database import Connection
from tests.builders.make_archives import zip_of
from tests.builders.make_mail_with_file import MAIL
from tests.builders.make_office import packaged_file, paragraph, word
from tests.builders.make_pdf import Sheet, attached, image
from tests.support.archive_fixtures import ArchiveHouse, jobs_of, source, texts

FILES = {"ole1.bin": ("oleObject", packaged_file("plan.txt", b"Plan B"))}
EMPTY = word("", FILES)
BROKEN = {"ole1.bin": ("oleObject", packaged_file("b.pdf", b"%PDF-1.7 broken"))}


async def test_only_the_files_inside_become_documents(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.docx", EMPTY)

    row = await source(conn, id)
    assert (row["status"], row["error_code"], row["chunk_count"]) == ("completed", None, 1)
    assert row["content_hash"] is not None
    assert await texts(conn, id) == {"a.docx/plan.txt": "Plan B"}
    assert await jobs_of(conn, id) == {
        "file ": ("completed", None),
        "member a.docx/plan.txt": ("completed", None),
    }
    assert (await archives.send(application_id, "a.docx", EMPTY)).verdict == "unchanged"


async def test_such_a_file_inside_an_archive(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "b.zip", zip_of({"a.docx": EMPTY, "c.txt": b"one"}))

    assert (await source(conn, id))["status"] == "completed"
    assert await texts(conn, id) == {"b.zip/a.docx/plan.txt": "Plan B", "b.zip/c.txt": "one"}


async def test_a_lost_page_beside_its_files_leaves_the_source_incomplete(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    """A scan without OCR, with a file attached."""
    scan = attached(b"hello", "notes.txt", Sheet(content=image(0, 0, 600, 800)))

    id = await archives.ingest(application_id, "a.pdf", scan)

    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("partial", "no_text")
    assert await texts(conn, id) == {"a.pdf/notes.txt": "hello"}


async def test_a_version_without_text_replaces_the_one_with_text(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    before = word(paragraph("Text"), {"ole1.bin": ("oleObject", packaged_file("old.txt", b"Old"))})
    id = await archives.ingest(application_id, "a.docx", before)
    assert set(await texts(conn, id)) == {"a.docx", "a.docx/old.txt"}

    await archives.ingest(application_id, "a.docx", EMPTY)

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 1)
    assert await texts(conn, id) == {"a.docx/plan.txt": "Plan B"}


async def test_files_that_are_known_already_end_the_source(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(application_id, "a.docx", EMPTY)
    archives.reader.read.clear()

    await archives.ingest(application_id, "a.docx", word("<w:p/>", FILES))

    row = await source(conn, id)
    assert (row["status"], row["chunk_count"]) == ("completed", 1)
    assert archives.reader.read == ["a.docx"]
    assert await texts(conn, id) == {"a.docx/plan.txt": "Plan B"}


@pytest.mark.parametrize(("data", "code"), [(word("", BROKEN), "corrupt"), (word(""), "no_text")])
async def test_without_readable_files_the_source_fails(
    archives: ArchiveHouse,
    conn: Connection,
    application_id: UUID,
    data: bytes,
    code: str,
) -> None:
    id = await archives.ingest(application_id, "a.docx", data)

    row = await source(conn, id)
    assert (row["status"], row["error_code"], row["chunk_count"]) == ("failed", code, 0)


async def test_a_message_without_a_body_is_a_document_beside_its_file(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    id = await archives.ingest(
        application_id, "a.eml", MAIL.replace(b"The minutes are attached.", b"")
    )

    assert (await source(conn, id))["status"] == "completed"
    assert (await texts(conn, id))["a.eml/minutes.txt"] == "We met on Monday."
