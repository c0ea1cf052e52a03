"""CSV, TSV and similar: rows as records (table_records.py); other text is kept as is."""

import contextlib
import csv
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from ingest.formats import media_types as types
from ingest.formats.common.cell_values import is_value
from ingest.formats.common.form_fields import form_fields
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown_writer import Lines, read_text
from ingest.formats.common.table_header import LOOK_AHEAD
from ingest.formats.common.table_records import TableWriter
from ingest.optional_steps import improve

_VERSION = "csv 5"
_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 200
_SAMPLE_CELLS = 1000
_LEAST_COMMON = 0.5  # share of rows of the most common width; prose has less
_SAMPLE = 100_000  # characters
_MOST_ABOVE = 60  # rows in which a table must begin
_LONGEST_CELL = 5_000_000  # characters; an unclosed quote swallows all that follows
_STATED = re.compile(r"sep=(.)\n", re.IGNORECASE)
_UNCUT = re.compile(f"[{re.escape(_DELIMITERS)}]")
_FIRST_IN_APOSTROPHES = re.compile(r"'(?:[^'\n]|'')*'[,;\t|]'")
_IN_APOSTROPHES = re.compile(r"(?:^|[,;\t|])'(?:[^']|'')*+'(?=[,;\t|]|$)", re.MULTILINE)
_AFTER_APOSTROPHE = re.compile(r"(?:^|[,;\t|])'", re.MULTILINE)
# What keeps Excel from reading digits as a number: `="00123"`.
_FORMULA_TEXT = re.compile(r'="([^"]*)"')
_LINE_END = re.compile("\r\n?")


class _Dialect(NamedTuple):
    delimiter: str
    escape: str | None = None
    is_strict: bool = False
    """Whether quotes must be closed and followed by a separator."""
    is_quoted: bool = True
    quote: str = '"'


class _Fit(NamedTuple):
    """How well a separator fits, the most important field first; a decimal comma scores low.

    The first rows count most, whatever the length of the file: column names hold no decimal comma,
    so a decimal comma does not split them.
    """

    breaks: int
    """Minus the number of unsplit rows shortly after the first split row."""
    start: int
    """Minus the number of unsplit rows before it."""
    evenness: float
    """Share of rows of the most common width, times share of cells without other separators."""
    values: float
    """Share of cells with values such as numbers."""
    width: int


def extract(source: InputFile) -> Extraction:
    """Rows as records; text of one column unchanged. Raises Permanent `too_large`."""
    text, encoding = read_text(source)
    text = _LINE_END.sub("\n", text)
    stated = _STATED.match(text)
    start = stated.end() if stated else 0
    csv.field_size_limit(_LONGEST_CELL)
    dialect = (
        _Dialect(stated[1])
        if stated
        else improve("dialect", lambda: _detect(text, source.media_type), otherwise=lambda: None)
    )
    body, warning = text, None
    if dialect is not None:
        body, warning = improve(
            "tables", lambda: _read(text, start, dialect), otherwise=lambda: (text, None)
        )
    return Extraction(
        parts=[body], extractor=_VERSION, encoding=encoding, warnings=(warning,) if warning else ()
    )


def _read(text: str, start: int, dialect: _Dialect) -> tuple[str, str | None]:
    """The table, and a warning if quotes had to be read as plain characters."""
    try:
        return _table(text, start, dialect._replace(is_strict=True)), None
    except csv.Error:
        is_closed = text.count(dialect.quote) % 2 == 0
    if is_closed:
        with contextlib.suppress(csv.Error):
            return _table(text, start, dialect), None
    return _table(text, start, dialect._replace(is_quoted=False)), "unclosed_quote"


def _table(text: str, start: int, dialect: _Dialect) -> str:
    out = Lines()
    rows = (list(map(_cell, row)) for row in _rows(_lines(text, start), dialect))
    first = list(islice(rows, _MOST_ABOVE))
    above = improve("header_row", lambda: _rows_above(first), otherwise=int)
    for row in first[:above]:
        _write_above(out, row)
    out.gap()
    TableWriter(out).write(chain(first[above:], rows), splits=False)
    return str(out)


