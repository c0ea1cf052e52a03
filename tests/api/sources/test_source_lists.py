"""Lists of sources: what they filter by, how far a request reads, counts and CSV."""

import csv
import io
from typing import Any
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.lists import source_lists
from tests.api.conftest import MakeKey, connect
from tests.api.helpers import finish_file_job, upload
from tests.api.sources.test_sources import SOURCES, add, all_pages


async def uris(client: httpx.AsyncClient, **params: Any) -> list[str]:
    answer = await client.get(SOURCES, params=params)
    assert answer.status_code == 200, answer.text
    return sorted(item["uri"] for item in answer.json()["items"])


async def fail(conn: Connection, uri: str, code: str) -> None:
    await conn.execute(
        "update rag.knowledge_sources set status = 'failed', error_code = %s where uri = %s",
        [code, uri],
    )


async def test_text_is_found_in_names_and_paths_without_special_characters(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"Reports/a_1.txt": b"a", "reports/ab1.txt": b"b", "other/c%.txt": b"c"})
    await conn.execute(
        "update rag.knowledge_sources set name = 'Jahresbericht' where uri = 'other/c%.txt'"
    )

    assert await uris(editor, q="REPORTS") == ["Reports/a_1.txt", "reports/ab1.txt"]
    assert await uris(editor, q="a_1") == ["Reports/a_1.txt"]
    assert await uris(editor, q="%") == ["other/c%.txt"]
    assert await uris(editor, q="bericht") == ["other/c%.txt"]
    assert await uris(editor, q="\\") == []


async def test_metadata_terms_are_text_or_json(editor: httpx.AsyncClient) -> None:
    await upload(editor, {"a.txt": b"a"}, metadata='{"year": 2024, "team": "a=b"}')
    await upload(editor, {"b.txt": b"b"}, metadata='{"year": "2024", "team": "a=b"}')

    assert await uris(editor, metadata="year=2024") == ["a.txt"]
    assert await uris(editor, metadata='year="2024"') == ["b.txt"]
    assert await uris(editor, metadata=["team=a=b", "year=2024"]) == ["a.txt"]
    for wrong in ("year", "=1"):
        answer = await editor.get(SOURCES, params={"metadata": wrong})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (
            422,
            "query.metadata.0",
        )


