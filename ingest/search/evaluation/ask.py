"""Asks judged questions in several ways, and judges the hits of each."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingest.errors import SearchTimeout, Transient
from ingest.search.evaluation.judge import Hit, judge
from ingest.search.evaluation.questions import Question


class Found(NamedTuple):
    hits: Sequence[Hit]
    is_degraded: bool
    """Whether the search lacked a part: vectors, or the reranker."""


Ask = Callable[[Question], Awaitable[Found]]


class Asked(NamedTuple):
    """A question with its measures in each way, as `judge` has them."""

    question: Question
    measures: Sequence[Mapping[str, float]]


@dataclass(slots=True, kw_only=True)
class Evaluation:
    asked: list[Asked]
    degraded: list[int]
    """Searches of each way that lacked a part."""
    stopped_by: Transient | SearchTimeout | None = None
    """What ended it before all questions were asked; None: nothing, or the time."""

    def series(self, way: int) -> dict[str, list[float]]:
        """The values of each measure in one way, in the order of the questions."""
        measured = [one.measures[way] for one in self.asked]
        return {name: [one[name] for one in measured] for name in (measured[0] if measured else ())}


async def ask_all(
    questions: Sequence[Question], ways: Sequence[Ask], *, depth: int, is_late: Callable[[], bool]
) -> Evaluation:
    """Ask every question in every way, until it is late.

    A question counts if it was asked in all ways, so that the runs can be compared by pairs. A
    failure ends the evaluation, which keeps what it has; it is raised if that is nothing.
    """
    evaluation = Evaluation(asked=[], degraded=[0] * len(ways))
    for question in questions:
        if evaluation.asked and is_late():
            break
        try:
            found = [await ask(question) for ask in ways]
        except (Transient, SearchTimeout) as error:
            if not evaluation.asked:
                raise
            evaluation.stopped_by = error
            break
        for way, one in enumerate(found):
            evaluation.degraded[way] += one.is_degraded
        measures = [judge(question, one.hits, depth=depth).measures for one in found]
        evaluation.asked.append(Asked(question, measures))
    return evaluation
