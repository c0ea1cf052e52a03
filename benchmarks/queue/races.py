"""The results of the sessions as races and goals."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from benchmarks.core.results import Goal, Race
from benchmarks.queue.field import BARE, OURS, SAME_ROWS, Field
from benchmarks.queue.sessions import Pushed, Worked

T = TypeVar("T")

_RATE: Final = "jobs/s"
_PICKUP_NOTE: Final = (
    "Single jobs, 20 to 50 ms apart, into one idle worker process: from the return of the "
    "producer's commit to the first line of the handler."
)
_DRAIN_NOTE: Final = (
    "Idle workers; then all jobs become visible in one commit, with fresh statistics of the table. "
    "From the return of that commit until no job is open; each was run exactly once."
)


def pushes(field: Field, pushed: Mapping[str, Sequence[Pushed]]) -> list[Race]:
    return [
        _race(
            field,
            "Enqueue one by one",
            _RATE,
            pushed,
            lambda one: one.single_per_second,
            note="One transaction per job, one connection.",
        ),
        _race(
            field,
            "Enqueue in bulk",
            _RATE,
            pushed,
            lambda one: one.bulk_per_second,
            note="Calls of 1,000 jobs, one connection.",
        ),
        _race(
            field,
            "WAL of a bulk enqueue",
            "bytes/job",
            pushed,
            lambda one: one.wal,
            is_more_better=False,
        ),
    ]


def works(
    field: Field, one_process: Mapping[str, Sequence[Worked]], two: Mapping[str, Sequence[Worked]]
) -> list[Race]:
    jobs = {one.name: {"jobs": f"{one.jobs:,}"} for one in field.contestants.values()}
    least = {
        name: {"least busy process": f"{min(one.least_share for one in each):.0%}"}
        for name, each in two.items()
    }
    return [
        _race(
            field,
            "Drain, one worker process",
            _RATE,
            one_process,
            lambda one: one.per_second,
            note=_DRAIN_NOTE,
            facts={name: jobs[name] for name in one_process},
        ),
        _race(
            field,
            "Drain, two worker processes",
            _RATE,
            two,
            lambda one: one.per_second,
            facts={name: {**jobs[name], **least[name]} for name in two},
        ),
        _race(
            field,
            "WAL of a drain",
            "bytes/job",
            one_process,
            lambda one: one.wal,
            is_more_better=False,
        ),
        _race(
            field,
            "Idle pickup, median",
            "ms",
            one_process,
            lambda one: _percentile(one.pickups, 0.5),
            is_more_better=False,
            note=_PICKUP_NOTE,
        ),
        _race(
            field,
            "Idle pickup, 99th percentile",
            "ms",
            one_process,
            lambda one: _percentile(one.pickups, 0.99),
            is_more_better=False,
        ),
    ]


def goals(field: Field, races: Sequence[Race]) -> list[Goal]:
    by_title = {race.title: race for race in races}
    drain, bulk = by_title["Drain, one worker process"], by_title["Enqueue in bulk"]
    fastest = drain.best([name for name in field.peers if name in drain.rounds])
    return [
        Goal(
            text="Drain of 20,000 no-op jobs, one worker: 2 x the fastest Python peer"
            + (f" ({fastest})" if fastest else ""),
            measured=drain.ratio(OURS, fastest) if fastest else None,
            at_least=2.0,
            why="" if fastest else "no peer took part",
        ),
        Goal(
            text="Drain of 20,000 no-op jobs, one worker: half of the bare loop",
            measured=drain.ratio(OURS, BARE),
            at_least=0.5,
        ),
        Goal(
            text="Bulk enqueue: as fast as INSERT … unnest of the same rows (0.9, for the noise of "
            "such short runs)",
            measured=bulk.ratio(OURS, SAME_ROWS),
            at_least=0.9,
        ),
        Goal(
            text="Idle pickup, commit to handler start: median at most 2 ms",
            measured=by_title["Idle pickup, median"].median(OURS),
            at_most=2.0,
            unit="ms",
        ),
        Goal(
            text="Idle pickup, commit to handler start: 99th percentile at most 10 ms",
            measured=by_title["Idle pickup, 99th percentile"].median(OURS),
            at_most=10.0,
            unit="ms",
        ),
    ]


def _race(
    field: Field,
    title: str,
    unit: str,
    sessions: Mapping[str, Sequence[T]],
    figure: Callable[[T], float],
    *,
    is_more_better: bool = True,
    note: str = "",
    facts: Mapping[str, Mapping[str, str]] | None = None,
) -> Race:
    return Race(
        title=title,
        unit=unit,
        reference=OURS,
        rounds={name: [figure(one) for one in each] for name, each in sessions.items()},
        is_more_better=is_more_better,
        note=note,
        facts={name: dict(columns) for name, columns in (facts or {}).items()},
        absent={name: why for name, why in field.absent.items() if name not in sessions},
    )


def _percentile(ascending: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    return ascending[math.ceil(share * len(ascending)) - 1]