def _rows_above(rows: list[list[str]]) -> int:
    """How many rows stand above the table, as in statements of banks: account, period, balance.

    A blank row ends them, and all are narrower than the row after it and half of the others: a
    single longer row is no header.
    """
    widths = [max((n for n, cell in enumerate(row, start=1) if cell), default=0) for row in rows]
    above = widest = 0
    for index, width in enumerate(widths):
        if width > widest > 0 == widths[index - 1]:
            others = list(filter(None, widths[index + 1 :]))
            wider = sum(other > widest for other in others)
            if 2 * wider >= len(others) and (others or not any(map(is_value, rows[index]))):
                above = index
        widest = max(widest, width)
    return above


def _write_above(out: Lines, row: list[str]) -> None:
    """A label with its value, or a line of text."""
    filled = list(filter(None, row))
    if len(filled) > 1:
        out.item(form_fields(filled))
    elif filled:
        out.text(filled[0])
    else:
        out.gap()


def _cell(cell: str) -> str:
    formula = _FORMULA_TEXT.fullmatch(cell)
    return " ".join((formula[1] if formula else cell).split())


def _detect(text: str, media_type: str) -> _Dialect | None:
    """The dialect whose separator best splits the first rows into equal numbers of cells.

    None if no separator does.
    """
    best, found = None, None
    quote = "'" if _is_single_quoted(text) else '"'
    for delimiter in _DELIMITERS:
        dialect = _of(text, delimiter)._replace(quote=quote)
        try:
            rows = [row for row in islice(_rows(_lines(text, 0), dialect), _SAMPLE_ROWS) if row]
        except csv.Error:
            continue
        fit = _fit(rows)
        if fit is None:
            continue
        if media_type == types.TSV and delimiter == "\t":
            return dialect
        if best is None or fit > best:
            best, found = fit, dialect
    return found


def _is_single_quoted(text: str) -> bool:
    """Whether the first cell, and all cells that begin with an apostrophe, also end in one."""
    if not _FIRST_IN_APOSTROPHES.match(text):
        return False
    sample = text[:_SAMPLE]
    others, whole = _IN_APOSTROPHES.subn("", sample)
    is_cut = len(text) > _SAMPLE  # within a cell
    return len(_AFTER_APOSTROPHE.findall(others)) <= is_cut and whole > sample.count('"')


def _fit(rows: list[list[str]]) -> _Fit | None:
    """How well a separator fits; None if it does not split the rows into columns."""
    widths = [len(row) for row in rows]
    width, common = max(Counter(widths).items(), key=lambda item: item[::-1], default=(0, 0))
    share = common / max(1, len(rows))
    if width < 2 or share < _LEAST_COMMON:
        return None
    start = next(index for index, count in enumerate(widths) if count > 1)
    cells = [cell.strip() for row in rows for cell in row if cell.strip()][:_SAMPLE_CELLS]
    values = list(map(is_value, cells))
    whole = sum(map(operator.or_, values, (not _UNCUT.search(cell) for cell in cells)))
    return _Fit(
        -widths[start : start + LOOK_AHEAD].count(1),
        -start,
        share * whole / max(1, len(cells)),
        sum(values) / max(1, len(cells)),
        width,
    )


def _of(text: str, delimiter: str) -> _Dialect:
    """The dialect of a separator; backslash escapes quotes if the text has `\\"` but no `""`."""
    sample = text[:_SAMPLE]
    is_doubled = '""' in sample.replace('\\"', "")
    escapes = '\\"' in sample and f'\\"{delimiter}' not in sample and not is_doubled
    return _Dialect(delimiter, escape="\\" if escapes else None)


def _rows(lines: Iterable[str], dialect: _Dialect) -> Iterator[list[str]]:
    """Rows of cells. Raises csv.Error for an endless cell and, if strict, for misplaced quotes."""
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        skipinitialspace=True,
        quoting=csv.QUOTE_MINIMAL if dialect.is_quoted else csv.QUOTE_NONE,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        strict=dialect.is_strict,
    )


def _lines(text: str, start: int) -> Iterator[str]:
    """The lines one by one, which avoids a second copy of the text."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
