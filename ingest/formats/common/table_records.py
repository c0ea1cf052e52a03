"""Tables as records: each row is a list item with column names, `- Name: Alice; Age: 3`.

So a row makes sense by itself, wherever a chunk begins. A form becomes an item for each row,
`- Customer: ACME`, a table without a clear header a Markdown table, a single column lines of text.
Names of columns without values follow the records, as a Markdown table without rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from ingest.formats.common.cell_values import Row, signature
from ingest.formats.common.cells import Across, written
from ingest.formats.common.form_fields import MOST_FIELDS, are_fields, form_fields, is_form
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.row_queue import RowQueue
from ingest.formats.common.table_breaks import is_alone, is_usual, role
from ingest.formats.common.table_header import (
    FIRST_ROWS,
    are_names,
    find_header,
    first_header_row,
    is_below,
    names,
)
from ingest.optional_steps import improve

_GRID_ROWS: Final = 200  # of a table without a header that are looked at before it is written
_NARROW: Final = 8  # columns


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
        self._header_rows: Sequence[Row] = ()
        self._heads: set[str] = set()
        """Their first cells; none if the table has words only, for those may be a record."""
        self._names: list[Row] = []
        """A short block of words only: the header of the next block, or a separate table."""
        self._last: Row = ()
        self.rows = 0
        """Rows that were not blank."""

    def write(self, rows: Iterable[Row], *, splits: bool = True) -> None:
        """Cells are one-line texts. Without `splits`, blank rows are ignored."""
        filled = filter(any, rows) if not splits else iter(rows)
        while (first := next((row for row in filled if any(row)), None)) is not None:
            block = RowQueue(chain([first], _until_blank(filled)))
            self._table(block, may_go_on=True)
            while block.peek(1):
                self._table(block, may_go_on=False)
        self._flush()

    def _table(self, rows: RowQueue, *, may_go_on: bool) -> None:
        """Write the next table: all rows, or those before another one that begins among them.

        may_go_on: whether it may be the rest of the table before it.
        """
        start = [_trimmed(row) for row in rows.peek(FIRST_ROWS)]
        self._out.gap()
        if may_go_on and improve("header_row", lambda: self._goes_on(start), otherwise=bool):
            self._records(rows)
            return
        if improve("header_row", lambda: self._is_named(start), otherwise=bool):
            rows.put_back(*self._names)
            self._names = []
            start = [_trimmed(row) for row in rows.peek(FIRST_ROWS)]
        self._flush()
        beyond = [_trimmed(row) for row in rows.peek(MOST_FIELDS + 1)]
        if improve("header_row", lambda: is_form(beyond), otherwise=bool):
            self._form(rows)
            return
        index, header = improve(
            "header_row", lambda: _header(start), otherwise=lambda: (None, list[str]())
        )
        if index is not None:
            first = first_header_row(start, index)
            self._captions(start[:first])
            self._header, self._header_rows = header, start[first : index + 1]
            has_values = any(any(signature(row)) for row in start[index + 1 :])
            self._heads = {row[0] for row in self._header_rows} if has_values else set()
            self._unused = {column for column, name in enumerate(header) if name}
            self.rows += index + 1
            rows.skip(index + 1)
            self._records(rows)
        elif improve("header_row", lambda: are_names(start), otherwise=bool):
            self._names = start
            rows.skip(len(start))
        elif all(_filled(row) == 1 for row in start):
            self._lines(rows)
        else:
            self._grid(rows)

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
            self._grid(rows)
            self._out.gap()

    def _captions(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._field_or_line(row)
        self._out.gap()

    def _records(self, rows: RowQueue) -> None:
        whole: Row = ()
        for row in rows:
            if not is_alone(row):
                whole = row
            elif not is_usual(row, rows):
                find = partial(role, row, rows, header=self._header, last=whole)
                kind = improve("header_row", find, otherwise=lambda: "record")
                if kind == "title":
                    rows.put_back(row)
                    return
                if kind == "notes":
                    self._notes([row, *rows])
                    return
                if kind == "note":
                    self._notes([row])
                    continue
            if row[0] in self._heads and _trimmed(row) in self._header_rows:
                continue  # again, at the top of a printed page
            self._out.item(fields(self._header, row))
            if self._unused:
                self._unused.difference_update(at for at, cell in enumerate(row) if _is_shown(cell))
            self._last = row
            self.rows += 1

    def _notes(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._out.gap()
            self._line(row)
            self.rows += 1
        self._out.gap()

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

    def _field_or_line(self, row: Row) -> None:
        if are_fields(row):
            self._out.item(form_fields(row))
        else:
            self._line(row)

    def _grid(self, rows: Iterable[Row]) -> None:
        queue = RowQueue(rows)
        start = [_shown(row) for row in queue.peek(_GRID_ROWS)]
        columns = sorted({at for row in start for at, cell in enumerate(row) if cell})
        is_whole = len(start) < _GRID_ROWS  # no row fills a column that is empty in these
        if is_whole and _is_sparse(start, len(columns)):
            self._captions(list(queue))
            self.rows += len(start)
            return
        width = max(columns, default=-1) + 1
        for index, row in enumerate(queue):
            cells = [written(cell).replace("|", r"\|") for cell in _shown(row)]
            cells += [""] * (width - len(cells))
            if is_whole:
                cells = [cells[column] for column in columns]
            if index == 0:
                self._top(cells)
            else:
                self._out.line(f"| {' | '.join(cells)} |")
            self.rows += 1

    def _top(self, cells: Sequence[str]) -> None:
        self._out.line(f"| {' | '.join(cells)} |")
        self._out.line("|" + "---|" * len(cells))


def _is_sparse(rows: Sequence[Row], width: int) -> bool:
    """Whether a table would be mostly empty: a form or a drawing on a grid of narrow columns."""
    filled = sum(bool(cell) for row in rows for cell in row)
    return width > _NARROW and 3 * filled < width * len(rows)


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
