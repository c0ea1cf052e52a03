"""`ingest preview` against a made-up service."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from api.cli.client.http_client import Client, ServiceAddress
from api.cli.main import app
from tests.servers.fake_service import problem

ANSWER: dict[str, Any] = {
    "mediaType": "application/pdf",
    "extractor": "pdfium 5",
    "coverage": {"pages": 3, "withText": 2},
    "warnings": ["hidden_text"],
    "attachments": [{"name": "a"}],
    "text": "# A title\n\nsome \x1b[31mwords",
    "chunkCount": 2,
    "chunks": [
        {
            "ordinal": 0,
            "tokenCount": 1,
            "page": 3,
            "headings": ["A title", "Below"],
            "sections": [["A title", "Below"], ["A title", "Beside"]],
            "content": "some\nwords",
        }
    ],
    "isTruncated": True,
}


class FakePreviews:
    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.answer = httpx.Response(200, json=ANSWER)

    def client(self) -> Client:
        target = ServiceAddress(url="http://ingest.test", key="k", key_from="the test")
        return Client(target, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.read())
        return self.answer


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakePreviews:
    fake = FakePreviews()
    monkeypatch.setattr("api.cli.commands.preview.open_client", fake.client)
    return fake


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"the bytes")
    return str(path)


def ingest(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_preview_prints_text_to_stdout_and_facts_to_stderr(
    service: FakePreviews, file: str
) -> None:
    result = ingest("preview", file, "--no-ocr")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == ["# A title", "", "some  [31mwords"]
    assert result.stderr.splitlines() == [
        "application/pdf · pdfium 5 · 2 chunks · 2 of 3 pages · hidden_text · 1 attachment",
        "truncated: this is only the beginning",
    ]
    [body] = service.bodies
    assert b'name="ocr"\r\n\r\nfalse' in body
    assert b'name="file"; filename="a.pdf"' in body
    assert b"the bytes" in body


def test_chunks_are_shown_with_where_they_are(service: FakePreviews, file: str) -> None:
    result = ingest("preview", file, "--chunks")

    assert result.stdout.splitlines() == [
        "1. 1 token  p. 3  A title > Below · A title > Beside",
        "some",
        "words",
        "",
    ]


def test_preview_json_has_the_whole_answer(service: FakePreviews, file: str) -> None:
    assert json.loads(ingest("preview", file, "--json").stdout) == ANSWER


def test_refused_preview_prints_one_line(service: FakePreviews, file: str) -> None:
    service.answer = problem(422, "encrypted", "it needs a password")

    result = ingest("preview", file)

    assert (result.exit_code, result.stderr) == (2, "ingest: it needs a password\n")


def test_preview_of_a_folder_is_refused(service: FakePreviews, tmp_path: Path) -> None:
    result = ingest("preview", str(tmp_path))

    assert (result.exit_code, service.bodies) == (2, [])
