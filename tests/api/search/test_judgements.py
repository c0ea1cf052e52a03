"""Judgements of hits: kept while documents change. Sets of them: test_judgement_sets.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.search.evaluation.judge import judge
from ingest.search.evaluation.questions import Question
from tests.api.access.limited_keys import limited_key
from tests.api.conftest import connect
from tests.api.helpers import count
from tests.api.search.judgements import QUERY, TEXT, add, exported, hits, listed, put
from tests.support.searchable_chunks import Space, replace_chunks

SENTENCE = "Its oil is changed every 400 hours, by a person."


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


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
