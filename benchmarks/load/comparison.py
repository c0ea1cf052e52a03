"""A person searches while files are loaded, on the same processors.

One process, `ingest serve` with its own Postgres, reads many files of one upload. In every other
round a person asks one question after another, with a quarter of a second of thought between. What
counts are the slowest of these searches, and how much they slow the load down.
"""

from collections.abc import Callable

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Goal, Race, Section, Table, alternate
from benchmarks.load.installation import Installation, Loaded, installation
from benchmarks.search.timing import percentile

ALONE, SEARCHED = "rag-ingest", "while a person searches"


def run(_: Server, options: Options) -> Section:
    """Not on the given server: an installation with its own Postgres is measured."""
    files, filled, asked = (4, 4, 5) if options.is_small else (100, 100, 100)
    loads: dict[str, list[Loaded]] = {ALONE: [], SEARCHED: []}
    with installation(filled=filled) as ours:
        quiet = ours.search(asked)
        rounds = alternate(
            {name: _contestant(ours, loads[name], name, files) for name in loads},
            rounds=options.rounds,
        )
    race = Race(
        title=f"{files:,} files beside searches",
        unit="MB/s",
        reference=ALONE,
        rounds=rounds,
        facts={name: _cpu(of_name) for name, of_name in loads.items()},
        note="Modules of Python's standard library, until all are searchable.",
    )
    beside = [seconds for loaded in loads[SEARCHED] for seconds in loaded.searches]
    return Section(
        name="load",
        title="Searches while files are loaded",
        races=[race],
        tables=[_table({"nothing else": quiet, "a load": beside})],
        goals=[
            Goal(
                text="searches beside a load, p95",
                measured=1000 * percentile(beside, 95),
                at_most=500,
                unit="ms",
            ),
            Goal(
                text="a load beside searches, against the load alone",
                measured=race.ratio(SEARCHED, ALONE),
                at_least=0.9,
            ),
        ],
    )


def _contestant(
    ours: Installation, loads: list[Loaded], name: str, files: int
) -> Callable[[int], float]:
    def load(_: int) -> float:
        loads.append(ours.load(files=files, searching=name == SEARCHED))
        return loads[-1].megabytes / loads[-1].seconds

    return load


def _cpu(loads: list[Loaded]) -> dict[str, str]:
    middle = sorted(loads, key=lambda load: load.cpu_seconds)[len(loads) // 2]
    return {"processor time, s a MB": f"{middle.cpu_seconds / middle.megabytes:.2f}"}


def _table(searches: dict[str, list[float]]) -> Table:
    rows = [
        [
            beside,
            f"{len(took)}",
            *(f"{1000 * percentile(took, percent):.0f}" for percent in (50, 95, 100)),
        ]
        for beside, took in searches.items()
    ]
    return Table(
        title="Milliseconds of a hybrid search",
        columns=["beside", "searches", "p50", "p95", "longest"],
        rows=rows,
    )
