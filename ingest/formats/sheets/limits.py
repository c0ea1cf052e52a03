"""Counts the cells of a workbook before it is opened, because readers hold a sheet in memory.

calamine allocates the full rectangle of every sheet: two cells in opposite corners cost as much as
all cells between them, and a cell repeated a million times costs a million. 10,000,000 places take
about 300 MB. Tags are counted in the raw XML; files that evade this (attributes out of order, part
names without .xml) run into the memory limit of the process.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator
from xml.parsers import expat

from ingest.errors import Permanent

MOST_CELLS = 5_000_000
"""Filled cells of a workbook."""
MOST_PLACES = 10_000_000
"""Filled and empty cells in the bounding rectangle of a sheet's filled cells."""

_MOST_REPEATS = 1000  # mean per written cell; sheets that people fill vary more
_BLOCK = 1024 * 1024
_LONGEST_TAG = 4096
_PREFIX = re.compile(rb"<([A-Za-z_][\w.-]*:)?worksheet[\s>]")
_CELL = rb"""<%sc(?=[\s>])(?:[^>]*?\sr\s*=\s*["']([A-Z]{1,3})(\d{1,7})["'])?[^>]*(?<!/)>"""
_OPEN = re.compile(
    rb"<(?:[\w.-]+:)?(table|table-row|(?:covered-)?table-cell)(?=[\s/>])"
    rb"((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>"
)
_COLUMNS = re.compile(rb"number-columns-repeated=[\"'](\d{1,9})")
_SPAN = re.compile(rb"number-columns-spanned=[\"'](\d{1,5})")
_ROW_SPAN = re.compile(rb"number-rows-spanned=[\"'](\d{1,7})")
_ROWS = re.compile(rb"number-rows-repeated=[\"'](\d{1,9})")
# No part matches beyond the next tag, so the time is linear. Empty text (t="str") is a result.
_UNCALCULATED = re.compile(
    rb"<(?:\w+:)?c(?![^<>]*\st=[\"']str[\"'])(?:\s[^<>]*)?(?<!/)>\s*"
    rb"<(?:\w+:)?f(?:(?:\s[^<>]*)?/>|(?:\s[^<>]*)?>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*(?:/>|></))"
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


def check_xlsx(archive: zipfile.ZipFile) -> None:
    """Raises Permanent `too_large`."""
    cells = 0
    for member in archive.infolist():
        if not member.filename.lower().endswith(".xml"):
            continue
        rows: set[bytes] = set()
        columns: set[bytes] = set()
        cell = re.compile(_CELL % b"")
        for data in blocks(archive, member):
            if (prefix := _PREFIX.search(data, 0, _LONGEST_TAG)) and prefix[1]:
                cell = re.compile(_CELL % re.escape(prefix[1]))
            found = cell.findall(data)
            cells += len(found)
            if cells > MOST_CELLS:
                raise too_many_cells()
            columns.update(column for column, _ in found)
            rows.update(row for _, row in found)
        check_places(_extent(map(int, rows - {b""})), _extent(map(column_number, columns - {b""})))


def check_ods(archive: zipfile.ZipFile) -> list[list[tuple[int, int, int, int]]]:
    """Returns the merged cells of each table (first row and column, last row and column).

    Raises Permanent `too_large`, or `corrupt` if a few cells are repeated to fill sheets, or an
    element is not closed: calamine would search for its end forever."""
    _check_form(archive)
    counter = _Repeats()
    for data in blocks(archive, archive.getinfo("content.xml")):
        for kind, attributes in _OPEN.findall(data):
            if kind == b"table":
                counter.end_table()
            elif kind == b"table-row":
                counter.start_row(_repeated(_ROWS, attributes))
            else:
                is_filled = not attributes.endswith(b"/") or b"value" in attributes
                if is_filled and b"-spanned" in attributes and counter.merges:
                    counter.merge(_repeated(_ROW_SPAN, attributes), _repeated(_SPAN, attributes))
                counter.cell(_repeated(_COLUMNS, attributes), is_filled=is_filled)
    counter.end_table()
    return counter.merges[:-1]


def _check_form(archive: zipfile.ZipFile) -> None:
    parser = expat.ParserCreate()
    try:
        with archive.open("content.xml") as content:
            parser.ParseFile(content)
    except expat.ExpatError as error:
        raise Permanent("The workbook is damaged: its XML is broken.", code="corrupt") from error


class _Repeats:
    """Size of OpenDocument tables, whose rows and cells may have repeat counts.

    Empty cells at the end of a row and empty rows at the end of a table do not count.
    """

    def __init__(self) -> None:
        self._cells = self._written = 0
        self._rows = self._last_row = self._width = 0
        self._times = 1
        self._column = self._row_width = self._in_row = 0
        self.merges: list[list[tuple[int, int, int, int]]] = []
        """By table; one more, because `end_table` begins the next."""

    def merge(self, rows: int, columns: int) -> None:
        row, column = self._rows, self._column
        self.merges[-1].append((row, column, row + rows - 1, column + columns - 1))

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
        check_places(self._last_row, self._width)
        self.merges.append([])
        self._rows = self._last_row = self._width = 0

    def _end_row(self) -> None:
        self._rows += self._times if self._column else 0
        if self._row_width:
            self._last_row = self._rows
            self._width = max(self._width, self._row_width)
            self._cells += self._in_row * self._times
            if self._cells > max(MOST_CELLS, _MOST_REPEATS * self._written):
                raise Permanent(
                    f"The workbook repeats {self._written:,} cells to make {self._cells:,}:"
                    " it is damaged.",
                    code="corrupt",
                )
            if self._cells > MOST_CELLS:
                raise too_many_cells()
        self._column = self._row_width = self._in_row = 0
        self._times = 1


def check_places(rows: int, columns: int) -> None:
    """Raises Permanent `too_large` if a sheet spans too many cells."""
    if rows * columns > MOST_PLACES:
        raise Permanent(
            f"A sheet spans {rows:,} rows and {columns:,} columns; at most {MOST_PLACES:,} cells,"
            " including empty ones, are read.",
            code="too_large",
        )


def too_many_cells() -> Permanent:
    return Permanent(f"The workbook has more than {MOST_CELLS:,} filled cells.", code="too_large")


def blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """A member's bytes in blocks, each cut before a tag."""
    with archive.open(member) as part:
        rest = b""
        while block := part.read(_BLOCK):
            data = rest + block
            end = data.rfind(b"<", max(0, len(data) - _LONGEST_TAG))
            end = end if end >= 0 else len(data)
            yield data[:end]
            rest = data[end:]
        yield rest


def _extent(numbers: Iterable[int]) -> int:
    """Size of the range from the smallest to the largest number."""
    found = sorted(numbers)
    return found[-1] - found[0] + 1 if found else 0


def column_number(letters: bytes) -> int:
    """1 for `A`, 27 for `AA`."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def column_letters(number: int) -> str:
    """`A` for 1, `AA` for 27."""
    found = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        found = chr(ord("A") + letter) + found
    return found


def _repeated(pattern: re.Pattern[bytes], attributes: bytes) -> int:
    found = pattern.search(attributes)
    return int(found[1]) if found else 1


def has_uncalculated_formulas(package: zipfile.ZipFile) -> bool:
    """Whether an XLSX package has formulas without stored results.

    A formula that is split across two blocks is missed.
    """
    return any(
        _FORMULA.search(data) and _UNCALCULATED.search(data)
        for member in package.infolist()
        if member.filename.lower().startswith("xl/worksheets/")
        for data in blocks(package, member)
    )
