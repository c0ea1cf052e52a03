"""Sets of judgements: exported, counted, deleted, bounded."""

from pathlib import Path
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.search import judgements
from ingest.store.sources import sources
from tests.api.helpers import count
from tests.api.search.judgements import TEXT, add, exported, hits, listed, put
from tests.support.searchable_chunks import Space


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


@pytest.mark.parametrize(
    "query", ["a\tb\nc oil", "<top><num>1<title>oil", '{"oil": 1}', ".I 1 oil", "<DOCNO> öl oil 油"]
)
async def test_any_query_is_exported_as_it_is(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
    query: str,
) -> None:
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    await put(editor, hit["chunkId"], query=query)

    [by_document] = await exported(editor, tmp_path, "qrels", "queries")
    [by_quote] = await exported(editor, tmp_path, "jsonl")

    assert by_document.text == " ".join(query.split())
    assert by_quote.text == query


async def test_large_sets_are_exported_whole(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.routes.search.judgements._PART", 2)
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    for n in range(5):
        await put(editor, hit["chunkId"], query=f"oil {n}")

    whole = {f"oil {n}" for n in range(5)}
    assert {one.text for one in await exported(editor, tmp_path, "jsonl")} == whole
    assert {one.text for one in await exported(editor, tmp_path, "qrels", "queries")} == whole


async def test_sets_are_counted_and_deleted(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    for query, grade in (("oil", 1), ("oil pump", 0), ("blue pump", 2)):
        await put(editor, hit["chunkId"], query=query, grade=grade, set="pumps-1.0")
    await put(editor, hit["chunkId"], quote="It is heavy", query="oil", set="pumps-1.0")
    await put(editor, hit["chunkId"])

    answer = (await editor.get("/api/judgement-sets", params={"limit": 1})).json()
    rest = await editor.get("/api/judgement-sets", params={"cursor": answer["nextCursor"]})

    assert [one["name"] for one in answer["items"]] == ["default"]
    [found] = rest.json()["items"]
    counts = ("questionCount", "judgementCount", "relevantCount")
    assert [found[name] for name in counts] == [3, 4, 3]
    assert (await editor.delete("/api/judgement-sets/pumps-1.0")).status_code == 204
    assert (await editor.delete("/api/judgement-sets/pumps-1.0")).status_code == 404
    assert (await editor.get("/api/judgement-sets/pumps-1.0/export")).status_code == 404
    assert len(await listed(editor)) == 1


async def test_judgements_go_with_their_source(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    source = await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    await put(editor, hit["chunkId"])

    await sources.tombstone(conn, application_id=application_id, ids=[source])
    hidden = await listed(editor), (await editor.get("/api/judgement-sets")).json()["items"]
    await conn.execute("delete from rag.knowledge_sources where id = %s", [source])

    assert hidden == ([], [])
    assert await count(conn, "rag.judgements") == 0


async def test_an_application_has_a_limited_number(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judgements, "MOST", 1)
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    await put(editor, hit["chunkId"])
    body = {"query": "another", "grade": 1, "chunkId": hit["chunkId"]}

    refused = await editor.put("/api/judgements", json=body)
    await put(editor, hit["chunkId"], grade=0)

    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_judgements")
    assert [one["grade"] for one in await listed(editor)] == [0]
