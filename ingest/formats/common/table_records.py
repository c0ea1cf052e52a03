"""Tables as records: each row is a list item with column names, `- Name: Alice; Age: 3`.

So a row makes sense by itself, wherever a chunk begins. A form becomes an item for each row,
`- Customer: ACME`, a table without a clear header a Markdown table, a single column lines of text.
Names of columns without values follow the records, as a Markdown table without rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from ingest.formats.common.cells import Across, written
from ingest.formats.common.form_fields import MOST_FIELDS, form_fields, is_form
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.table_header import (
    LOOK_AHEAD,
    Row,
    are_names,
    find_header,
    first_header_row,
    is_below,
    names,
    signature,
)
from ingest.optional_steps import improve


def fields(header: Row, row: Row) -> Iterator[str]:
    """The filled cells of a row with their column names."""
    for column, cell in enumerate(row):
        if _is_shown(cell):
            name = header[column] if column < len(header) else ""
            yield f"{name}: {written(cell)}" if name else written(cell)


class TableWriter:
    """Writes the tables of a sheet, one after the other.

    A blank row ends a table. The rows after it continue under the same header if they look alike.
    """

    def __init__(self, out: Lines) -> None:
        self._out = out
        self._header: list[str] = []
        self._unused: set[int] = set()
        """Columns of the header without any value so far."""
        self._names: list[Row] = []
        """A short block of words only: the header of the next block, or a separate table."""
        self._last: Row = ()
        self.rows = 0
        """Rows that were not blank."""

    def write(self, rows: Iterable[Row], *, splits: bool = True) -> None:
        """Cells are one-line texts. Without `splits`, blank rows are ignored."""
        filled = filter(any, rows) if not splits else iter(rows)
        while (first := next((row for row in filled if any(row)), None)) is not None:
            self._table(chain([first], _until_blank(filled)))
        self._flush()

    def _table(self, rows: Iterator[Row]) -> None:
        start = [_trimmed(row) for row in islice(rows, LOOK_AHEAD)]
        self._out.gap()
        if improve("header_row", lambda: self._goes_on(start), otherwise=bool):
            self._records(chain(start, rows))
            return
        if improve("header_row", lambda: self._is_named(start), otherwise=bool):
            start, self._names = [*self._names, *start], []
        self._flush()
        if len(start) == LOOK_AHEAD:
            beyond = [_trimmed(row) for row in islice(rows, MOST_FIELDS + 1 - LOOK_AHEAD)]
            rows = chain(beyond, rows)
        else:
            beyond = []
        if improve("header_row", lambda: is_form([*start, *beyond]), otherwise=bool):
            self._form(chain(start, rows))
            return
        index, header = improve(
            "header_row", lambda: _header(start), otherwise=lambda: (None, list[str]())
        )
        if index is not None:
            self._captions(start[: first_header_row(start, index)])
            self._header = header
            self._unused = {column for column, name in enumerate(header) if name}
            self.rows += index + 1
            self._records(chain(start[index + 1 :], rows))
        elif improve("header_row", lambda: are_names(start), otherwise=bool):
            self._names = start
        elif all(_filled(row) == 1 for row in start):
            self._lines(chain(start, rows))
        else:
            self._grid(start, rows)

    def _goes_on(self, start: Sequence[Row]) -> bool:
        if not self._header or len(start[0]) > len(self._header):
            return False
        values = signature(start[0])
        return any(values) and values == signature(_trimmed(self._last))

    def _is_named(self, start: Sequence[Row]) -> bool:
        """Whether the previous block is the header of this one."""
        return bool(self._names) and is_below(self._names, start)

    def _flush(self) -> None:
        """End the table, or the names that no table followed."""
        if self._unused:  # no record shows these
            self._out.gap()
            unused = [self._header[column] for column in sorted(self._unused)]
            self._top([name.replace("|", r"\|") for name in unused])
            self._out.gap()
        self._header, self._unused = [], set()
        if self._names:
            rows, self._names = self._names, []
            self._out.gap()
            self._grid(rows, ())
            self._out.gap()

    def _captions(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._line(row)
        self._out.gap()

    def _records(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._out.item(fields(self._header, row))
            if self._unused:
                self._unused.difference_update(at for at, cell in enumerate(row) if _is_shown(cell))
            self._last = row
            self.rows += 1

    def _lines(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._line(row)
            self.rows += 1

    def _line(self, row: Row) -> None:
        self._out.text("; ".join(fields((), row)))

    def _form(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if _filled(row) > 1:
                self._out.item(form_fields(row))
            else:
                self._line(row)
            self.rows += 1

    def _grid(self, start: Sequence[Row], rows: Iterable[Row]) -> None:
        width = max(len(_shown(row)) for row in start)
        for index, row in enumerate(chain(start, rows)):
            cells = [written(cell).replace("|", r"\|") for cell in _shown(row)]
            cells += [""] * (width - len(cells))
            if index == 0:
                self._top(cells)
            else:
                self._out.line(f"| {' | '.join(cells)} |")
            self.rows += 1

    def _top(self, cells: Sequence[str]) -> None:
        self._out.line(f"| {' | '.join(cells)} |")
        self._out.line("|" + "---|" * len(cells))


def _header(start: Sequence[Row]) -> tuple[int | None, list[str]]:
    """Index of the header row, and the column names."""
    index = find_header(start)
    if index is None:
        return None, []
    return index, [name.rstrip(": ") for name in names(start, index)]


def _until_blank(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        if not any(row):
            return
        yield row


def _trimmed(row: Row) -> Row:
    """The row without trailing empty cells."""
    end = len(row)
    while end and not row[end - 1]:
        end -= 1
    return row[:end]


def _shown(row: Row) -> Row:
    """The cells of a row of a Markdown table, which has no merged ones."""
    return _trimmed(["" if isinstance(cell, Across) else cell for cell in row])


def _is_shown(cell: str) -> bool:
    return bool(cell) and not isinstance(cell, Across)


def _filled(row: Row) -> int:
    return sum(1 for _ in fields((), row))
