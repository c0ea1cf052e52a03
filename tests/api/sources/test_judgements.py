"""Judgements of hits: kept while documents change, and read by `ingest eval`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import numpy as np
import pytest

from api.cli.evaluation.questions import load_questions
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.search.evaluation.judge import judge
from ingest.search.evaluation.questions import Question
from ingest.store.search import judgements
from ingest.store.sources import sources
from tests.api.access.test_limited_keys import limited_key
from tests.api.conftest import connect, fake_vector
from tests.api.helpers import count
from tests.support.searchable_chunks import Space, add_document, replace_chunks

TEXT = "# Oil\n\nThe pump is blue. Its oil is changed every 400 hours, by a person. It is heavy."
SENTENCE = "Its oil is changed every 400 hours, by a person."
QUERY = "When is the oil changed?"


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


async def add(conn: Connection, application_id: UUID, space: Space, *texts: str) -> UUID:
    vectors = np.stack([fake_vector(text) for text in texts])
    return await add_document(conn, application_id, space, texts, vectors=vectors)


async def hits(client: httpx.AsyncClient, query: str = QUERY, **body: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/search", json={"query": query, "mode": "keyword", **body})
    found: list[dict[str, Any]] = answer.json()["hits"]
    return found


async def put(client: httpx.AsyncClient, chunk_id: str, **body: Any) -> dict[str, Any]:
    body = {"query": QUERY, "grade": 1, "chunkId": chunk_id, **body}
    answer = await client.put("/api/judgements", json=body)
    assert answer.status_code == 200, answer.text
    judged: dict[str, Any] = answer.json()
    return judged


async def listed(client: httpx.AsyncClient, **params: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/judgements", params=params)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def exported(
    client: httpx.AsyncClient, folder: Path, *formats: str, name: str = "default"
) -> Sequence[Question]:
    files = []
    for format in formats:
        answer = await client.get(f"/api/judgement-sets/{name}/export", params={"format": format})
        assert answer.status_code == 200, answer.text
        files.append(folder / format)
        files[-1].write_text(answer.text)
    return load_questions(files[0], files[1] if len(files) > 1 else None).questions


def measured(questions: Sequence[Question], found: Sequence[dict[str, Any]]) -> float:
    [question] = questions
    return judge(question, found, depth=10).measures["ndcg@10"]


async def test_a_judgement_names_the_sentence_that_answers(
    editor: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
) -> None:
    source = await add(conn, application_id, space, TEXT, "The valve is red.")
    [hit, *_] = await hits(editor)

    judged = await put(editor, hit["chunkId"], grade=2)

    assert judged["quote"] == SENTENCE
    assert (judged["set"], judged["grade"], judged["page"]) == ("default", 2, 1)
    assert judged["knowledgeSourceId"] == str(source)
    assert judged["documentId"] == hit["documentId"]
    assert judged["judgedBy"] == "a editor"
    assert await listed(viewer) == [judged]
    assert await listed(viewer, query=QUERY, set="default") == [judged]
    assert await listed(viewer, query="another") == await listed(viewer, set="other") == []


async def test_the_last_judgement_of_a_hit_counts_and_can_be_taken_back(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID, space: Space
) -> None:
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    first = await put(editor, hit["chunkId"])

    second = await put(editor, hit["chunkId"], grade=0)
    other_filter = await put(editor, hit["chunkId"], filter={"where": {"uri": {"glob": "*"}}})
    own_words = await put(editor, hit["chunkId"], quote="pump is BLUE")

    assert (second["id"], second["grade"]) == (first["id"], 0)
    assert len({first["id"], other_filter["id"], own_words["id"]}) == 3
    removed = await editor.delete(f"/api/judgements/{first['id']}")
    again = await editor.delete(f"/api/judgements/{first['id']}")
    assert (removed.status_code, again.status_code) == (204, 404)
    assert {one["id"] for one in await listed(editor)} == {other_filter["id"], own_words["id"]}


async def test_a_judgement_survives_other_chunks_and_another_version(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
) -> None:
    source = await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    judged = await put(editor, hit["chunkId"])

    await replace_chunks(
        conn, application_id, space, source, ["The pump is blue.", f"Now: {SENTENCE}"]
    )

    found = await hits(editor)
    assert hit["chunkId"] not in {one["chunkId"] for one in found}
    assert await listed(editor) == [judged]
    assert measured(await exported(editor, tmp_path, "jsonl"), found) == 1
    assert measured(await exported(editor, tmp_path, "jsonl"), await hits(editor, "blue pump")) < 1


async def test_a_judgement_survives_a_version_that_was_reviewed(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
) -> None:
    """Its document is another row."""
    source = await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    await put(editor, hit["chunkId"])
    await conn.execute("delete from rag.documents where source_id = %s", [source])
    [gone] = await listed(editor)

    await replace_chunks(conn, application_id, space, source, [TEXT])

    [back], [new] = await listed(editor), await hits(editor)
    assert (gone["documentId"], back["documentId"]) == (None, new["documentId"])
    assert new["documentId"] != hit["documentId"]
    assert measured(await exported(editor, tmp_path, "qrels", "queries"), [new]) == 1


async def test_qrels_have_the_best_grade_of_each_document(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    tmp_path: Path,
) -> None:
    await add(conn, application_id, space, TEXT, "Oil is dear.")
    await add(conn, application_id, space, "The oil of olives.")
    by_text = {hit["content"]: hit for hit in await hits(editor, "oil", collapse=False)}
    pump, dear, olives = by_text[TEXT], by_text["Oil is dear."], by_text["The oil of olives."]
    for hit, grade in ((pump, 3), (dear, 0), (olives, 0)):
        await put(editor, hit["chunkId"], grade=grade)
    await put(editor, pump["chunkId"], query="with a filter", filter={"where": {"uri": "x"}})

    [question] = await exported(editor, tmp_path, "qrels", "queries")

    assert len((tmp_path / "qrels").read_text().splitlines()) == 2
    assert len((tmp_path / "queries").read_text().splitlines()) == 1
    gains = {target.document: target.gain for target in question.targets}
    assert gains == {pump["documentId"]: 3, olives["documentId"]: 0}
    assert question.text == QUERY
    [again] = [
        one for one in await exported(editor, tmp_path, "jsonl") if one.text == "with a filter"
    ]
    assert again.filter == {"where": {"uri": "x"}}


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


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"quote": "every 500 hours"}, "quote"),
        ({"quote": "…"}, "quote"),
        ({"grade": 4}, "grade"),
        ({"grade": "1"}, "grade"),
        ({"query": "\0"}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"set": "../x"}, "set"),
        ({"set": "x\n"}, "set"),
        ({"filter": {"where": {"year": 1}}}, "filter.where.year"),
        ({"filter": {"metadata": {"x": "x" * 5000}}}, "filter"),
    ],
)
async def test_what_cannot_be_judged_is_refused(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
    change: dict[str, Any],
    field: str,
) -> None:
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)

    body = {"query": QUERY, "grade": 1, "chunkId": hit["chunkId"], **change}
    answer = await editor.put("/api/judgements", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == f"body.{field}"
    assert await count(conn, "rag.judgements") == 0


async def test_others_neither_judge_nor_read_it(
    app: Any,
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
) -> None:
    await add(conn, application_id, space, TEXT)
    [hit] = await hits(editor)
    judged = await put(editor, hit["chunkId"])
    body = {"query": QUERY, "grade": 1, "chunkId": hit["chunkId"]}

    theirs = await stranger.put("/api/judgements", json=body)
    unknown = await editor.put("/api/judgements", json={**body, "chunkId": str(uuid4())})

    assert (theirs.status_code, theirs.json()) == (404, unknown.json())
    assert await listed(stranger) == []
    assert (await stranger.get("/api/judgement-sets")).json()["items"] == []
    assert (await stranger.get("/api/judgement-sets/default/export")).status_code == 404
    assert (await stranger.delete(f"/api/judgements/{judged['id']}")).status_code == 404
    collection = await editor.post("/api/collections", json={"name": "some"})
    key = await limited_key(admin, application_id, collection.json()["id"])
    async with connect(app, key) as limited:
        assert (await limited.get("/api/judgements")).status_code == 403
        assert (await limited.get("/api/judgement-sets/default/export")).status_code == 403
