"""An evaluation as tables for people."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console

from api.cli.evaluation.runs import Comparison, Run
from api.cli.output import count, plain, table
from ingest.search.evaluation.measures import MAIN_MEASURE, Interval

_MOST_CHANGES: Final = 10
_COLUMNS: Final = {
    MAIN_MEASURE: "nDCG@10",
    "recall@5": "recall@5",
    "recall@10": "recall@10",
    "recall@20": "recall@20",
    "recall@50": "recall@50",
    "recall@100": "recall@100",
    "mrr": "MRR",
    "hit@1": "hit@1",
}


def print_runs(console: Console, runs: Sequence[Run]) -> None:
    """A row per mode and variant: means, and intervals of 95 % by bootstrap over the questions."""
    _print(console, [(" ".join(run.key), run.intervals()) for run in runs], sign="")


def print_comparison(console: Console, comparison: Comparison) -> None:
    console.print()
    console.print(plain(f"{comparison.name} ({count(comparison.questions, 'question')})"))
    if not comparison.questions:
        return
    _print(console, [("difference", comparison.differences)], sign="+")
    losses = [one for one in comparison.changes if one.after < one.before]
    gains = len(comparison.changes) - len(losses)
    unchanged = comparison.questions - len(comparison.changes)
    console.print(f"{gains} better, {len(losses)} worse, {unchanged} unchanged")
    if losses:
        lost = table(["before", "after", "question"])
        for one in losses[:_MOST_CHANGES]:
            lost.add_row(f"{one.before:.3f}", f"{one.after:.3f}", plain(one.query))
        console.print(lost)


def _print(
    console: Console, rows: Sequence[tuple[str, Mapping[str, Interval]]], *, sign: str
) -> None:
    measured = [name for name in _COLUMNS if any(name in intervals for _, intervals in rows)]
    content = table(["", *(_COLUMNS[name] for name in measured)])
    for name, intervals in rows:
        content.add_row(plain(name), *(_cell(intervals.get(one), sign) for one in measured))
    console.print(content)


def _cell(interval: Interval | None, sign: str) -> str:
    if interval is None:
        return ""
    mean, low, high = (f"{value:{sign}.3f}" for value in interval)
    return rf"{mean} \[{low}, {high}]"
