"""Sheets of all workbooks but the oldest: values by calamine, what it does not tell by ourselves.

A workbook or a sheet on which calamine fails is read by the second reader of its type.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from itertools import count
from typing import Any, BinaryIO, Final, Protocol

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.office.opc import Package
from ingest.formats.sheets import excel_2_to_4
from ingest.formats.sheets.columns import Grid
from ingest.formats.sheets.layout import Layout, fill_merged
from ingest.formats.sheets.second_reader import Cells, SheetEntry, corrupt
from ingest.formats.sheets.xls_layout import read_layouts
from ingest.formats.sheets.xls_notes import XlsNotes, read_notes
from ingest.formats.sheets.xlsb import XlsbReader
from ingest.formats.sheets.xlsx_layout import XlsxLayouts
from ingest.formats.sheets.xlsx_reader import XlsxReader
from ingest.optional_steps import improve, is_panic

VERSION: Final = f"calamine {version('python-calamine')}, sheets 7"
LOCKED: Final = "The workbook is protected by a password."
Sheet = tuple[str, dict[str, Any], Callable[[], Grid]]
"""Name, properties for the metadata, function that reads the rows."""
Layouts = Callable[[int], Layout]
"""The layout of the sheet with an index."""


class SecondReader(Protocol):
    """Reads all cells of a workbook by itself."""

    def sheets(self) -> list[SheetEntry]: ...

    def read(self, sheet: SheetEntry) -> Cells: ...


_READERS: Final[dict[str, Callable[[Package], SecondReader]]] = {
    types.XLSX: XlsxReader,
    types.XLSB: XlsbReader,
}


def open_sheets(stream: BinaryIO, media_type: str, layouts: Layouts | None) -> Iterator[Sheet]:
    """The sheets of a workbook. layouts: None for what the file itself says.

    Raises Permanent `encrypted` and `corrupt`; for XLS, CalamineError and panics.
    """
    try:
        book = CalamineWorkbook.from_filelike(stream)
    except PasswordError as error:
        raise Permanent(LOCKED, code="encrypted") from error
    except BaseException as error:  # Rust panics do not derive from Exception
        if media_type in _READERS and is_failure(error):
            return iter(_second_opinion(stream, media_type))
        if is_panic(error) and media_type != types.XLS:
            raise corrupt() from error
        raise
    if layouts is None:
        layouts = improve("styles", lambda: _layouts(stream, media_type), otherwise=lambda: _plain)
    return _sheets(book, stream, media_type, layouts)


def is_failure(error: BaseException) -> bool:
    """Whether calamine cannot read a file: it says so, or panics."""
    return isinstance(error, CalamineError) or is_panic(error)


class _Grid:
    """The rows of a sheet as it shows them; can be iterated repeatedly."""

    def __init__(
        self, book: CalamineWorkbook, index: int, layouts: Layouts, spare: Callable[[], Grid]
    ) -> None:
        """spare: reads the sheet without calamine."""
        self._sheet = book.get_sheet_by_index(index)
        self._spare = spare
        self._layout = improve("styles", lambda: layouts(index), otherwise=Layout)
        self._left = (self._sheet.start or (0, 0))[1]
        self._merges = self._sheet.merged_cell_ranges
        if self._merges is not None:
            self._layout.merges = [(*first, *last) for first, last in self._merges]

    def __iter__(self) -> Iterator[list[str]]:
        text, left = self._layout.text, self._left
        rows = (
            [text(value, number, column) if value != "" else "" for column, value in cells]
            for number, cells in (
                (number, enumerate(row, left)) for number, row in enumerate(self._values())
            )
        )
        return fill_merged(rows, self._layout.merges, left=left)

    def _values(self) -> Iterator[Sequence[Any]]:
        """The values row by row; of rows with a number that is no possible date, their texts."""
        rows = self._sheet.iter_rows()
        spare: list[Sequence[str]] | None = None
        for number in count():
            try:
                row: Sequence[Any] = next(rows)
            except StopIteration:
                return
            except OverflowError:
                spare = list(self._spare()) if spare is None else spare
                found = spare[number] if number < len(spare) else ()
                row = [*found, *[""] * self._sheet.width][self._left :][: self._sheet.width]
            yield row


def _sheets(
    book: CalamineWorkbook, stream: BinaryIO, media_type: str, layouts: Layouts
) -> Iterator[Sheet]:
    for index, sheet in enumerate(book.sheets_metadata):
        about: dict[str, Any] = {}
        if sheet.visible != SheetVisibleEnum.Visible:
            about["hidden"] = True
        if sheet.typ == SheetTypeEnum.WorkSheet:
            yield sheet.name, about, partial(_read, book, index, layouts, stream, media_type)
        else:
            yield sheet.name, {**about, "kind": str(sheet.typ).rpartition(".")[2]}, tuple


def _read(
    book: CalamineWorkbook, index: int, layouts: Layouts, stream: BinaryIO, media_type: str
) -> Grid:
    spare = partial(_read_again, book.sheets_metadata[index].name, stream, media_type)
    try:
        return _Grid(book, index, layouts, spare)
    except BaseException as error:  # Rust panics do not derive from Exception
        if media_type not in _READERS or not is_failure(error):
            raise
        try:
            return spare()
        except Exception as second:
            if isinstance(second, Permanent) and second.code != "corrupt":
                raise
            raise error from second


def _read_again(name: str, stream: BinaryIO, media_type: str) -> Grid:
    """The sheet without calamine. Raises what its reader raises, and KeyError."""
    if media_type in _READERS:
        sheets = _second_opinion(stream, media_type)
        return {name: read for name, _, read in sheets}[name]()
    stream.seek(0)
    return list({name: rows for name, _, rows in excel_2_to_4.sheets(stream)}[name])


def _second_opinion(stream: BinaryIO, media_type: str) -> list[Sheet]:
    """The sheets by our own reader; raises Permanent `corrupt` if that fails too."""
    try:
        reader = _READERS[media_type](Package(stream))
        sheets = [sheet for sheet in reader.sheets() if sheet.part]
    except Permanent:
        raise
    except Exception as error:  # damage makes zipfile and lxml raise arbitrary exceptions
        raise corrupt() from error
    if not sheets:
        raise corrupt()
    return [
        (sheet.name, {"hidden": True} if sheet.is_hidden else {}, partial(reader.read, sheet))
        for sheet in sheets
    ]


def _layouts(stream: BinaryIO, media_type: str) -> Layouts:
    if media_type == types.XLSX:
        return XlsxLayouts(Package(stream)).of
    if media_type == types.XLSB:
        return XlsbReader(Package(stream)).of
    found = read_layouts(stream) if media_type == types.XLS else []
    if not found:
        return _plain
    notes = improve("links", lambda: read_notes(stream), otherwise=list[XlsNotes])
    for layout, note in zip(found, notes, strict=False):
        layout.links = note.links
    return lambda index: found[index] if index < len(found) else Layout()


def _plain(_: int) -> Layout:
    return Layout()
