"""Workbooks: each sheet under its name, rows as records (calamine; Excel 2 to 4 by xlrd).

Numbers and dates are read as the sheet shows them, formulas as their stored results; the warning
`formulas_not_calculated` says that some have none. Below the rows of a sheet follow its comments
(XLSB: threads only); those of XLSX, XLSB and XLS also have text boxes, of XLSX and XLSB titles of
charts and alternative texts, and without cells charts with their values. Not read: pictures, macros
and error values such as `#N/A`, which become empty cells. Hidden sheets are read, and marked in
their heading and in `metadata["sheets"]`.
"""

import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common import inflate_limit
from ingest.formats.common.input_file import Extraction, InputFile, filled
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.table_records import TableWriter
from ingest.formats.office.opc import Package
from ingest.formats.sheets import calamine_sheets, embedded, excel_2_to_4, limits
from ingest.formats.sheets.biff import check_xls
from ingest.formats.sheets.calamine_sheets import LOCKED, Layouts, Sheet, is_failure
from ingest.formats.sheets.columns import ALL_COLUMNS, Grid, column_groups, texts
from ingest.formats.sheets.drawings import Drawings
from ingest.formats.sheets.limits import has_uncalculated_formulas
from ingest.formats.sheets.ods_notes import OdsNotes, read_notes
from ingest.formats.sheets.ods_text import OBJECT, OdsLayout, packed, shown_texts, without
from ingest.formats.sheets.second_reader import corrupt
from ingest.formats.sheets.xls_notes import read_notes as read_xls_notes
from ingest.formats.sheets.xlsb import XlsbReader
from ingest.formats.sheets.xlsx_layout import XlsxLayouts
from ingest.optional_steps import improve, is_panic

Beside = Callable[[int, bool], list[str]]
"""Markdown blocks beside the cells of the sheet with this index, and whether it has cells."""
_LIMITS = inflate_limit.PackageLimits(
    part=inflate_limit.PackageLimits().total
)  # parts are streamed, no trees are built
_MOST_LISTED = 200
_BINARY_NOTES = re.compile(r"xl/comments\d*\.bin", re.IGNORECASE)
_FORMULAS = "formulas"  # without stored results


def extract(source: InputFile) -> Extraction:
    """Extract one part for all sheets; an unreadable sheet is marked `failed`, the rest are kept.

    Raises Permanent: `encrypted`, `too_large`, `corrupt`, `empty_content`, and the codes of
    `inflate_limit.guard`.
    """
    metadata: dict[str, Any] = {}
    if source.media_type in (types.XLSX, types.XLSB):
        metadata = _check_package(source)
    sheets, extractor, beside = _open(source)
    out = Lines()
    listed, failures = _write(sheets, beside, out)
    text = str(out)
    if not text.strip() and failures:
        raise corrupt() if is_panic(failures[0]) else failures[0]
    attachments = improve("attachments", lambda: embedded.hand_over(source), otherwise=list)
    if not text.strip() and not source.has_handed_on:
        raise Permanent("The workbook has no cells with values.", code="empty_content")
    return Extraction(
        parts=[text],
        extractor=extractor,
        title=metadata.pop("title", None),
        metadata={**metadata, "sheets": listed[:_MOST_LISTED], "sheetCount": len(listed)}
        | filled(attachments=attachments),
        warnings=tuple(_warnings(listed, metadata.get("notRead", ()))),
    )


def _check_package(source: InputFile) -> dict[str, Any]:
    """Check that the package is safe to open; returns its properties, and what is not read."""
    inflate_limit.guard(source.stream, _LIMITS)
    with zipfile.ZipFile(source.stream) as package:
        if source.media_type == types.XLSX:
            limits.check_xlsx(package)
        parts = package.namelist()
        is_blank = source.media_type == types.XLSX and improve(
            "metadata", lambda: has_uncalculated_formulas(package), otherwise=bool
        )
    unread = {"comments"} if any(map(_BINARY_NOTES.fullmatch, parts)) else set()
    if is_blank:
        unread.add(_FORMULAS)
    found: dict[str, Any] = improve(
        "metadata", lambda: dict(Package(source.stream).properties()), otherwise=dict
    )
    source.stream.seek(0)
    return {**found, "notRead": sorted(unread)} if unread else found


def _nothing(_: int, _has_cells: bool) -> list[str]:
    return []


def _beside(source: InputFile) -> Beside:
    """Reads what stands on a sheet beside its cells, by its index."""
    if source.media_type == types.XLS:
        notes = read_xls_notes(source.stream)
        return lambda index, _: notes[index].blocks() if index < len(notes) else []
    if source.media_type not in (types.XLSX, types.XLSB):
        return _nothing
    package = Package(source.stream)
    if source.media_type == types.XLSX:
        sheets, workbook = XlsxLayouts(package).sheets, "xl/workbook.xml"
    else:
        sheets, workbook = XlsbReader(package).sheets(), "xl/workbook.bin"
    return Drawings(package, package.main(workbook), sheets).of


