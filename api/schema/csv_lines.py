"""CSV (RFC 4180) of rows that are read in parts; cells of untrusted text are never formulas."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from fastapi.responses import StreamingResponse

P = TypeVar("P")

CSV: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}}
}

MOST_ROWS: Final = 100_000
_PART: Final = 500
# Spreadsheets treat a cell that starts with one of these as a formula, some also the wide forms.
_FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001
# Some spreadsheets treat a semicolon or a tab as the separator, except inside quotes.
_TO_QUOTE: Final = re.compile(r'[",;\t\r\n]')

Rows = Sequence[Sequence[object]]
ReadPart = Callable[[P | None, int], Awaitable[tuple[Rows, P | None]]]
"""Reads up to so many rows from a position on (None: from the first), and the next position."""


async def stream(
    columns: Sequence[str], read: ReadPart[P], *, name: str, most: int = MOST_ROWS
) -> StreamingResponse:
    """A download of a header and up to `most` rows. `read` holds no connection between calls."""
    # An error before the first byte becomes a normal problem document.
    first, position = await read(None, min(_PART, most))

    async def lines() -> AsyncIterator[str]:
        yield line(columns)
        rows, after, left = first, position, most
        while True:
            yield "".join(map(row, rows))
            left -= len(rows)
            if after is None or left <= 0:
                return
            rows, after = await read(after, min(_PART, left))

    return StreamingResponse(
        lines(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def row(cells: Iterable[object]) -> str:
    """A line in which texts cannot be formulas; negative numbers stay numbers."""
    return line(cell(value) if isinstance(value, str) else value for value in cells)


def line(cells: Iterable[object]) -> str:
    return ",".join("" if value is None else _quoted(str(value)) for value in cells) + "\r\n"


def cell(text: str | None) -> str | None:
    """Untrusted text, escaped so that it is never a formula."""
    return f"'{text}" if text and text.startswith(_FORMULA) else text


def _quoted(text: str) -> str:
    if not _TO_QUOTE.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
