"""The measurements of all rounds as races, goals and a table."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from benchmarks.core.results import Goal, Race, Table
from benchmarks.growth.installation import Installation
from benchmarks.growth.uploads import Spent

_MOST: Final = 1.5


def races(
    who: str, installations: Sequence[Installation], index: Mapping[str, float]
) -> list[Race]:
    """Time and CPU per new file. `index`: milliseconds of CPU of one HNSW insert."""
    return [
        Race(
            title=f"Time per new file of {who}",
            unit="ms",
            reference=installations[0].name,
            is_more_better=False,
            rounds=_rounds(installations, lambda spent: spent.searchable.seconds),
            note="From the first byte of the upload until all of its files can be found.",
        ),
        Race(
            title=f"CPU per new file of {who}",
            unit="ms of CPU",
            reference=installations[0].name,
            is_more_better=False,
            rounds=_rounds(installations, lambda spent: spent.searchable.cpu + spent.indexed.cpu),
            note=(
                "Of the service with its parsers and of Postgres, until every vector is under the "
                "HNSW index too. An HNSW insert grows with the logarithm of what is in the index; "
                "its own column is measured apart, by inserts with and without the index."
            ),
            facts={one.name: _facts(one, index[one.name]) for one in installations},
        ),
    ]


def _rounds(
    installations: Sequence[Installation], figure: Callable[[Spent], float]
) -> dict[str, list[float]]:
    return {one.name: [figure(spent) * 1000 for spent in one.spent] for one in installations}


def _facts(one: Installation, index: float) -> dict[str, str]:
    def median(figure: Callable[[Spent], float]) -> float:
        return statistics.median(figure(spent) for spent in one.spent)

    return {
        "service": f"{median(lambda spent: spent.searchable.service_cpu) * 1000:.2f}",
        "Postgres": f"{median(lambda spent: spent.searchable.postgres_cpu) * 1000:.2f}",
        "both, afterwards, to index": f"{median(lambda spent: spent.indexed.cpu) * 1000:.2f}",
        "an HNSW insert": f"{index:.2f}",
        "WAL, kB": f"{median(lambda spent: _wal(spent)) / 1000:.1f}",
    }


def _wal(spent: Spent) -> float:
    return spent.searchable.wal_bytes + spent.indexed.wal_bytes


def goals(measured: Sequence[Race]) -> list[Goal]:
    """Goals: neither figure grows by more than half between the first and the last installation."""
    return [
        Goal(
            text=f"{race.title}, with {list(race.rounds)[-1]} to {race.reference}",
            measured=race.ratio(race.reference, list(race.rounds)[-1]),
            at_most=_MOST,
        )
        for race in measured
    ]


def questions(who: str, installations: Sequence[Installation]) -> Table:
    """Milliseconds of all questions, in the order in which they were asked."""
    first, last = installations[0], installations[-1]
    return Table(
        title=f"Questions and chores, {who}",
        columns=["ms", *(one.name for one in installations), "last to first"],
        rows=[
            [
                name,
                *(f"{one.median(name):.2f}" for one in installations),
                f"{last.median(name) / first.median(name):.2f}",
            ]
            for name in first.questions
        ],
        note=(
            "Requests over HTTP, by one client, of the first application; ticks, claims and "
            "statements as functions. Medians of the calls of a round, and of the rounds."
        ),
    )
