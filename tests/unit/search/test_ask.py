"""Asking judged questions in several ways: what counts when the time is up, or a search fails."""

import asyncio
from collections.abc import Sequence

import pytest

from ingest.errors import SearchTimeout, Transient
from ingest.search.evaluation.ask import Ask, Evaluation, Found, ask_all
from ingest.search.evaluation.questions import Question, Target

QUESTIONS = [
    Question(id=text, text=text, targets=[Target(document=f"{text}.txt")]) for text in "abc"
]


def finds(*names: str, fails_at: str = "", error: Exception | None = None) -> Ask:
    """A search that finds these files, or fails at a question."""

    async def ask(question: Question) -> Found:
        if question.text == fails_at and error is not None:
            raise error
        hits = [
            {
                "chunkId": name,
                "documentId": name,
                "knowledgeSourceId": name,
                "uri": f"{name}.txt",
                "page": None,
                "pageEnd": None,
                "content": "",
            }
            for name in names
        ]
        return Found(hits=hits, is_degraded=question.text == "b")

    return ask


def evaluated(*ways: Ask, late: Sequence[bool] = ()) -> Evaluation:
    answers = iter(late)
    return asyncio.run(ask_all(QUESTIONS, ways, depth=10, is_late=lambda: next(answers, False)))


def test_every_question_is_asked_in_every_way() -> None:
    found = evaluated(finds("a", "b"), finds("b"))

    assert [one.question.text for one in found.asked] == ["a", "b", "c"]
    assert found.series(0)["mrr"] == [1, 0.5, 0]
    assert found.series(1)["mrr"] == [0, 1, 0]
    assert found.degraded == [1, 1]
    assert found.stopped_by is None


def test_no_question_is_asked_when_the_time_is_up_but_one_always_is() -> None:
    assert len(evaluated(finds("a"), late=[False, True]).asked) == 2
    assert len(evaluated(finds("a"), late=[True]).asked) == 1


@pytest.mark.parametrize(
    "error", [Transient("busy", code="busy"), SearchTimeout("too long")], ids=["busy", "timeout"]
)
def test_a_failure_keeps_the_questions_that_all_ways_were_asked(error: Exception) -> None:
    found = evaluated(finds("a"), finds("a", fails_at="b", error=error))

    assert [one.question.text for one in found.asked] == ["a"]
    assert found.degraded == [0, 0]
    assert found.stopped_by is error


def test_a_failure_before_any_result_is_raised() -> None:
    with pytest.raises(Transient):
        evaluated(finds("a", fails_at="a", error=Transient("busy", code="busy")))
