"""Runs of an evaluation, their results as JSON, and the comparison of two."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from api.cli.output import CommandError
from ingest.search.evaluation.judge import judge
from ingest.search.evaluation.measures import (
    MAIN_MEASURE,
    Interval,
    bootstrap,
    paired_differences,
)
from ingest.search.evaluation.questions import Question

_VERSION: Final = 1

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends the body of a search and returns the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Fields of the search request that a run sets."""

    name: str
    fields: Mapping[str, Any]


class Run(NamedTuple):
    """One mode and variant, asked every question."""

    mode: str
    variant: str
    degraded: int
    """Searches that lacked a part: vectors, or the reranker."""
    questions: Mapping[str, Mapping[str, Any]]
    """By id: `query`, `measures`, `ranking`."""

    @property
    def key(self) -> tuple[str, str]:
        return self.mode, self.variant

    def series(self, among: Sequence[str] | None = None) -> dict[str, list[float]]:
        """The values of each measure, in the order of the questions."""
        ids = self.questions if among is None else among
        measured = [self.questions[id]["measures"] for id in ids]
        return {name: [one[name] for one in measured] for name in (measured[0] if measured else ())}

    def intervals(self) -> dict[str, Interval]:
        return bootstrap(self.series())

    def as_json(self) -> dict[str, Any]:
        means = {name: one._asdict() for name, one in self.intervals().items()}
        return {
            "mode": self.mode,
            "variant": self.variant,
            "degraded": self.degraded,
            "measures": means,
            "questions": [{"id": id, **one} for id, one in self.questions.items()],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        questions = {one["id"]: one for one in value["questions"]}
        return cls(value["mode"], value["variant"], value["degraded"], questions)


def run(
    questions: Sequence[Question],
    ask: Ask,
    *,
    mode: str,
    variant: Variant,
    depth: int,
    on_question: Callable[[], None] = lambda: None,
) -> Run:
    """Ask every question and judge what is found."""
    degraded = 0
    judged = {}
    for question in questions:
        body: dict[str, Any] = {"query": question.text, "mode": mode, "limit": depth}
        if all(target.page is None and target.quote is None for target in question.targets):
            body["perDocument"] = 1  # documents are ranked: more chunks of one would find no other
        if question.filter is not None:
            body["filter"] = question.filter
        answer = ask({**body, **variant.fields})
        # False only if the request asked for the reranker and it failed.
        degraded += bool(answer["degraded"]) or answer.get("reranked") is False
        result = judge(question, answer["hits"], depth=depth)
        judged[question.id] = {
            "query": question.text,
            "measures": result.measures,
            "ranking": result.ranking[:10],
        }
        on_question()
    return Run(mode, variant.name, degraded, judged)


class Change(NamedTuple):
    """One question in two runs."""

    query: str
    before: float
    after: float
    ranking: Sequence[str]


class Comparison(NamedTuple):
    """A run against an earlier one, by the questions that both have."""

    name: str
    questions: int
    differences: Mapping[str, Interval]
    changes: Sequence[Change]
    """Questions whose main measure changed, the worst loss first."""

    @property
    def is_worse(self) -> bool:
        """Whether the main measure fell by more than chance explains."""
        difference = self.differences.get(MAIN_MEASURE)
        return difference is not None and difference.high < 0

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "questions": self.questions,
            "differences": {name: one._asdict() for name, one in self.differences.items()},
            "changes": [change._asdict() for change in self.changes],
        }


def compare(after: Run, before: Run, *, name: str) -> Comparison:
    """Differences of the measures that both have, with paired intervals."""
    common = [id for id in after.questions if id in before.questions]
    differences = paired_differences(after.series(common), before.series(common))
    changes = [
        Change(
            after.questions[id]["query"],
            before.questions[id]["measures"][MAIN_MEASURE],
            after.questions[id]["measures"][MAIN_MEASURE],
            after.questions[id]["ranking"],
        )
        for id in common
    ]
    changed = [one for one in changes if one.after != one.before]
    changed.sort(key=lambda one: one.after - one.before)
    return Comparison(name, len(common), differences, changed)


def as_json(runs: Sequence[Run], comparisons: Sequence[Comparison], **about: Any) -> dict[str, Any]:
    return {
        "version": _VERSION,
        **about,
        "runs": [one.as_json() for one in runs],
        "comparisons": [one.as_json() for one in comparisons],
    }


def read_runs(file: Path) -> list[Run]:
    """The runs of an earlier evaluation. Raises CommandError."""
    try:
        value = json.loads(file.read_text())
        if value["version"] != _VERSION:
            raise CommandError(f"{file} is of another version of `ingest eval`")
        return [Run.from_json(one) for one in value["runs"]]
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise CommandError(f"{file} is no result of `ingest eval`") from None
