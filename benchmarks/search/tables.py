"""Times and recall by installation, mode, number of clients, and filter."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.core.results import Goal, Table
from benchmarks.search.exact import Exact
from benchmarks.search.fill import PER_SOURCE, SHARES, metadata
from benchmarks.search.installation import Installation
from benchmarks.search.timing import MODES, Question, percentile

_CLIENTS: Final = (1, 8)
_LEAST_RECALL: Final = 0.95
_EVERY: Final = 20
"""The filter by id names one in this many sources."""


@dataclass(slots=True)
class Tables:
    """Collects rows from each installation."""

    times: list[list[str]] = field(default_factory=list)
    recalls: list[list[str]] = field(default_factory=list)
    filters: list[list[str]] = field(default_factory=list)
    recall: float | None = None
    """Recall of the largest installation with one application."""

    def measure(self, place: Installation, *, rounds: int) -> None:
        """Times and recall without filters."""
        for mode in MODES:
            asked = place.asked(mode) * rounds
            for clients in _CLIENTS:
                self.times.append(
                    [
                        *(place.title, mode, str(clients)),
                        *_two(place.by_function(asked, clients)),
                        *_two(place.by_http(asked, clients)),
                    ]
                )
        exact = Exact(place.chunks.vectors, place.filled.ids)
        found = [_recall(place, exact, question) for question in place.asked("vector")]
        mean = float(np.mean(found))
        self.recalls.append([place.title, f"{mean:.4f}", f"{min(found):.2f}", str(len(found))])
        if len(place.filled.applications) == 1:
            self.recall = mean

    def measure_filters(self, place: Installation, *, rounds: int) -> None:
        """Times and recall with filters, for an installation with one application."""
        exact = Exact(place.chunks.vectors, place.filled.ids)
        for name, filter, among in _filters(place):
            row = [name, f"{among.mean():.1%}"]
            for mode in MODES:
                asked = [replace(question, filter=filter) for question in place.asked(mode)]
                row += _two(place.by_function(asked * rounds))
            asked = [replace(question, filter=filter) for question in place.asked("vector")]
            found = [_recall(place, exact, question, among) for question in asked]
            self.filters.append([*row, f"{float(np.mean(found)):.4f}"])

    def tables(self) -> list[Table]:
        asked = ["function p50", "p99", "HTTP p50", "p99"]
        per_mode = [name for mode in MODES for name in (f"{mode} p50", "p99")]
        return [
            Table(
                title="Milliseconds of a search",
                columns=["", "mode", "clients", *asked],
                rows=self.times,
                note="Ten hits. Applications are asked as often as they are large; the sizes fall "
                "by Zipf's law. HTTP: to `ingest api` and back, which shares the machine with "
                "the clients. Four searches at once; more wait for each other.",
            ),
            Table(
                title="Recall@10 of vector search",
                columns=["", "mean", "lowest", "questions"],
                rows=self.recalls,
                note="Against a comparison with all vectors. The questions are made of sentences "
                "that no chunk has.",
            ),
            Table(
                title="Milliseconds and recall of filtered searches",
                columns=["filter", "share of chunks", *per_mode, "recall@10"],
                rows=self.filters,
                note="One client, by the function, in the largest installation.",
            ),
        ]

    def goal(self) -> Goal:
        return Goal(
            text="search at 100,000 chunks, recall@10 of exact",
            measured=self.recall,
            at_least=_LEAST_RECALL,
            unit="of exact",
        )


def _filters(place: Installation) -> list[tuple[str, dict[str, Any], NDArray[np.bool_]]]:
    """Name, filter as in a request, and the chunks that pass it."""
    sources = [id for _, id in place.filled.sources]
    numbers = np.repeat(np.arange(len(sources)), PER_SOURCE)
    named = sources[::_EVERY]
    filters: list[tuple[str, dict[str, Any], NDArray[np.bool_]]] = [
        (
            f"{len(named):,} sources by id",
            {"knowledgeSourceIds": [str(id) for id in named]},
            numbers % _EVERY == 0,
        )
    ]
    for share in SHARES:
        wanted = {"metadata": metadata(0, share)}
        filters.append((f"metadata of one source in {share}", wanted, numbers % share == 0))
    return filters


def _recall(
    place: Installation,
    exact: Exact,
    question: Question,
    passing: NDArray[np.bool_] | None = None,
) -> float:
    owners = np.array([owner == question.application for owner in place.filled.owners])
    found = [hit.chunk_id for hit in place.function.hits(question)]
    among = owners if passing is None else owners & passing
    return exact.recall(found, question=question.vector, among=among)


def _two(values: Sequence[float]) -> list[str]:
    return [f"{percentile(values, percent):.3g}" for percent in (50, 99)]
