"""The stored bytes of documents, and single chunks."""

import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.api.helpers import finish_file_job, upload
from tests.api.search.test_search import CHUNK_FIELDS

CONTENT = bytes(range(256)) * 2000


async def add(
    editor: httpx.AsyncClient, conn: Connection, content: bytes = CONTENT, *, path: str = "a.txt"
) -> str:
    """A file; the id of its document."""
    file = (await upload(editor, {path: content})).json()["files"][0]
    return str(await finish_file_job(conn, UUID(file["jobId"]), chunks=("one", "two", "three")))


async def original(client: httpx.AsyncClient, id: object, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.get(f"/api/documents/{id}/original", headers=named)


async def test_the_bytes_are_a_download_that_no_browser_renders(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn, path='folder/a "b" 高.txt')

    answer = await original(viewer, id)

    assert (answer.status_code, answer.content) == (200, CONTENT)
    headers = answer.headers
    assert headers["content-length"] == str(len(CONTENT))
    assert headers["content-type"] == "text/plain"
    assert headers["content-disposition"] == (
        "attachment; filename=\"a _b_ _.txt\"; filename*=UTF-8''a%20%22b%22%20%E9%AB%98.txt"
    )
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["accept-ranges"] == "bytes"
    again = await original(viewer, id, If_None_Match=headers["etag"])
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("media_type", "shown"),
    [
        ("application/pdf", "application/pdf"),
        ("image/png", "image/png"),
        (
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        ("text/html", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("text/plain\r\nX-Evil: 1", "application/octet-stream"),
        ("application/vnd.oasis\rX-Evil: 1", "application/octet-stream"),
    ],
)
async def test_types_that_a_browser_might_run_are_bytes(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    media_type: str,
    shown: str,
) -> None:
    id = await add(editor, conn)
    await conn.execute("update rag.documents set media_type = %s", [media_type])

    assert (await original(viewer, id)).headers["content-type"] == shown


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=5-", 5, len(CONTENT)),
        ("bytes=300000-400000", 300_000, 400_001),
        ("bytes=-7", len(CONTENT) - 7, len(CONTENT)),
        ("bytes=511999-9999999", 511_999, len(CONTENT)),
        ("bytes=-9999999", 0, len(CONTENT)),
    ],
)
async def test_a_range_is_a_part(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    asked: str,
    start: int,
    end: int,
) -> None:
    id = await add(editor, conn)

    answer = await original(viewer, id, Range=asked)

    assert (answer.status_code, answer.content) == (206, CONTENT[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"
    assert answer.headers["content-length"] == str(end - start)
    etag = answer.headers["etag"]
    assert (await original(viewer, id, Range=asked, If_Range=etag)).status_code == 206
    assert (await original(viewer, id, Range=asked, If_Range='"older"')).status_code == 200


async def test_ranges_outside_are_refused_and_what_is_no_range_is_ignored(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn)

    for asked in (f"bytes={len(CONTENT)}-", "bytes=-0"):
        answer = await original(viewer, id, Range=asked)
        assert answer.status_code == 416
        assert answer.headers["content-range"] == f"bytes */{len(CONTENT)}"
    for asked in (
        "bytes=-",
        "bytes=5-1",
        "bytes=0-1,5-6",
        "lines=0-1",
        "bytes=" + "9" * 5000 + "-",
    ):
        assert (await original(viewer, id, Range=asked)).content == CONTENT


async def test_what_is_not_stored_is_a_404_that_says_so(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, runtime: Runtime
) -> None:
    id = await add(editor, conn)
    [[key]] = await (await conn.execute("select blob_key from rag.knowledge_sources")).fetchall()
    await conn.execute("update rag.documents set uri = 'a.txt/inside.txt'")
    member = await original(viewer, id)
    await conn.execute("update rag.documents set uri = 'a.txt'")
    await runtime.blobs.delete([key])
    lost = await original(viewer, id)
    await conn.execute("update rag.documents set deleted_at = now()")
    deleted = await original(viewer, id)

    assert (member.status_code, member.json()["code"]) == (404, "original_not_stored")
    assert lost.status_code == 410
    assert (deleted.status_code, deleted.json()["code"]) == (404, "not_found")
    assert (await original(viewer, uuid4())).json()["code"] == "not_found"


async def test_a_file_inside_another_has_the_bytes_that_its_job_read(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn, b"the archive", path="a.zip")
    inner = (await upload(editor, {"inner.txt": b"the inner file"})).json()["files"][0]
    await finish_file_job(conn, UUID(inner["jobId"]))
    await conn.execute("update rag.documents set uri = 'a.zip/in.txt' where id = %s", [id])
    await conn.execute(
        "update rag.processing_jobs set type = 'member', payload = payload || %s::jsonb, "
        "knowledge_source_id = (select source_id from rag.documents where id = %s) where id = %s",
        [json.dumps({"uri": "a.zip/in.txt", "depth": 1}), id, inner["jobId"]],
    )

    assert (await original(viewer, id)).content == b"the inner file"


async def test_an_empty_file_has_no_bytes(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn, b"x")
    await conn.execute("update rag.knowledge_sources set size_bytes = 0")

    assert (await original(viewer, id)).content == b""
    assert (await original(viewer, id, Range="bytes=0-")).status_code == 416


# ---------------------------------------------------------------- chunks


async def chunk_ids(conn: Connection) -> list[UUID]:
    cursor = await conn.execute("select id from rag.chunks order by ordinal")
    return [id for (id,) in await cursor.fetchall()]


async def test_a_chunk_is_shown_as_in_a_hit(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    document = await add(editor, conn)
    [_, second, _] = await chunk_ids(conn)
    await conn.execute('update rag.documents set metadata = \'{"date": "May 1999"}\'')

    shown: dict[str, Any] = (await viewer.get(f"/api/chunks/{second}")).json()

    assert set(shown) == CHUNK_FIELDS
    assert (shown["documentId"], shown["ordinal"], shown["content"]) == (document, 1, "two")
    assert (shown["publishedAt"], shown["mediaType"]) == ("May 1999", "text/plain")
    assert (await viewer.get(f"/api/chunks/{uuid4()}")).status_code == 404


async def test_a_section_can_be_smaller_or_the_neighbours(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    await add(editor, conn)
    ids = await chunk_ids(conn)
    await conn.execute("update rag.documents set text = 'one two three'")
    for id, start, end in zip(ids, (0, 4, 8), (3, 7, 13), strict=True):
        await conn.execute(
            "update rag.chunks set char_start = %s, char_end = %s, section_end = 13 where id = %s",
            [start, end, id],
        )

    async def section(id: UUID, **query: int) -> tuple[str, bool]:
        shown = (await viewer.get(f"/api/chunks/{id}/section", params=query)).json()
        return shown["content"], shown["isTruncated"]

    assert await section(ids[1]) == ("one two three", False)
    assert await section(ids[1], size=3) == ("two", True)
    assert await section(ids[1], neighbours=0) == ("two", False)
    assert await section(ids[0], neighbours=1) == ("one two", False)
    assert await section(ids[1], neighbours=9) == ("one two three", False)
    answer = await viewer.get(f"/api/chunks/{ids[0]}/section", params={"size": 0})
    assert answer.status_code == 422
