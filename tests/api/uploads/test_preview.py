"""POST /api/preview: what would become of a file, with nothing stored."""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from harness.patience import AGES
from ingest.errors import IsArchive, Permanent
from ingest.model import ChunkSettings
from ingest.postgres.database import Connection
from ingest.preview import Previews
from ingest.runtime import Runtime
from ingest.sandbox.pool import ParserPool
from tests.api.conftest import MakeKey, connect, serve
from tests.api.fake_parser import TextParser
from tests.api.helpers import count, multipart, stored
from tests.support.running_worker import truth_of, until

PREVIEW = "/api/preview"


@pytest.fixture(autouse=True)
def scratch_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files on their way are put."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


async def preview(
    client: httpx.AsyncClient, data: bytes, *, name: str = "a.txt", **fields: str
) -> httpx.Response:
    return await client.post(PREVIEW, files={"file": (name, data)}, data=fields)


async def test_preview_shows_the_result_and_stores_nothing(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path, scratch_in: Path
) -> None:
    answer = await preview(editor, "one\nzwei für drei\n".encode())

    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "mediaType": "text/plain",
        "title": "a.txt",
        "extractor": "lines 1",
        "encoding": {"name": "utf-8", "confidence": 1.0, "replaced": 0},
        "coverage": {
            "pages": 1,
            "withText": 1,
            "byOcr": 0,
            "empty": 0,
            "unread": 0,
            "failed": 0,
            "lost": [],
        },
        "warnings": [],
        "metadata": {},
        "text": "one\nzwei für drei\n",
        "textLength": 18,
        "chunkCount": 2,
        "tokenCount": 2,
        "chunks": [
            {
                "ordinal": 0,
                "content": "one\n",
                "tokenCount": 1,
                "headings": [],
                "sections": [[]],
                "page": None,
                "pageEnd": None,
                "start": 0,
                "end": 4,
            },
            {
                "ordinal": 1,
                "content": "zwei für drei\n",
                "tokenCount": 1,
                "headings": [],
                "sections": [[]],
                "page": None,
                "pageEnd": None,
                "start": 4,
                "end": 18,
            },
        ],
        "isTruncated": False,
        "attachments": [],
    }
    assert await count(conn, "rag.processing_jobs") == 0
    assert await count(conn, "rag.documents") == 0
    assert stored(blobs_on_disk) == []
    assert os.listdir(scratch_in) == []


async def test_long_texts_and_many_chunks_are_cut_and_counted(editor: httpx.AsyncClient) -> None:
    shown = (await preview(editor, b"x" * 999 + b"\n" + b"line\n" * 60_000)).json()

    assert (shown["textLength"], len(shown["text"])) == (301_000, 200_000)
    assert (shown["chunkCount"], len(shown["chunks"])) == (60_001, 200)
    assert shown["isTruncated"] is True


async def test_preview_uses_application_chunking_unless_overridden(
    editor: httpx.AsyncClient, admin: httpx.AsyncClient, application_id: Any, parser: TextParser
) -> None:
    settings = {"settings": {"chunking": {"size": 100, "by": "page"}}}
    await admin.patch(f"/api/applications/{application_id}", json=settings)

    await preview(editor, b"x")
    await preview(editor, b"x", chunking=json.dumps({"size": 50, "overlap": 5}))

    cut_by = [request.chunk for request in parser.requests]
    assert cut_by == [
        ChunkSettings(tokenizer="cl100k_base", size=100, overlap=50, by="page"),
        ChunkSettings(tokenizer="cl100k_base", size=50, overlap=5, by="page"),
    ]


async def test_attachments_are_listed(editor: httpx.AsyncClient, parser: TextParser) -> None:
    listed = [{"name": "a.pdf", "sizeBytes": 3, "mediaType": "application/pdf"}, {"name": "b"}]
    parser.metadata = {"attachments": [*listed, {"name": 3}, "c"]}

    shown = (await preview(editor, b"x")).json()

    assert shown["attachments"] == [
        listed[0],
        {"name": "b", "sizeBytes": None, "mediaType": None},
    ]


async def test_preview_of_an_unreadable_file_has_the_code_of_its_upload(
    editor: httpx.AsyncClient, parser: TextParser, scratch_in: Path
) -> None:
    parser.failures = [Permanent("it needs a password", code="encrypted")]

    answer = await preview(editor, b"x")

    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["detail"]) == ("encrypted", "it needs a password")
    assert os.listdir(scratch_in) == []


async def test_preview_of_an_archive_is_refused(
    editor: httpx.AsyncClient, parser: TextParser
) -> None:
    parser.failures = [IsArchive("This is a ZIP archive, not a document.")]

    answer = await preview(editor, b"x")

    assert answer.status_code == 422
    assert answer.json()["code"] == "unsupported_type"
    assert answer.json()["detail"] == (
        "This is a ZIP archive, not a document. Upload it: each file in it becomes a document."
    )


