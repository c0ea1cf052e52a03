"""Chunk settings of applications and sources: shown, checked, inherited, carried out."""

from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from tests.api.helpers import count, finish_file_job, stored, upload

SOURCES: Final = "/api/knowledge-sources"
NOTHING: Final = {"size": None, "overlap": None, "by": None, "leaveOutFurniture": None}
USUAL: Final = {"size": 512, "overlap": 64, "by": "heading", "leaveOutFurniture": True}
RECHUNKS: Final = "rag.processing_jobs where type = 'rechunk'"


@pytest.fixture
async def source(editor: httpx.AsyncClient, conn: Connection) -> str:
    """The URL of a source that was stored by a version which did not say how it was cut."""
    file = (await upload(editor, {"a.txt": b"a"})).json()["files"][0]
    await finish_file_job(conn, UUID(file["jobId"]))
    return f"{SOURCES}/{file['knowledgeSourceId']}"


@pytest.fixture
def application(application_id: UUID) -> str:
    return f"/api/applications/{application_id}"


def cut(answer: httpx.Response) -> tuple[Any, Any]:
    """What a source says for itself, and what follows."""
    return answer.json()["chunking"], answer.json()["effectiveChunking"]


async def test_default_chunk_settings_apply_without_overrides(
    viewer: httpx.AsyncClient, source: str
) -> None:
    one = await viewer.get(source)
    [listed] = (await viewer.get(SOURCES)).json()["items"]

    assert cut(one) == (NOTHING, USUAL)
    assert listed == one.json()


async def test_a_source_sets_what_it_needs_and_inherits_the_rest(
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    conn: Connection,
    source: str,
    application: str,
) -> None:
    of_all = {"settings": {"chunking": {"size": 200, "overlap": 20, "by": "page"}}}
    shown = await admin.patch(application, json=of_all)
    changed = await editor.patch(source, json={"chunking": {"size": 100}})

    of_page = {"size": 200, "overlap": 20, "by": "page"}
    assert shown.json()["settings"]["chunking"] == {**NOTHING, **of_page}
    assert cut(changed) == (
        {**NOTHING, "size": 100},
        {**USUAL, "size": 100, "overlap": 20, "by": "page"},
    )
    assert cut(await editor.get(source)) == cut(changed)
    assert changed.json()["status"] == "completed"
    assert await count(conn, f"{RECHUNKS} and status = 'pending' and priority = -10") == 1


async def test_settings_are_replaced_as_a_whole_and_null_ends_them(
    editor: httpx.AsyncClient, admin: httpx.AsyncClient, source: str, application: str
) -> None:
    await editor.patch(source, json={"chunking": {"size": 100, "by": "row"}})
    replaced = await editor.patch(source, json={"chunking": {"overlap": 8}})
    untouched = await editor.patch(source, json={"name": "b"})
    ended = await editor.patch(source, json={"chunking": None})

    assert cut(replaced)[0] == {**NOTHING, "overlap": 8}
    assert cut(untouched)[0] == cut(replaced)[0]
    assert cut(ended) == (NOTHING, USUAL)

    await admin.patch(application, json={"settings": {"chunking": {"size": 100}}})
    kept = await admin.patch(application, json={"settings": {"reviews": []}})
    none = await admin.patch(application, json={"settings": {"chunking": None}})
    assert kept.json()["settings"]["chunking"]["size"] == 100
    assert none.json()["settings"]["chunking"] == NOTHING


@pytest.mark.parametrize(
    ("chunking", "field", "message"),
    [
        ({"size": 31}, "size", "greater than or equal to 32"),
        ({"size": 513}, "size", "the limit of the embedding model is 512 tokens"),
        ({"size": True}, "size", "valid integer"),
        ({"overlap": -1}, "overlap", "greater than or equal to 0"),
        ({"size": 100, "overlap": 51}, "overlap", "must be at most half of the size, which is 100"),
        ({"overlap": 257}, "overlap", "must be at most half of the size, which is 512"),
        ({"by": "word"}, "by", "Input should be"),
        ({"colour": "red"}, "colour", "Extra inputs"),
    ],
)
async def test_settings_that_cannot_work_are_refused_by_name(
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    conn: Connection,
    source: str,
    application: str,
    chunking: dict[str, Any],
    field: str,
    message: str,
) -> None:
    of_source = await editor.patch(source, json={"chunking": chunking})
    of_all = await admin.patch(application, json={"settings": {"chunking": chunking}})

    assert (of_source.status_code, of_all.status_code) == (422, 422)
    [error] = of_source.json()["errors"]
    assert error["field"] == f"body.chunking.{field}"
    assert message in error["message"]
    [error] = of_all.json()["errors"]
    assert error["field"] == f"body.settings.chunking.{field}"
    assert await count(conn, RECHUNKS) == 0


