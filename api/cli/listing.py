"""Lists of objects: a table for people, JSON lines for programs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from rich.measure import Measurement

from api.cli.output import NO_TERMINAL, out, plain, print_json, table

Row = Mapping[str, Any]
Cell = Callable[[Row], object]

_LONG_COLUMN_WIDTH: Final = 40


def print_rows(
    rows: Iterable[Row], columns: Mapping[str, Cell], *, long: str, as_json: bool
) -> None:
    """Print the non-empty columns. Only the column `long` wraps."""
    if as_json:
        for row in rows:
            print_json(row)
        return
    lines = [[plain(cell(row)) for cell in columns.values()] for row in rows]
    filled = [n for n in range(len(columns)) if any(line[n] for line in lines)]
    names = [list(columns)[n] for n in filled]
    content = table(names, no_wrap=[name for name in names if name != long])
    for column in content.columns:
        column.min_width = _LONG_COLUMN_WIDTH if column.header == long else None
    for line in lines:
        content.add_row(*[line[n] for n in filled])
    console = out()
    wide = console.options.update(width=NO_TERMINAL)
    # In a narrow window the terminal wraps lines, instead of the table wrapping words.
    console.width = max(console.width, Measurement.get(console, wide, content).minimum)
    console.print(content if lines else "none")
