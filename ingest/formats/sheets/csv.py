"""CSV, TSV and similar: rows as records (table_records.py); other text is kept as is."""

import contextlib
import csv
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown_writer import Lines, read_text
from ingest.formats.common.table_header import LOOK_AHEAD, is_value
from ingest.formats.common.table_records import TableWriter
from ingest.optional_steps import improve

_VERSION = "csv 2"
_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 200
_SAMPLE_CELLS = 1000
_LEAST_COMMON = 0.5  # share of rows of the most common width; prose has less
_SAMPLE = 100_000  # characters
_LONGEST_CELL = 5_000_000  # characters; an unclosed quote swallows all that follows
_STATED = re.compile(r"sep=(.)\n", re.IGNORECASE)
_UNCUT = re.compile(f"[{re.escape(_DELIMITERS)}]")
_LINE_END = re.compile("\r\n?")


class _Dialect(NamedTuple):
    delimiter: str
    escape: str | None = None
    is_strict: bool = False
    """Whether quotes must be closed and followed by a separator."""
    is_quoted: bool = True


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
        is_closed = text.count('"') % 2 == 0
    if is_closed:
        with contextlib.suppress(csv.Error):
            return _table(text, start, dialect), None
    return _table(text, start, dialect._replace(is_quoted=False)), "unclosed_quote"


def _table(text: str, start: int, dialect: _Dialect) -> str:
    out = Lines()
    rows = _rows(_lines(text, start), dialect)
    TableWriter(out).write(([" ".join(c.split()) for c in row] for row in rows), splits=False)
    return str(out)


def _detect(text: str, media_type: str) -> _Dialect | None:
    """The dialect whose separator best splits the first rows into equal numbers of cells.

    None if no separator does.
    """
    best, found = None, None
    for delimiter in _DELIMITERS:
        dialect = _of(text, delimiter)
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
        escapechar=dialect.escape,
        strict=dialect.is_strict,
    )


def _lines(text: str, start: int) -> Iterator[str]:
    """The lines one by one, which avoids a second copy of the text."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