async def test_overlap_is_reduced_to_half_the_chunk_size(
    editor: httpx.AsyncClient, admin: httpx.AsyncClient, source: str, application: str
) -> None:
    await editor.patch(source, json={"chunking": {"overlap": 200}})
    await admin.patch(application, json={"settings": {"chunking": {"size": 100}}})

    assert cut(await editor.get(source))[1] == {**USUAL, "size": 100, "overlap": 50}


async def test_invalid_stored_chunk_settings_count_as_unset(
    viewer: httpx.AsyncClient, conn: Connection, source: str
) -> None:
    await conn.execute(
        "update rag.knowledge_sources set chunking = "
        """'{"size": "big", "overlap": -3, "by": ["page"], "more": 1}'"""
    )
    await conn.execute("update app.applications set settings = settings || '{\"chunking\": 7}'")

    assert cut(await viewer.get(source)) == (NOTHING, USUAL)


async def test_changed_application_chunking_queues_rechunking_atomically(
    admin: httpx.AsyncClient, conn: Connection, source: str, application: str
) -> None:
    answer = await admin.patch(application, json={"settings": {"chunking": {"size": 100}}})

    assert answer.status_code == 200
    assert await count(conn, RECHUNKS) == 1


async def test_unknown_source_returns_404(editor: httpx.AsyncClient) -> None:
    answer = await editor.patch(f"{SOURCES}/{uuid4()}", json={"chunking": {"size": 100}})

    assert answer.status_code == 404


async def test_upload_chunk_settings_apply_to_unchanged_files_too(
    editor: httpx.AsyncClient, conn: Connection, source: str
) -> None:
    files = {"a.txt": b"a", "new.txt": b"new"}
    answer = await upload(editor, files, chunking='{"size": 100, "overlap": 10}')

    verdicts = [file["verdict"] for file in answer.json()["files"]]
    assert verdicts == ["unchanged", "accepted"]
    for id in answer.json()["knowledgeSourceIds"]:
        shown = await editor.get(f"{SOURCES}/{id}")
        assert cut(shown)[1] == {**USUAL, "size": 100, "overlap": 10}
    # The new one has nothing yet that was cut otherwise.
    assert await count(conn, RECHUNKS) == 1


async def test_an_upload_with_settings_that_cannot_work_stores_nothing(
    editor: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    answer = await upload(editor, {"a.txt": b"a"}, chunking='{"size": 513}')

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "body.chunking.size"
    assert await count(conn, "rag.knowledge_sources") == 0
    assert stored(blobs_on_disk) == []


async def test_the_same_upload_with_other_settings_is_another_request(
    editor: httpx.AsyncClient,
) -> None:
    answers = [
        await upload(editor, {"a.txt": b"a"}, idempotency_key="k", chunking=f'{{"size": {size}}}')
        for size in (100, 100, 200)
    ]

    assert [answer.status_code for answer in answers] == [202, 202, 409]


async def test_url_request_chunk_settings_persist_until_changed(
    editor: httpx.AsyncClient,
) -> None:
    page = {"url": "https://example.com/"}
    added = await editor.post("/upload/url", json={**page, "chunking": {"by": "size"}})
    url = f"{SOURCES}/{added.json()['knowledgeSourceId']}"
    first = cut(await editor.get(url))
    await editor.post("/upload/url", json=page)
    kept = cut(await editor.get(url))
    await editor.post("/upload/url", json={**page, "chunking": None})

    assert first == ({**NOTHING, "by": "size"}, {**USUAL, "by": "size"})
    assert kept == first
    assert cut(await editor.get(url)) == (NOTHING, USUAL)