def _open(source: InputFile) -> tuple[Iterator[Sheet], str, Beside]:
    """The sheets, the library that reads them, and what stands beside their cells."""
    stream, layouts = source.stream, None
    beside: Beside | None = None
    if source.media_type == types.XLS and not check_xls(stream):
        return _old(stream), excel_2_to_4.VERSION, _nothing
    if source.media_type in (types.ODS, types.FODS):
        stream, layouts, beside = _open_document(source)
    try:
        sheets = calamine_sheets.open_sheets(stream, source.media_type, layouts)
    except BaseException as error:  # Rust panics do not derive from Exception
        if source.media_type != types.XLS or not is_failure(error):
            raise
        stream.seek(0)
        return _old(stream), excel_2_to_4.VERSION, _nothing
    if beside is None:
        beside = improve("graphics", lambda: _beside(source), otherwise=lambda: _nothing)
    return sheets, calamine_sheets.VERSION, beside


def _open_document(source: InputFile) -> tuple[BinaryIO, Layouts, Beside]:
    """A package whose texts are those that its sheets show, their merged cells and comments."""
    stream = source.stream
    if source.media_type == types.FODS:
        stream = packed(without(stream.read(), OBJECT))
    else:
        inflate_limit.guard(stream, _LIMITS)
    with zipfile.ZipFile(stream) as package:
        if _is_encrypted(package):
            raise Permanent(LOCKED, code="encrypted")
        merges = limits.check_ods(package)
        notes = improve("comments", lambda: read_notes(package), otherwise=OdsNotes)
    stream.seek(0)

    def layout(index: int) -> OdsLayout:
        found = OdsLayout()
        found.merges = merges[index] if index < len(merges) else []
        found.links = notes.links.get(index, {})
        return found

    shown = improve("styles", lambda: shown_texts(stream), otherwise=lambda: stream)
    shown.seek(0)
    return shown, layout, lambda index, _: notes.comments.get(index, [])


def _is_encrypted(package: zipfile.ZipFile) -> bool:
    try:
        return b"encryption-data" in package.read("META-INF/manifest.xml")
    except KeyError:
        return False


def _old(stream: BinaryIO) -> Iterator[Sheet]:
    for name, is_hidden, rows in excel_2_to_4.sheets(stream):
        yield name, {"hidden": True} if is_hidden else {}, partial(_rectangle, rows)


def _rectangle(ragged: Iterable[list[str]]) -> list[list[str]]:
    rows = list(ragged)
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]


def _write(
    sheets: Iterator[Sheet], beside: Beside, out: Lines
) -> tuple[list[dict[str, Any]], list[BaseException]]:
    """Write all sheets; returns the properties of each, and the errors of unreadable ones."""
    listed: list[dict[str, Any]] = []
    failures: list[BaseException] = []
    for index, (name, about, read) in enumerate(sheets):
        heading = f"{name} (hidden)" if "hidden" in about else name
        tables: list[TableWriter] = []
        try:
            _write_tables(read(), heading, out, tables)
        except (Permanent, MemoryError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # Rust panics do not derive from Exception
            failures.append(error)
            about = {**about, "failed": True}
        has_cells = any(table.rows for table in tables)
        if blocks := beside(index, has_cells):
            if not has_cells:
                out.heading(2, heading)
            for block in blocks:
                out.block(block)
        listed.append({"name": name, "rows": sum(table.rows for table in tables), **about})
    return listed, failures


def _write_tables(grid: Grid, heading: str, out: Lines, tables: list[TableWriter]) -> None:
    """Appends to `tables`, so the caller knows the rows written even if reading fails."""
    groups = improve("columns", lambda: column_groups(grid), otherwise=lambda: [ALL_COLUMNS])
    for columns in groups:
        tables.append(TableWriter(out))
        tables[-1].write(_under(heading, texts(grid, columns), out))
        heading = ""


def _under(heading: str, rows: Iterator[list[str]], out: Lines) -> Iterator[list[str]]:
    """Yield the rows; write the heading before the first row that is not blank."""
    is_new = True
    for row in rows:
        if is_new and any(row):
            out.heading(2, heading)
            is_new = False
        yield row


def _warnings(listed: list[dict[str, Any]], unread: Collection[str]) -> Iterator[str]:
    if any("failed" in sheet for sheet in listed):
        yield "sheets_failed"
    if any("hidden" in sheet and sheet["rows"] for sheet in listed):
        yield "hidden_sheets"
    if _FORMULAS in unread:
        yield "formulas_not_calculated"
