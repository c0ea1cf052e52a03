"""Evaluations by the API: what `ingest eval` measures of the same judgements."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.cli.evaluation.runs import Variant, compare, run
from api.routes.search import evaluation
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.search.evaluation.questions import Question, Target
from ingest.store.search import judged_questions
from tests.api.search.judgements import add, hits, put
from tests.support.searchable_chunks import Space

WORDS = ("oil", "seal", "motor", "valve", "shaft", "pipe")
MODES: list[dict[str, Any]] = [{"mode": "keyword"}, {"mode": "vector"}]


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)


@pytest.fixture
async def judged(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
) -> None:
    """A question for each word, whose answer has it; and a question without an answer."""
    for word in WORDS:
        await add(conn, application_id, space, f"The {word} of the pump is checked in May.")
    for word in WORDS:
        found = await hits(editor, word)
        [right] = [hit for hit in found if word in hit["content"]]
        await put(editor, right["chunkId"], query=f"{word} pump", grade=2)
    await put(editor, right["chunkId"], query="no answer", grade=0)


async def evaluate(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    body = {"settings": MODES, **body}
    answer = await client.post("/api/judgement-sets/default/evaluate", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.usefixtures("judged")
async def test_the_api_measures_what_the_command_measures(
    viewer: httpx.AsyncClient,
) -> None:
    found = await evaluate(viewer)
    listed = (await viewer.get("/api/judgements", params={"limit": 200})).json()["items"]
    questions = [
        Question(
            id=one["query"],
            text=one["query"],
            targets=[Target(document=one["uri"], quote=one["quote"], gain=one["grade"])],
        )
        for one in listed
        if one["grade"] > 0
    ]
    questions.sort(key=lambda one: [q["query"] for q in found["questions"]].index(one.text))
    answers: dict[str, Mapping[str, Any]] = {}
    for settings in MODES:
        for question in questions:
            body = {"query": question.text, "limit": 20, **settings}
            answer = await viewer.post("/api/search", json=body)
            answers[f"{settings['mode']} {question.text}"] = answer.json()
    runs = [
        run(
            questions,
            lambda body: answers[f"{body['mode']} {body['query']}"],
            mode=settings["mode"],
            variant=Variant(name="", fields={}),
            depth=20,
        )
        for settings in MODES
    ]

    assert (found["questionCount"], found["asked"], found["stoppedBy"]) == (6, 6, None)
    for one, expected in zip(found["runs"], runs, strict=True):
        of_command = {name: mean._asdict() for name, mean in expected.intervals().items()}
        assert one["measures"] == of_command
        assert one["degraded"] == 0
    difference = compare(runs[1], runs[0], name="").differences
    assert found["runs"][0]["differences"] is None
    assert found["runs"][1]["differences"] == {
        name: one._asdict() for name, one in difference.items()
    }
    by_words = found["runs"][0]["measures"]
    assert by_words["ndcg@10"] == {"mean": 1, "low": 1, "high": 1}
    assert found["runs"][1]["measures"]["mrr"]["mean"] < 1
    assert found["questions"][0]["measures"][0]["mrr"] == 1


@pytest.mark.usefixtures("judged")
async def test_a_part_of_the_questions_is_chosen_by_chance_and_always_the_same(
    viewer: httpx.AsyncClient,
) -> None:
    found = [await evaluate(viewer, questions=3, settings=[{"mode": "keyword"}]) for _ in range(2)]
    whole = await evaluate(viewer, settings=[{"mode": "keyword"}])

    assert found[0] == found[1]
    assert (found[0]["questionCount"], found[0]["asked"]) == (6, 3)
    assert found[0]["questions"] == whole["questions"][:3]


@pytest.mark.usefixtures("judged")
async def test_the_settings_of_a_search_are_those_of_the_evaluation(
    viewer: httpx.AsyncClient,
) -> None:
    """No hit passes the least score, so every answer is missed."""
    settings = [{"mode": "keyword", "minScore": {"bm25": 1000}}, {"mode": "keyword"}]

    found = await evaluate(viewer, settings=settings)

    assert [one["measures"]["ndcg@10"]["mean"] for one in found["runs"]] == [0, 1]
    assert found["runs"][1]["differences"]["recall@10"] == {"mean": 1, "low": 1, "high": 1}


async def test_the_filter_of_a_question_limits_its_search(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    space: Space,
) -> None:
    source = await add(conn, application_id, space, "The oil is changed in May, by a person.")
    for _ in range(12):  # better by words, and not among the sources of the question
        await add(conn, application_id, space, "Oil, oil: the oil is new.")
    found = await hits(editor, "oil", filter={"knowledgeSourceIds": [str(source)]})
    filter = {"knowledgeSourceIds": [str(source)]}
    await put(editor, found[0]["chunkId"], query="oil", filter=filter)

    [question] = (await evaluate(editor, settings=[{"mode": "keyword"}]))["questions"]

    assert (question["filter"], question["answers"]) == (filter, 1)
    assert question["measures"][0]["hit@1"] == 1


@pytest.mark.usefixtures("judged")
async def test_no_question_is_asked_when_the_time_is_up(
    viewer: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "LONGEST", evaluation.LONGEST * 0)

    found = await evaluate(viewer)

    assert (found["questionCount"], found["asked"]) == (6, 1)


@pytest.mark.usefixtures("judged")
async def test_questions_are_listed_with_their_counts(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient
) -> None:
    [hit, *_] = await hits(editor, "oil")
    await put(editor, hit["chunkId"], query="oil pump", grade=0, quote="is checked")
    path, seen, params = "/api/judgement-sets/default/questions", [], {"limit": "2"}
    for _ in range(4):
        answer = (await viewer.get(path, params=params)).json()
        seen += answer["items"]
        params["cursor"] = answer["nextCursor"]
    assert params["cursor"] is None

    assert {one["query"] for one in seen} == {*(f"{word} pump" for word in WORDS), "no answer"}
    assert len(seen) == 7
    assert all(a["judgedAt"] >= b["judgedAt"] for a, b in pairwise(seen))
    first = seen[0]
    assert (first["query"], first["judgementCount"], first["relevantCount"]) == ("oil pump", 2, 1)


@pytest.mark.usefixtures("judged")
async def test_only_so_many_answers_of_a_question_are_looked_for(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judged_questions, "MOST_ANSWERS", 1)
    for hit in await hits(editor, "seal"):
        await put(editor, hit["chunkId"], query="oil pump", grade=1)

    found = await evaluate(editor, settings=[{"mode": "keyword"}])

    [question] = [one for one in found["questions"] if one["query"] == "oil pump"]
    assert question["answers"] == 1
    assert question["measures"][0]["ndcg@10"] == 1  # that with the highest grade


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"settings": []}, "settings"),
        ({"settings": [{}] * 4}, "settings"),
        ({"settings": [{"query": "mine"}]}, "settings.0.query"),
        ({"settings": [{"weights": {"vector": 2}}]}, "settings.0.weights.vector"),
        ({"questions": 201}, "questions"),
        ({"depth": 9}, "depth"),
    ],
)
async def test_what_is_refused(
    viewer: httpx.AsyncClient, change: dict[str, Any], field: str
) -> None:
    body = {"settings": [{}], **change}
    answer = await viewer.post("/api/judgement-sets/default/evaluate", json=body)

    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [f"body.{field}"]


async def test_a_set_without_an_answer_is_not_found(viewer: httpx.AsyncClient) -> None:
    answer = await viewer.post("/api/judgement-sets/default/evaluate", json={"settings": [{}]})

    assert answer.status_code == 404
