"""Uploads: files without a byte, very many files, and a disk that is nearly full."""

import errno
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from ingest.disk_reserve import DiskReserve
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.api.conftest import MakeKey, connect, serve
from tests.api.helpers import count, multipart, staged, stored, upload

RESERVE = 1000


async def test_a_file_without_a_byte_becomes_no_job(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    answer = await upload(editor, {"a.txt": b"", "b.txt": b"text", "c.txt": b"\xef\xbb\xbf \n"})

    files = answer.json()["files"]
    assert [file["verdict"] for file in files] == ["rejected", "accepted", "accepted"]
    assert (files[0]["code"], files[0]["detail"]) == ("empty_content", "the file is empty")
    assert await count(conn, "rag.processing_jobs") == 2
    assert staged(blobs_on_disk) == []


async def test_twenty_thousand_empty_files_write_nothing(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    part = b'Content-Disposition: form-data; name="files"; filename="%d"\r\n\r\n'
    body = multipart(*(part % n for n in range(20_000)))

    answer = await editor.post(
        "/upload/documents",
        content=body,
        headers={"Content-Type": "multipart/form-data; boundary=frontier"},
    )

    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_accepted")
    assert len(answer.json()["files"]) == 20_000
    for table in ("processing_jobs", "knowledge_sources", "upload_batches"):
        assert await count(conn, f"rag.{table}") == 0
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


async def test_a_request_with_too_many_files_says_so_and_leaves_nothing(
    editor: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.upload.intake.MAX_FILES", 2)

    answer = await upload(editor, {"a": b"1", "b": b"2", "c": b"3"})

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert "2 files" in answer.json()["detail"]
    assert await count(conn, "rag.processing_jobs") == 0
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


@dataclass
class Disk:
    free: int = RESERVE
    asked: int = 0
    free_later: int | None = None
    """From the second look on."""

    def read(self, _: Path) -> int:
        self.asked += 1
        if self.free_later is not None and self.asked > 1:
            return self.free_later
        return self.free


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
async def client(
    runtime: Runtime,
    disk: Disk,
    blobs_on_disk: Path,
    application_id: UUID,
    make_key: MakeKey,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[httpx.AsyncClient]:
    monkeypatch.setattr("ingest.disk_reserve._CACHE_SECONDS", 0.0)
    reserve = DiskReserve({"files": blobs_on_disk}, reserve=RESERVE, free_bytes=disk.read)
    key = await make_key(application_id, "editor")
    async with serve(replace(runtime, disk=reserve)) as app, connect(app, key) as client:
        yield client


async def test_uploads_stop_before_the_disk_is_full_and_the_rest_goes_on(
    client: httpx.AsyncClient, disk: Disk, blobs_on_disk: Path
) -> None:
    assert (await upload(client, {"a.txt": b"text"})).status_code == 202
    assert (await client.get("/readyz")).json()["lowDisks"] == []

    disk.free = RESERVE - 1
    refused = await upload(client, {"b.txt": b"text"})
    url = await client.post("/upload/url", json={"url": "https://a.example/"})
    ready = await client.get("/readyz")

    assert (refused.status_code, refused.json()["code"]) == (507, "insufficient_storage")
    assert "disk of the files" in refused.json()["detail"]
    assert url.status_code == 507
    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert ready.json()["lowDisks"] == ["files"]
    assert (await client.post("/api/search", json={"query": "x"})).status_code == 200
    assert len(stored(blobs_on_disk)) == 1

    disk.free = RESERVE
    assert (await upload(client, {"b.txt": b"text"})).status_code == 202


async def test_an_upload_that_fills_the_disk_ends_cleanly(
    client: httpx.AsyncClient, disk: Disk, conn: Connection, blobs_on_disk: Path
) -> None:
    disk.free_later = 0

    answer = await upload(client, {"small.txt": b"text", "large.bin": bytes(9 * 1024 * 1024)})

    assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    assert await count(conn, "rag.processing_jobs") == 0
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []


async def test_metrics_show_what_is_free(client: httpx.AsyncClient, disk: Disk) -> None:
    lines = (await client.get("/metrics")).text.splitlines()

    assert 'rag_ingest_disk_free_bytes{disk="files"} 1000.0' in lines


async def test_the_reserve_reads_the_file_system(tmp_path: Path) -> None:
    disk = DiskReserve({"files": tmp_path / "not" / "there"}, reserve=10**18)

    free = await disk.free()

    assert 0 < free["files"] < 10**18
    assert await disk.low() == ["files"]
    assert await DiskReserve({"files": tmp_path}, reserve=0).low() == []


async def test_a_disk_that_is_full_all_the_same_is_told_apart(
    editor: httpx.AsyncClient, blobs_on_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ingest.blobs.local.os.write", write)

    answer = await upload(editor, {"a.txt": b"text"})

    assert (answer.status_code, answer.json()["code"]) == (507, "insufficient_storage")
    monkeypatch.undo()
    assert stored(blobs_on_disk) == staged(blobs_on_disk) == []
