"""Knowledge sources: reading, cancelling, deleting; documents, chunks, events."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection, new_id
from ingest.store.queue import claims, jobs
from tests.api.helpers import count, finish_file_job, upload

SOURCES = "/api/knowledge-sources"


async def add(client: httpx.AsyncClient, path: str = "a.txt", data: bytes = b"a") -> dict[str, str]:
    file: dict[str, str] = (await upload(client, {path: data})).json()["files"][0]
    return file


async def all_pages(client: httpx.AsyncClient, url: str, **params: str) -> list[dict[str, Any]]:
    """Every item, read two at a time."""
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = {"limit": "2", **params} | ({"cursor": cursor} if cursor else {})
        answer = (await client.get(url, params=page)).json()
        items += answer["items"]
        cursor = answer["nextCursor"]
        if cursor is None:
            return items


async def test_a_source_shows_what_is_searchable(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    file = await add(editor, "dir/a.txt", b"text")
    await finish_file_job(conn, UUID(file["jobId"]), chunks=["one", "two"])

    source = (await viewer.get(f"{SOURCES}/{file['knowledgeSourceId']}")).json()

    assert source["id"] == file["knowledgeSourceId"]
    assert source["applicationId"] == str(application_id)
    assert (source["type"], source["name"], source["uri"]) == ("file", "a.txt", "dir/a.txt")
    assert (source["status"], source["chunkCount"], source["sizeBytes"]) == ("completed", 2, 4)
    assert source["jobId"] == file["jobId"]
    assert len(source["contentHash"]) == 64
    assert source["createdAt"].endswith("Z")


async def test_paging_shows_every_source_once_newest_first(editor: httpx.AsyncClient) -> None:
    together = (await upload(editor, {f"{n}.txt": b"x" for n in range(4)})).json()
    alone = await add(editor, "last.txt")

    items = await all_pages(editor, SOURCES)

    ids = [item["id"] for item in items]
    assert ids[0] == alone["knowledgeSourceId"]
    assert sorted(ids[1:]) == sorted(together["knowledgeSourceIds"])


async def test_filters_combine(editor: httpx.AsyncClient, conn: Connection) -> None:
    first = (await upload(editor, {"a.txt": b"a", "b.txt": b"b"})).json()
    await upload(editor, {"c.txt": b"c"})
    await finish_file_job(conn, UUID(first["files"][0]["jobId"]))

    async def uris(**params: str) -> list[str]:
        items = (await editor.get(SOURCES, params=params)).json()["items"]
        return sorted(item["uri"] for item in items)

    assert await uris(status="pending") == ["b.txt", "c.txt"]
    assert await uris(status="pending", batchId=first["batchId"]) == ["b.txt"]
    assert await uris(type="site") == []
    assert await uris(uri="c.txt") == ["c.txt"]
    assert await uris(uri="c") == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "invalid_request"),
        ("limit=201", "invalid_request"),
        ("status=done", "invalid_request"),
        ("batchId=1", "invalid_request"),
        ("cursor=garbage", "invalid_cursor"),
        ("cursor=%FF%00", "invalid_cursor"),
        ("cursor=W10", "invalid_cursor"),
        ("cursor=WyJ4IiwieSJd", "invalid_cursor"),
        ("cursor=" + "W1tb" * 100, "invalid_cursor"),
    ],
)
async def test_a_wrong_query_is_a_422(viewer: httpx.AsyncClient, query: str, code: str) -> None:
    answer = await viewer.get(f"{SOURCES}?{query}")

    assert answer.status_code == 422
    assert answer.json()["code"] == code


async def test_nul_in_a_filter_finds_nothing(viewer: httpx.AsyncClient) -> None:
    answer = await viewer.get(f"{SOURCES}?uri=%00")

    assert answer.status_code == 200


async def test_documents_chunks_and_text_are_returned(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor)
    words = ["one", "two", "three", "four", "fünf"]
    document_id = await finish_file_job(conn, UUID(file["jobId"]), chunks=words)
    url = f"{SOURCES}/{file['knowledgeSourceId']}"

    documents = await all_pages(viewer, f"{url}/documents")
    chunks = await all_pages(viewer, f"{url}/chunks")
    text = await viewer.get(f"/api/documents/{document_id}/text")

    assert [document["id"] for document in documents] == [str(document_id)]
    assert documents[0]["chunkCount"] == 5
    assert [chunk["content"] for chunk in chunks] == words
    assert [chunk["ordinal"] for chunk in chunks] == [0, 1, 2, 3, 4]
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text == "one\ntwo\nthree\nfour\nfünf"


async def test_what_was_left_out_of_a_page_is_shown_in_its_order_and_shortened(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    conn: Connection,
) -> None:
    file = await add(editor)
    document_id = await finish_file_job(conn, UUID(file["jobId"]), chunks=["one"])
    url = f"/api/documents/{document_id}/left-out"
    nothing = await viewer.get(url)
    await conn.execute(
        """update rag.documents set furniture = '[[0, "- Home"], [3, "x"]]'::jsonb where id = %s""",
        [document_id],
    )
    await conn.execute(
        "update rag.documents"
        " set furniture = jsonb_set(furniture, '{1,1}', to_jsonb(repeat('ü', 2001)))"
    )

    shown = await viewer.get(url)

    assert nothing.json() == {"items": []}
    assert shown.json()["items"] == [
        {"at": 0, "text": "- Home", "isCut": False},
        {"at": 3, "text": "ü" * 2000, "isCut": True},
    ]
    assert (await stranger.get(url)).status_code == 404


async def test_events_are_numbered_without_gaps_and_can_be_resumed(
    editor: httpx.AsyncClient,
) -> None:
    file = await add(editor)
    url = f"{SOURCES}/{file['knowledgeSourceId']}"
    for n in range(4):
        await editor.patch(url, json={"name": f"name {n}"})

    events = await all_pages(editor, f"{url}/events")
    later = (await editor.get(f"{url}/events?after=3")).json()["items"]

    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert [event["seq"] for event in later] == [4, 5]
    assert (await editor.get(f"{url}/events?after=-1")).status_code == 422


async def test_cancel_ends_the_open_job_once(editor: httpx.AsyncClient) -> None:
    file = await add(editor)
    url = f"{SOURCES}/{file['knowledgeSourceId']}"

    first = await editor.post(f"{url}/cancel")
    second = await editor.post(f"{url}/cancel")

    assert first.json() == {
        "knowledgeSourceId": file["knowledgeSourceId"],
        "jobIds": [file["jobId"]],
    }
    assert (second.status_code, second.json()["code"]) == (409, "not_cancellable")
    source = (await editor.get(url)).json()
    assert (source["status"], source["errorCode"]) == ("cancelled", "cancelled")
    last = (await editor.get(f"{url}/events")).json()["items"][-1]
    assert (last["type"], last["data"]["status"]) == ("done", "cancelled")


@pytest.mark.parametrize("state", ["pending", "processing", "completed", "failed", "cancelled"])
async def test_delete_is_at_once_and_final_in_every_state(
    editor: httpx.AsyncClient, conn: Connection, state: str
) -> None:
    file = await add(editor)
    source_id, job_id = file["knowledgeSourceId"], file["jobId"]
    document_id = await finish_file_job(conn, UUID(job_id))
    for table in ("rag.processing_jobs", "rag.knowledge_sources"):
        await conn.execute(f"update {table} set status = %s".encode(), [state])

    answer = await editor.delete(f"{SOURCES}/{source_id}")

    assert answer.status_code == 204
    for url in (
        f"{SOURCES}/{source_id}",
        f"{SOURCES}/{source_id}/documents",
        f"{SOURCES}/{source_id}/chunks",
        f"{SOURCES}/{source_id}/events",
        f"/api/documents/{document_id}/text",
    ):
        assert (await editor.get(url)).status_code == 404
    assert (await editor.get(SOURCES)).json()["items"] == []
    assert (await editor.delete(f"{SOURCES}/{source_id}")).status_code == 404
    assert await count(conn, "rag.processing_jobs where type = 'purge' and status = 'pending'") == 1


async def test_delete_revokes_the_running_job(editor: httpx.AsyncClient, conn: Connection) -> None:
    file = await add(editor)
    held = await claim(conn)
    assert [str(job.id) for job in held] == [file["jobId"]]

    await editor.delete(f"{SOURCES}/{file['knowledgeSourceId']}")

    assert await jobs.hold(conn, held) == set()
    ended = [jobs.Ended(job=job, status="completed") for job in held]
    assert await jobs.finish(conn, ended) == set()
    row = await (
        await conn.execute("select type, data from rag.progress_events order by seq desc limit 1")
    ).fetchone()
    assert row is not None
    assert (row[0], row[1]["errorCode"]) == ("done", "source_deleted")


async def test_a_deleted_path_can_be_uploaded_again_as_a_new_source(
    editor: httpx.AsyncClient,
) -> None:
    first = await add(editor)
    await editor.delete(f"{SOURCES}/{first['knowledgeSourceId']}")

    second = await add(editor)

    assert second["verdict"] == "accepted"
    assert second["knowledgeSourceId"] != first["knowledgeSourceId"]


async def test_invalid_uuid_is_a_422(viewer: httpx.AsyncClient) -> None:
    answer = await viewer.get(f"{SOURCES}/42")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "path.id"


async def claim(conn: Connection) -> Sequence[jobs.ClaimedJob]:
    return await claims.claim(conn, types=["file"], batch=10, worker=new_id(), cursor=uuid4())
