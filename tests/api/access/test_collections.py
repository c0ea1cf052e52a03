"""Collections: named sets of sources, to search in and to upload into."""

import asyncio
import hashlib
import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.sources import collections, sources
from tests.api.helpers import count, finish_file_job, upload
from tests.support.live_sources import eventually, is_waiting_for_a_lock


async def make(editor: httpx.AsyncClient, name: str = "handbook", **fields: Any) -> str:
    answer = await editor.post("/api/collections", json={"name": name, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def change(editor: httpx.AsyncClient, id: str, **members: list[str]) -> httpx.Response:
    return await editor.post(f"/api/collections/{id}/knowledge-sources", json=members)


async def files(
    editor: httpx.AsyncClient, conn: Connection, *names: str, **fields: str
) -> list[str]:
    """Upload files that contain their name, and finish their jobs; the ids of their sources."""
    answer = (await upload(editor, {name: name.encode() for name in names}, **fields)).json()
    for file in answer["files"]:
        if "jobId" in file:
            await finish_file_job(conn, UUID(file["jobId"]), chunks=[file["path"]])
    return [file["knowledgeSourceId"] for file in answer["files"]]


async def names_in(client: httpx.AsyncClient, collection: str) -> set[str]:
    answer = await client.get(f"/api/knowledge-sources?collectionId={collection}")
    return {source["name"] for source in answer.json()["items"]}


async def found(client: httpx.AsyncClient, **filter: Any) -> set[str]:
    body = {"query": "heron", "mode": "keyword", "filter": filter}
    answer = await client.post("/api/search", json=body)
    assert answer.status_code == 200, answer.text
    return {hit["content"] for hit in answer.json()["hits"]}


async def test_a_collection_is_made_shown_changed_and_deleted(editor: httpx.AsyncClient) -> None:
    id = await make(editor, description="for all", metadata={"team": "a"})
    shown = (await editor.get(f"/api/collections/{id}")).json()
    patched = await editor.patch(f"/api/collections/{id}", json={"name": "rules"})
    listed = (await editor.get("/api/collections")).json()["items"]
    deleted = await editor.delete(f"/api/collections/{id}")

    assert (shown["name"], shown["description"], shown["metadata"], shown["sourceCount"]) == (
        "handbook",
        "for all",
        {"team": "a"},
        0,
    )
    assert (patched.json()["name"], patched.json()["description"]) == ("rules", "for all")
    assert [item["name"] for item in listed] == ["rules"]
    assert deleted.status_code == 204
    assert (await editor.get(f"/api/collections/{id}")).status_code == 404


async def test_two_collections_of_an_application_have_different_names(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    await make(editor, "a")
    other = await make(editor, "b")

    again = await editor.post("/api/collections", json={"name": "a"})
    renamed = await editor.patch(f"/api/collections/{other}", json={"name": "a"})

    assert (again.status_code, again.json()["code"]) == (409, "collection_exists")
    assert (renamed.status_code, renamed.json()["code"]) == (409, "collection_exists")
    await make(stranger, "a")


async def test_an_application_has_a_limited_number_of_collections(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collections, "_MOST", 2)
    for name in "ab":
        await make(editor, name)

    answer = await editor.post("/api/collections", json={"name": "c"})

    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_collections")


async def test_sources_are_in_any_number_of_collections(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    one, two = await files(editor, conn, "one heron", "two heron")
    first, second = await make(editor, "first"), await make(editor, "second")

    await change(editor, first, add=[one, two])
    await change(editor, second, add=[one])
    again = await change(editor, second, add=[one], remove=[two])

    assert again.json()["sourceCount"] == 1
    assert await names_in(editor, first) == {"one heron", "two heron"}
    assert await names_in(editor, second) == {"one heron"}
    source = (await editor.get(f"/api/knowledge-sources/{one}")).json()
    assert source["collectionIds"] == sorted([first, second])


async def test_members_change_all_or_none(editor: httpx.AsyncClient, conn: Connection) -> None:
    [one] = await files(editor, conn, "one")
    id = await make(editor)

    unknown = await change(editor, id, add=[one, str(uuid4())])
    nowhere = await change(editor, str(uuid4()), add=[one])
    both = await change(editor, id, add=[one], remove=[one])
    nothing = await change(editor, id)
    many = await change(editor, id, add=[str(uuid4()) for _ in range(1001)])

    statuses = [answer.status_code for answer in (unknown, nowhere, both, nothing, many)]
    assert statuses == [404, 404, 422, 422, 422]
    assert await names_in(editor, id) == set()


async def test_searches_look_into_any_of_the_collections(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    one, two, _ = await files(editor, conn, "one heron", "two heron", "three heron")
    first, second, empty = [await make(editor, name) for name in ("first", "second", "empty")]
    await change(editor, first, add=[one])
    await change(editor, second, add=[one, two])

    assert await found(editor, collectionIds=[first]) == {"one heron"}
    assert await found(editor, collectionIds=[first, second]) == {"one heron", "two heron"}
    assert await found(editor, collectionIds=[empty]) == set()
    assert await found(editor, collectionIds=[str(uuid4())]) == set()
    assert await found(editor, where={"not": {"collectionId": second}}) == {"three heron"}


async def test_deleting_a_collection_or_a_source_leaves_the_other(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    one, two = await files(editor, conn, "one heron", "two heron")
    kept, gone = await make(editor, "kept"), await make(editor, "gone")
    for id in (kept, gone):
        await change(editor, id, add=[one, two])

    await editor.delete(f"/api/collections/{gone}")
    await editor.delete(f"/api/knowledge-sources/{two}")
    await conn.execute("delete from rag.knowledge_sources where deleted_at is not null")

    assert await names_in(editor, kept) == {"one heron"}
    assert await count(conn, "rag.collection_sources") == 1
    assert await found(editor, collectionIds=[gone]) == set()
    assert await found(editor) == {"one heron"}


async def test_uploads_join_a_collection_whether_new_or_known(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await files(editor, conn, "known")
    id = await make(editor)

    before = await editor.post(
        "/upload/check",
        json={"files": [_digest("known")], "collectionId": id},
    )
    await files(editor, conn, "known", "new", collectionId=id)
    after = await editor.post(
        "/upload/check",
        json={"files": [_digest("known")], "collectionId": id},
    )

    assert await names_in(editor, id) == {"known", "new"}
    assert before.json()["known"] == []  # else it would not be sent, and not join
    assert len(after.json()["known"]) == 1


def _digest(name: str) -> dict[str, str]:
    return {"path": name, "sha256": hashlib.sha256(name.encode()).hexdigest()}


async def test_an_upload_into_a_missing_collection_stores_nothing(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    theirs = await make(stranger)

    answers = [await upload(editor, {"a": b"a"}, collectionId=id) for id in (str(uuid4()), theirs)]
    url = {"url": "https://docs.example/", "collectionId": theirs}
    crawl = await editor.post("/upload/url", json=url)

    assert [answer.status_code for answer in (*answers, crawl)] == [404, 404, 404]
    assert await count(conn, "rag.knowledge_sources") == 0


async def test_an_idempotent_upload_into_another_collection_is_another_request(
    editor: httpx.AsyncClient,
) -> None:
    ids = [await make(editor, name) for name in "ab"]

    first, same, other = [
        await upload(editor, {"a": b"a"}, idempotency_key="k", collectionId=id)
        for id in (ids[0], ids[0], ids[1])
    ]

    assert (first.status_code, same.json()) == (202, first.json())
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_a_crawl_joins_a_collection(editor: httpx.AsyncClient) -> None:
    id = await make(editor)
    url = {"url": "https://docs.example/guide", "collectionId": id}

    for _ in range(2):
        assert (await editor.post("/upload/url", json=url)).status_code == 202

    assert len(await names_in(editor, id)) == 1


async def test_a_collection_that_is_being_deleted_takes_no_upload(
    editor: httpx.AsyncClient, pool: Pool, conn: Connection, application_id: UUID
) -> None:
    id = await make(editor)
    async with transaction(pool.of(application_id)) as deleting:
        await collections.delete(deleting, application_id=application_id, id=UUID(id))
        uploading = asyncio.create_task(upload(editor, {"a": b"a"}, collectionId=id))
        await eventually(lambda: is_waiting_for_a_lock(conn))  # for the deletion to commit
        assert not uploading.done()

    assert (await uploading).status_code == 404
    assert await count(conn, "rag.knowledge_sources") == 0


async def test_a_source_that_was_deleted_meanwhile_joins_nothing(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    [one] = await files(editor, conn, "one")
    id = await make(editor)
    await sources.tombstone(conn, application_id=application_id, ids=[UUID(one)])

    assert (await change(editor, id, add=[one])).status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x" * 201}, {"name": "x", "metadata": []}, {"name": 1}]
)
async def test_wrong_collections_are_refused(editor: httpx.AsyncClient, body: Any) -> None:
    answer = await editor.post("/api/collections", content=json.dumps(body))

    assert answer.status_code == 422
