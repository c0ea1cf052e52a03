"""What is around a chunk that was found, and what documents say of themselves."""

import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from psycopg.types.json import Jsonb

from ingest.model import Coverage
from ingest.postgres.database import Connection
from ingest.store.documents.documents import coverage_json
from ingest.store.sources.missing_content import in_words
from tests.api.helpers import finish_file_job, upload

TEXT = "# One\n\nfirst für alle\n\n# Two\n\nsecond\n\nthird\n"


async def add(editor: httpx.AsyncClient, conn: Connection, *chunks: str) -> tuple[str, UUID]:
    """A file of these chunks; its source and its document."""
    file = (await upload(editor, {"a.md": b"a"})).json()["files"][0]
    document_id = await finish_file_job(conn, UUID(file["jobId"]), chunks=chunks)
    return file["knowledgeSourceId"], document_id


async def place(
    conn: Connection, text: str, chunk: tuple[int, int], section: tuple[int, int]
) -> UUID:
    """Say where the only chunk lies in the text; its id."""
    await conn.execute("update rag.documents set text = %s, title = 'A title'", [text])
    cursor = await conn.execute(
        "update rag.chunks set char_start = %s, char_end = %s, section_start = %s, "
        "section_end = %s, headings = '{Two}' returning id",
        [*chunk, *section],
    )
    row = await cursor.fetchone()
    assert row is not None
    return UUID(str(row[0]))


async def test_section_of_a_chunk_is_returned(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id, document_id = await add(editor, conn, "second")
    section = TEXT.index("# Two"), len(TEXT)
    start = TEXT.index("second")
    chunk_id = await place(conn, TEXT, (start, start + 6), section)

    answer = await viewer.get(f"/api/chunks/{chunk_id}/section")

    assert answer.json() == {
        "chunkId": str(chunk_id),
        "documentId": str(document_id),
        "knowledgeSourceId": source_id,
        "title": "A title",
        "uri": "a.md",
        "headings": ["Two"],
        "start": section[0],
        "end": section[1],
        "content": "# Two\n\nsecond\n\nthird\n",
        "isTruncated": False,
    }


@pytest.mark.parametrize(
    ("at", "start"), [(0, 0), (30_000, 20_005), (59_990, 40_000)], ids=["first", "middle", "last"]
)
async def test_long_section_is_cut_around_the_chunk(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, at: int, start: int
) -> None:
    await add(editor, conn, "x")
    chunk_id = await place(conn, "x" * 60_000, (at, at + 10), (0, 60_000))

    shown = (await viewer.get(f"/api/chunks/{chunk_id}/section")).json()

    assert (shown["start"], shown["end"]) == (start, start + 20_000)
    assert len(shown["content"]) == 20_000
    assert shown["isTruncated"] is True


async def test_section_of_a_missing_chunk_is_a_404(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id, _ = await add(editor, conn, "x")
    chunk_id = await place(conn, TEXT, (7, 21), (0, 23))
    await editor.delete(f"/api/knowledge-sources/{source_id}")

    for id in (chunk_id, uuid4()):
        assert (await editor.get(f"/api/chunks/{id}/section")).status_code == 404


# ---------------------------------------------------------------- documents


async def test_document_shows_its_coverage(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id, document_id = await add(editor, conn, "x")
    coverage = {
        "pages": 12,
        "withText": 8,
        "byOcr": 2,
        "empty": 0,
        "unread": 4,
        "failed": 0,
        "lost": [3, 7, 8, 9],
    }
    encoding = {"name": "cp1252", "confidence": 0.8, "replaced": 2}
    await conn.execute(
        "update rag.documents set status = 'partial', error_code = 'no_text', coverage = %s, "
        "encoding = %s, warnings = '{hidden_text}'",
        [json.dumps(coverage), json.dumps(encoding)],
    )

    shown = (await viewer.get(f"/api/documents/{document_id}")).json()
    [listed] = (await viewer.get(f"/api/knowledge-sources/{source_id}/documents")).json()["items"]

    assert listed == shown
    assert shown["knowledgeSourceId"] == source_id
    assert shown["coverage"] == coverage
    assert shown["encoding"] == encoding
    assert (shown["warnings"], shown["extractor"]) == (["hidden_text"], "text 1")
    assert shown["errorCode"] == "no_text"
    assert shown["errorMessage"].startswith("pages 3, 7-9 could not be read: pictures only; ")


async def test_batch_report_shows_missing_content_of_partial_files(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id, _ = await add(editor, conn, "x")
    coverage = Coverage(pages=2, with_text=1, empty=0, failed=1, lost=(2,))
    await conn.execute(
        "update rag.knowledge_sources "
        "set status = 'partial', error_code = 'corrupt', coverage = %s",
        [Jsonb(coverage_json(coverage))],
    )

    source = (await viewer.get(f"/api/knowledge-sources/{source_id}")).json()
    report = (await viewer.get(f"/api/batches/{source['batchId']}/report")).json()

    message = "page 2 could not be read: damaged"
    assert source["errorMessage"] == message
    [file] = report["files"]
    assert (file["code"], file["detail"]) == ("corrupt", message)


async def test_a_document_of_a_deleted_source_is_a_404(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id, document_id = await add(editor, conn, "x")
    await editor.delete(f"/api/knowledge-sources/{source_id}")

    assert (await editor.get(f"/api/documents/{document_id}")).status_code == 404


@pytest.mark.parametrize(
    ("code", "coverage", "words"),
    [
        ("no_text", {"unread": 1, "failed": 0, "lost": [4]}, "page 4 could not be read: "),
        ("no_text", {"unread": 2, "failed": 1, "lost": [1, 2, 9]}, "pages 1-2, 9 could"),
        (
            "corrupt",
            {"unread": 1, "failed": 2, "lost": [1, 2, 9]},
            "1 pictures only, 2 damaged; ",
        ),
        (
            "corrupt",
            {"unread": 0, "failed": 300, "lost": list(range(1, 101))},
            "pages 1-100 and 200 more",
        ),
        ("embedding_rejected", {}, "refused some of the text"),
    ],
)
def test_missing_content_is_described_in_words(
    code: str, coverage: dict[str, Any], words: str
) -> None:
    said = in_words(code, coverage)

    assert said is not None
    assert words in said


def test_unknown_coverage_has_no_description() -> None:
    assert in_words(None, None) is None
    assert in_words("no_text", {"unread": 0, "failed": 0, "lost": []}) is None
    assert in_words("fetch_failed", {"unread": 0, "failed": 1, "lost": [1]}) is None