async def test_codes_and_times_filter_and_the_last_changed_come_first(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        await add(editor, name, name.encode())
    await fail(conn, "a.txt", "corrupt")
    await conn.execute(
        "update rag.knowledge_sources set created_at = '2020-01-01Z', updated_at = '2021-01-01Z' "
        "where uri = 'b.txt'"
    )

    assert await uris(editor, errorCode="corrupt") == ["a.txt"]
    assert await uris(editor, since="2020-06-01T00:00:00Z") == ["a.txt", "c.txt"]
    assert await uris(editor, updatedSince="2020-06-01T00:00:00Z") == ["a.txt", "b.txt", "c.txt"]
    assert await uris(editor, updatedSince="2021-06-01T00:00:00Z") == ["a.txt", "c.txt"]
    await conn.execute("update rag.knowledge_sources set updated_at = now() where uri = 'b.txt'")
    items = await all_pages(editor, SOURCES, sort="updatedAt")
    assert [item["uri"] for item in items] == ["b.txt", "c.txt", "a.txt"]


@pytest.mark.parametrize("sort", ["chunkCount", "tokenCount", "sizeBytes"])
async def test_the_largest_come_first_page_by_page(
    editor: httpx.AsyncClient, conn: Connection, sort: str
) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"):
        await add(editor, name, name.encode())
    column = {"chunkCount": "chunk_count", "tokenCount": "token_count", "sizeBytes": "size_bytes"}
    sizes = {"a.txt": 5, "b.txt": 2**31 - 1, "c.txt": 0, "d.txt": 5, "e.txt": 7}
    for name, size in sizes.items():
        await conn.execute(
            f"update rag.knowledge_sources set {column[sort]} = %s where uri = %s".encode(),
            [size, name],
        )
    if sort == "sizeBytes":  # as of a site
        await conn.execute("update rag.knowledge_sources set size_bytes = null where uri = 'c.txt'")

    items = await all_pages(editor, SOURCES, sort=sort, limit="1")

    assert [item["uri"] for item in items] == ["b.txt", "e.txt", "d.txt", "a.txt", "c.txt"]


async def test_a_cursor_of_another_order_is_refused(editor: httpx.AsyncClient) -> None:
    for name in ("a.txt", "b.txt"):
        await add(editor, name, name.encode())
    by_time = (await editor.get(SOURCES, params={"limit": "1"})).json()["nextCursor"]
    by_size = await editor.get(SOURCES, params={"limit": "1", "sort": "sizeBytes"})

    answers = [
        await editor.get(SOURCES, params={"cursor": by_time, "sort": "sizeBytes"}),
        await editor.get(SOURCES, params={"cursor": by_size.json()["nextCursor"]}),
    ]

    assert [answer.json()["code"] for answer in answers] == ["invalid_cursor"] * 2


@pytest.mark.parametrize("sort", ["createdAt", "updatedAt", "tokenCount", "sizeBytes"])
async def test_a_search_reads_so_many_sources_and_says_where_to_read_on(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    for number in range(7):
        await add(editor, f"{'needle' if number in (0, 5) else 'hay'}{number}.txt")
    monkeypatch.setattr(source_lists, "SCANNED", 3)

    pages: list[list[str]] = []
    cursor = None
    while True:
        params = {"q": "needle", "limit": "1", "sort": sort} | (
            {"cursor": cursor} if cursor else {}
        )
        page = (await editor.get(SOURCES, params=params)).json()
        pages.append([item["uri"] for item in page["items"]])
        cursor = page["nextCursor"]
        if cursor is None:
            break

    # The newest three with one hit, three without, and the last.
    assert pages == [["needle5.txt"], [], ["needle0.txt"]]


async def test_counts_are_of_the_filter_and_bounded(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (await upload(editor, {f"a{n}.txt": b"%d" % n for n in range(3)})).json()
    await upload(editor, {"b.txt": b"b"})
    await finish_file_job(conn, UUID(first["files"][0]["jobId"]))
    await fail(conn, "a1.txt", "corrupt")

    async def counts(**params: str) -> dict[str, tuple[int, bool]]:
        answer = (await editor.get(f"{SOURCES}/counts", params=params)).json()
        return {
            item["status"]: (item["count"], item["isExact"])
            for item in answer["items"]
            if item["count"] or not item["isExact"]
        }

    assert await counts() == {"pending": (2, True), "completed": (1, True), "failed": (1, True)}
    assert await counts(batchId=first["batchId"], status="failed") == {
        "pending": (1, True),
        "completed": (1, True),
        "failed": (1, True),
    }
    assert await counts(q="b.txt") == {"pending": (1, True)}
    monkeypatch.setattr(source_lists, "MOST_COUNTED", 1)
    monkeypatch.setattr("ingest.store.lists.counts.MOST_COUNTED", 1)
    assert (await counts())["pending"] == (1, False)
    monkeypatch.setattr(source_lists, "_SCANNED_PER_STATUS", 1)
    assert (await counts(q="a2.txt"))["pending"] == (0, False)


async def test_a_collection_and_a_limited_key_bound_lists_counts_and_files(
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    application_id: UUID,
    make_key: MakeKey,
) -> None:
    inside = await add(editor, "inside.txt")
    await add(editor, "outside.txt", b"b")
    collection = (await editor.post("/api/collections", json={"name": "c"})).json()["id"]
    await editor.post(
        f"/api/collections/{collection}/knowledge-sources",
        json={"add": [inside["knowledgeSourceId"]]},
    )
    made = await admin.post(
        f"/api/applications/{application_id}/keys",
        json={"name": "bot", "role": "viewer", "collectionIds": [collection]},
    )
    app = editor._transport.app  # type: ignore[attr-defined]

    async with connect(app, made.json()["key"]) as limited:
        for client, more in ((editor, {"collectionId": collection}), (limited, {})):
            assert await uris(client, q="side", **more) == ["inside.txt"]
            counts = (await client.get(f"{SOURCES}/counts", params=more)).json()["items"]
            assert sum(item["count"] for item in counts) == 1
            text = (await client.get(f"{SOURCES}/export", params=more)).text
            assert ("inside" in text, "outside" in text) == (True, False)
            jobs = (await client.get("/api/jobs", params={"q": "side", **more})).json()["items"]
            assert [job["uri"] for job in jobs] == ["inside.txt"]
        refused = await limited.post(f"{SOURCES}/bulk", json={"action": "delete", "filter": {}})
        assert refused.status_code == 403


async def test_the_csv_of_a_filter_is_complete_and_has_no_formulas(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upload(editor, {f"{n}.txt": b"%d" % n for n in range(5)})
    await conn.execute("update rag.knowledge_sources set name = '=cmd()' where uri = '3.txt'")
    monkeypatch.setattr("api.schema.csv_lines._PART", 2)

    answer = await editor.get(f"{SOURCES}/export", params={"status": "pending"})

    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert sorted(row["uri"] for row in rows) == [f"{n}.txt" for n in range(5)]
    assert [row["name"] for row in rows if row["uri"] == "3.txt"] == ["'=cmd()"]
    assert answer.headers["content-disposition"] == 'attachment; filename="knowledge-sources.csv"'
    monkeypatch.setattr("api.schema.csv_lines.MOST_ROWS", 3)
    short = await editor.get("/api/jobs/export")
    assert len(short.text.splitlines()) == 6
