"""Writes RESULTS.md and its pictures from the saved results."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.core.bars import draw
from benchmarks.core.results import Goal, Race, Section, Table

_HEAD = """\
# Results

Made by `python -m benchmarks`; nothing in here is written by hand. All contestants of a table did
the same work on the same Postgres in one run, in alternating rounds. Medians are shown, with the
lowest and the highest round behind them. **Read the ratios**: absolute figures hold for this
machine and this hour only. How each comparison is made is in the files of its folder; why a
promise is not kept, in [PROFILES.md](PROFILES.md).
"""


def write_report(sections: Sequence[Section], *, file: Path, pictures: Path) -> None:
    """Write `file`, and into `pictures` a picture for each section that has races."""
    parts = [_HEAD, _goals(sections)]
    for section in sections:
        parts.append(f"## {section.title}\n\n*{section.machine}*\n")
        if section.text:
            parts.append(f"{section.text}\n")
        if section.races:
            picture = pictures / f"{section.name}.svg"
            draw(section.races, picture)
            parts.append(f"![{section.title}]({picture.relative_to(file.parent)})\n")
        parts += [race_markdown(race) for race in section.races]
        parts += [_table_markdown(table) for table in section.tables]
    file.write_text("\n".join(parts))


def _goals(sections: Sequence[Section]) -> str:
    rows = [_goal_row(goal) for section in sections for goal in section.goals]
    whys = [
        f"- **{goal.text}**: {goal.why}"
        for section in sections
        for goal in section.goals
        if goal.why
    ]
    table = _markdown(["promised", "limit", "measured", "met"], rows)
    return "\n".join(["## What was promised\n", table, *whys, ""])


def _goal_row(goal: Goal) -> list[str]:
    limit = f"≥ {goal.at_least:g}" if goal.at_least is not None else f"≤ {goal.at_most:g}"
    measured = "not measured" if goal.measured is None else f"{_figure(goal.measured)} {goal.unit}"
    return [goal.text, f"{limit} {goal.unit}", measured, "yes" if goal.is_met else "**no**"]


def race_markdown(race: Race) -> str:
    """The contestants as a table, best first, with their ratio to the reference."""
    names = sorted(race.rounds, key=race.median, reverse=race.is_more_better)
    columns = list(dict.fromkeys(name for facts in race.facts.values() for name in facts))
    rows = [
        [
            f"**{name}**" if name == race.reference else name,
            _rounds(race.rounds[name]),
            f"{race.ratio(name, race.reference):.2f}",
            *(race.facts.get(name, {}).get(column, "") for column in columns),
        ]
        for name in names
    ]
    head = ["", race.unit, f"as good as {race.reference}, times", *columns]
    absent = [f"Not run: {name} ({why})." for name, why in race.absent.items()]
    parts = [f"### {race.title}\n", *([race.note + "\n"] if race.note else [])]
    return "\n".join([*parts, _markdown(head, rows), *absent]) + "\n"


def _rounds(values: Sequence[float]) -> str:
    middle = _figure(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({_figure(min(values))} to {_figure(max(values))})"


def _figure(value: float) -> str:
    """A number with three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _table_markdown(table: Table) -> str:
    parts = [f"### {table.title}\n", *([table.note + "\n"] if table.note else [])]
    return "\n".join([*parts, _markdown(table.columns, table.rows)]) + "\n"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"