async def test_a_file_without_text_is_refused(editor: httpx.AsyncClient) -> None:
    answer = await preview(editor, b"")

    assert (answer.status_code, answer.json()["code"]) == (422, "no_text")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"chunking": "{"}, "body.chunking"),
        ({"chunking": '{"size": 513}'}, "body.chunking.size"),
        ({"chunking": '{"size": 100, "overlap": 51}'}, "body.chunking.overlap"),
        ({"chunking": '{"by": "word"}'}, "body.chunking.by"),
        ({"ocr": "perhaps"}, "body.ocr"),
        ({"colour": "red"}, "body.colour"),
    ],
)
async def test_a_wrong_field_is_named(
    editor: httpx.AsyncClient, fields: dict[str, str], field: str
) -> None:
    answer = await preview(editor, b"x", **fields)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


async def test_a_request_without_a_file_or_with_two_is_refused(editor: httpx.AsyncClient) -> None:
    none = await editor.post(PREVIEW, files={"ocr": (None, "true")})
    two = await editor.post(PREVIEW, files=[("file", ("a", b"a")), ("file", ("b", b"b"))])
    no_form = await editor.post(PREVIEW, json={})

    assert (none.status_code, none.json()["code"]) == (422, "no_files")
    assert (two.status_code, two.json()["errors"][0]["code"]) == (422, "repeated")
    assert (no_form.status_code, no_form.json()["code"]) == (415, "invalid_multipart")


async def test_a_file_that_is_too_large_is_a_413_and_leaves_nothing(
    small_editor: httpx.AsyncClient, parser: TextParser, scratch_in: Path
) -> None:
    fits = await preview(small_editor, b"x" * 400_000)
    refused = await preview(small_editor, b"x" * 400_001)

    assert fits.status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert len(parser.requests) == 1
    assert os.listdir(scratch_in) == []


async def test_excess_preview_gets_retry_after(
    editor: httpx.AsyncClient, parser: TextParser
) -> None:
    parser.gate = asyncio.Event()
    under_way = [asyncio.create_task(preview(editor, b"x")) for _ in range(2)]
    await until(lambda: truth_of(len(parser.requests) == 2))

    refused = await preview(editor, b"x")
    parser.gate.set()
    made = await asyncio.gather(*under_way)

    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    assert int(refused.headers["retry-after"]) > 0
    assert [answer.status_code for answer in made] == [200, 200]
    assert (await preview(editor, b"x")).status_code == 200


async def test_disconnected_client_frees_its_preview_slot(
    app: FastAPI, editor: httpx.AsyncClient, parser: TextParser, scratch_in: Path
) -> None:
    parser.gate = asyncio.Event()
    body = multipart(b'Content-Disposition: form-data; name="file"\r\n\r\nx')
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "http.request", "body": body, "more_body": False})
    headers = [
        (b"authorization", editor.headers["authorization"].encode()),
        (b"content-type", b"multipart/form-data; boundary=frontier"),
    ]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": PREVIEW, "headers": headers}
    scope |= {"query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": ""}

    async def send(_: Any) -> None: ...

    gone = asyncio.create_task(app(scope, incoming.get, send))
    await until(lambda: truth_of(parser.requests))
    incoming.put_nowait({"type": "http.disconnect"})
    await gone

    assert not parser.gate.is_set()
    assert os.listdir(scratch_in) == []
    assert parser.ended == 1


async def test_preview_timeout_explains_what_to_do(
    runtime: Runtime, application_id: Any, make_key: MakeKey, parser: TextParser
) -> None:
    parser.gate = asyncio.Event()
    previews = Previews(lambda: parser, at_once=2, max_pages=10, timeout=timedelta(seconds=0.01))
    key = await make_key(application_id, "editor")

    async with serve(replace(runtime, previews=previews)) as app, connect(app, key) as client:
        answer = await preview(client, b"x")

    assert (answer.status_code, answer.json()["code"]) == (422, "parser_timeout")


@pytest.fixture
async def real(
    runtime: Runtime, application_id: Any, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """An editor of an installation with parser processes."""
    previews = Previews(
        lambda: ParserPool(size=1, timeout=AGES, memory=2 * 1024**3),
        at_once=1,
        max_pages=10,
        timeout=AGES,
    )
    key = await make_key(application_id, "editor")
    async with serve(replace(runtime, previews=previews)) as app, connect(app, key) as client:
        yield client
    await previews.close()


async def test_a_parser_process_reads_the_file(real: httpx.AsyncClient) -> None:
    page = b"<h1>Pumps</h1><p>A pump moves water.</p><h2>Seals</h2><p>A seal keeps it in.</p>"

    shown = (await preview(real, page, name="page.html", chunking='{"size": 32}')).json()
    archive = await preview(real, b"PK\x05\x06" + bytes(18), name="a.zip")

    assert shown["mediaType"] == "text/html"
    assert "# Pumps" in shown["text"]
    assert shown["chunks"][0]["headings"] == ["Pumps"]
    assert shown["chunks"][0]["sections"] == [["Pumps"], ["Pumps", "Seals"]]
    assert (archive.status_code, archive.json()["code"]) == (422, "unsupported_type")
