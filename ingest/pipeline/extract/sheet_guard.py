"""Counts the cells of a workbook before it is opened: readers hold all of a sheet in memory.

calamine makes a full rectangle of every sheet, so two cells in far corners cost as much as all
between them, and a cell that is repeated a million times as many. 10,000,000 places take about
300 MB. Cells are counted on the raw XML, by their tags; what hides from that (attributes out of
order, names that are no XML) meets the memory limit of the process.
"""

import re
import zipfile
from collections.abc import Iterator

from ingest.errors import Permanent

MOST_CELLS = 5_000_000
"""Filled cells of a workbook."""
MOST_PLACES = 10_000_000
"""Filled and empty cells of the rectangle that the filled ones of a sheet stand in."""

_MOST_REPEATS = 1000  # of a cell on average; sheets that people fill have more variety
_BLOCK = 1024 * 1024
_LONGEST_TAG = 4096
_CELL = re.compile(rb'<(?:\w+:)?c(?=[\s>])(?:[^>]*?\sr="([A-Z]{1,3})(\d{1,7})")?[^>]*(?<!/)>')
_OPEN = re.compile(
    rb"<(?:[\w.-]+:)?(table|table-row|(?:covered-)?table-cell)(?=[\s/>])"
    rb"((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>"
)
_COLUMNS = re.compile(rb"number-columns-repeated=[\"'](\d{1,9})")
_ROWS = re.compile(rb"number-rows-repeated=[\"'](\d{1,9})")


def check_xlsx(archive: zipfile.ZipFile) -> None:
    """Permanent `too_large`."""
    cells = 0
    for member in archive.infolist():
        if not member.filename.lower().endswith(".xml"):
            continue
        last_row = last_column = 0
        first_row = first_column = 1 << 30
        for match in _tags(archive, member, _CELL):
            cells += 1
            if cells > MOST_CELLS:
                raise _too_many()
            if match[1]:
                row, column = int(match[2]), _column(match[1])
                first_row, last_row = min(first_row, row), max(last_row, row)
                first_column, last_column = min(first_column, column), max(last_column, column)
        _check_places(last_row - first_row + 1, last_column - first_column + 1)


def check_ods(archive: zipfile.ZipFile) -> None:
    """Permanent `too_large`; `corrupt` if a few cells are repeated to fill sheets."""
    counter = _Repeats()
    for match in _tags(archive, archive.getinfo("content.xml"), _OPEN):
        kind, attributes = match[1], match[2]
        if kind == b"table":
            counter.end_table()
        elif kind == b"table-row":
            counter.start_row(_repeated(_ROWS, attributes))
        else:
            is_filled = not attributes.endswith(b"/") or b"value" in attributes
            counter.cell(_repeated(_COLUMNS, attributes), is_filled=is_filled)
    counter.end_table()


class _Repeats:
    """Size of OpenDocument tables, where a row or a cell may stand for many.

    Empty cells at the end of a row and empty rows at the end of a table cost nothing.
    """

    def __init__(self) -> None:
        self._cells = self._written = 0
        self._rows = self._last_row = self._width = 0
        self._times = 1
        self._column = self._row_width = self._in_row = 0

    def start_row(self, times: int) -> None:
        self._end_row()
        self._times = times

    def cell(self, times: int, *, is_filled: bool) -> None:
        self._column += times
        if is_filled:
            self._row_width = self._column
            self._in_row += times
            self._written += 1

    def end_table(self) -> None:
        self._end_row()
        _check_places(self._last_row, self._width)
        self._rows = self._last_row = self._width = 0

    def _end_row(self) -> None:
        self._rows += self._times if self._column else 0
        if self._row_width:
            self._last_row = self._rows
            self._width = max(self._width, self._row_width)
            self._cells += self._in_row * self._times
            if self._cells > max(MOST_CELLS, _MOST_REPEATS * self._written):
                raise Permanent(
                    f"The workbook repeats {self._written:,} cells until they are"
                    f" {self._cells:,}: it is damaged.",
                    code="corrupt",
                )
            if self._cells > MOST_CELLS:
                raise _too_many()
        self._column = self._row_width = self._in_row = 0
        self._times = 1


def _check_places(rows: int, columns: int) -> None:
    if rows > 0 and columns > 0 and rows * columns > MOST_PLACES:
        raise Permanent(
            f"A sheet spreads over {rows:,} rows and {columns:,} columns;"
            f" at most {MOST_PLACES:,} cells, empty ones among them, are read.",
            code="too_large",
        )


def _too_many() -> Permanent:
    return Permanent(f"The workbook has more than {MOST_CELLS:,} filled cells.", code="too_large")


def _tags(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, pattern: re.Pattern[bytes]
) -> Iterator[re.Match[bytes]]:
    """All matches in a member that is read in blocks; a tag that a block cuts is in the next."""
    with archive.open(member) as part:
        rest = b""
        while block := part.read(_BLOCK):
            data = rest + block
            cut = data.rfind(b"<", len(data) - _LONGEST_TAG)
            end = cut if cut > 0 else len(data)
            yield from pattern.finditer(data, 0, end)
            rest = data[end:]
        yield from pattern.finditer(rest)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _repeated(pattern: re.Pattern[bytes], attributes: bytes) -> int:
    found = pattern.search(attributes)
    return int(found[1]) if found else 1
