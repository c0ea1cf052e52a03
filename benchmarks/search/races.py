"""The search compared with plain queries that do the same."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from benchmarks.core.results import Goal, Race, alternate
from benchmarks.search.bare import bare_client
from benchmarks.search.installation import Installation
from benchmarks.search.timing import MODES, Mode, percentile, spent

OURS: Final = "rag-ingest"
HTTP: Final = "rag-ingest over HTTP"
BARE: Final = "bare queries"

_MOST_MILLISECONDS: Final = 10.0
_NOTE: Final = (
    "Median milliseconds of {count} questions that one client asks one after the other, ten hits "
    "each. {ours}: the function behind POST /api/search. {bare}: the plain queries on a table "
    "without owners, filters and sources, by a driver that prepares them, the question's vector "
    "ready. Its keywords are all words of the question, by `ts_rank`: it finds nothing where no "
    "chunk has them all, where {ours} goes on with some of the words. To ask a plain query for any "
    "of the words is no limit: it ranks every chunk that has one."
)


def races(place: Installation, bare_dsn: str, *, rounds: int) -> list[Race]:
    return [_race(place, bare_dsn, mode, rounds=rounds) for mode in MODES]


def _race(place: Installation, bare_dsn: str, mode: Mode, *, rounds: int) -> Race:
    questions = place.asked(mode)
    took: dict[str, list[float]] = {OURS: [], HTTP: [], BARE: []}

    def middle(name: str, values: list[float]) -> float:
        took[name] += values
        return percentile(values, 50)

    def bare(_: int) -> float:
        client = partial(bare_client, bare_dsn, mode)
        return middle(BARE, spent(client, questions, clients=1))

    contestants = {
        OURS: lambda _: middle(OURS, place.by_function(questions)),
        HTTP: lambda _: middle(HTTP, place.by_http(questions)),
        BARE: bare,
    }
    return Race(
        title=f"{mode.capitalize()} search, {place.title}",
        unit="ms p50",
        reference=OURS,
        rounds=alternate(contestants, rounds=rounds),
        is_more_better=False,
        note=_NOTE.format(count=len(questions), ours=OURS, bare=BARE),
        facts=_facts(took),
    )


def _facts(took: Mapping[str, list[float]]) -> dict[str, dict[str, str]]:
    return {
        name: {"ms p99": f"{percentile(values, 99):.3g}"} for name, values in took.items() if values
    }


def goal(hybrid: Race) -> Goal:
    """The goal for the largest installation with one application."""
    return Goal(
        text="search at 100,000 chunks, server side, p50",
        measured=hybrid.median(OURS),
        at_most=_MOST_MILLISECONDS,
        unit="ms",
    )
