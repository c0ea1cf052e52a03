"""Records of XLSB workbooks (MS-XLSB): number formats and merged cells, and all cells if needed."""

import struct
from collections.abc import Iterator
from typing import Final

from ingest.formats.common.number_format import BUILT_IN
from ingest.formats.office.opc import Package
from ingest.formats.sheets.layout import Layout
from ingest.formats.sheets.second_reader import Cells, SheetEntry

_ROW, _RK, _BOOL, _REAL, _TEXT, _SHARED = 0, 2, 4, 5, 6, 7
_FORMULA_TEXT, _FORMULA_NUMBER, _FORMULA_BOOL, _RICH = 8, 9, 10, 62
_STRING, _FORMAT, _STYLE, _SHEET, _PROPERTIES = 19, 44, 47, 156, 153
_MERGE, _STYLES_BEGIN, _STYLES_END = 176, 617, 618
_NUMBERS: Final = frozenset({_RK, _REAL, _FORMULA_NUMBER})
_CELL: Final = struct.Struct("<II")  # column; 24 bits of style, 8 of flags
_LONG: Final = struct.Struct("<I")
_DOUBLE: Final = struct.Struct("<d")
_PLACES: Final = struct.Struct("<4I")
_SHEET_ID: Final = 8  # where the id of a sheet's relationship begins
_STYLE_BITS: Final = 0xFFFFFF
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


class XlsbReader:
    """The sheets of a binary workbook."""

    def __init__(self, package: Package) -> None:
        """Raises KeyError, struct.error, and the errors of zipfile."""
        self._package = package
        self._workbook = package.main("xl/workbook.bin")
        self._strings: list[str] | None = None
        self._sheets: list[SheetEntry] = []
        self._is_1904 = False
        for kind, data in _records(package.read(self._workbook)):
            if kind == _SHEET:
                self._sheets.append(self._entry(data))
            elif kind == _PROPERTIES:
                self._is_1904 = bool(_LONG.unpack_from(data)[0] & 1)
        styles = package.related(self._workbook, "styles")
        self._codes = _codes(package.read(styles[0])) if styles else []

    def sheets(self) -> list[SheetEntry]:
        return self._sheets

    def of(self, index: int) -> Layout:
        """Number formats and merged cells of the sheet with this index."""
        layout = Layout(self._codes, is_1904=self._is_1904)
        if index < len(self._sheets) and self._sheets[index].part:
            for kind, row, data in self._cells(self._sheets[index].part, layout):
                if kind in _NUMBERS:
                    column, style = _CELL.unpack_from(data)
                    layout.add_style(row, column, style & _STYLE_BITS)
        return layout

    def read(self, sheet: SheetEntry) -> Cells:
        """Raises Permanent `too_large`, KeyError, struct.error, and the errors of zipfile."""
        cells = Cells(Layout(self._codes, is_1904=self._is_1904))
        for kind, row, data in self._cells(sheet.part, cells.layout):
            value = self._value(kind, data)
            if value is not None:
                column, style = _CELL.unpack_from(data)
                if row < _MOST_ROWS and column < _MOST_COLUMNS:
                    cells.add(row, column, value, style & _STYLE_BITS)
        return cells

    def _entry(self, data: bytes) -> SheetEntry:
        relations = self._package.relations(self._workbook)
        relation_id, end = _text(data, _SHEET_ID)
        if relation_id not in relations:  # a beta of Excel 2007 wrote four more bytes
            relation_id, end = _text(data, _SHEET_ID + _LONG.size)
        name, _ = _text(data, end)
        relation = relations.get(relation_id)
        kind, target = (relation.kind, relation.target) if relation else ("", "")
        part = target if target in self._package else ""
        return SheetEntry(
            name,
            is_hidden=bool(_LONG.unpack_from(data)[0] & 3),
            part=part if kind == "worksheet" else "",
            chart=part if kind == "chartsheet" else "",
        )

    def _cells(self, part: str, layout: Layout) -> Iterator[tuple[int, int, bytes]]:
        """Kind, row and data of each cell record; merged ranges go to the layout."""
        row = 0
        for kind, data in _records(self._package.read(part)):
            if kind == _ROW:
                (row,) = _LONG.unpack_from(data)
            elif kind == _MERGE:
                first, last, column, end = _PLACES.unpack_from(data)
                layout.merges.append((first, column, last, end))
            elif _RK <= kind <= _FORMULA_BOOL or kind == _RICH:
                yield kind, row, data

    def _value(self, kind: int, data: bytes) -> str | float | bool | None:
        at = _CELL.size
        if kind == _RK:
            return _compressed(*_LONG.unpack_from(data, at))
        if kind in (_REAL, _FORMULA_NUMBER):
            return float(_DOUBLE.unpack_from(data, at)[0])
        if kind in (_BOOL, _FORMULA_BOOL):
            return bool(data[at])
        if kind in (_TEXT, _FORMULA_TEXT):
            return _text(data, at)[0]
        if kind == _RICH:
            return _text(data, at + 1)[0]
        if kind == _SHARED:
            (index,) = _LONG.unpack_from(data, at)
            strings = self._shared()
            return strings[index] if index < len(strings) else None
        return None

    def _shared(self) -> list[str]:
        if self._strings is None:
            parts = self._package.related(self._workbook, "sharedStrings")
            records = _records(self._package.read(parts[0])) if parts else iter(())
            self._strings = [_text(data, 1)[0] for kind, data in records if kind == _STRING]
        return self._strings


def _codes(styles: bytes) -> list[str]:
    """The number format of each cell style, by its index."""
    own: dict[int, str] = {}
    codes: list[str] = []
    is_inside = False
    for kind, data in _records(styles):
        if kind == _FORMAT:
            own[struct.unpack_from("<H", data)[0]] = _text(data, 2)[0]
        elif kind in (_STYLES_BEGIN, _STYLES_END):
            is_inside = kind == _STYLES_BEGIN
        elif kind == _STYLE and is_inside:
            number = struct.unpack_from("<H", data, 2)[0]
            codes.append(own.get(number, BUILT_IN.get(number, "")))
    return codes


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and data of each record that is complete."""
    position, end = 0, len(data)
    while position < end:
        kind = data[position]
        position += 1
        if kind & 0x80 and position < end:
            kind = kind & 0x7F | (data[position] & 0x7F) << 7
            position += 1
        size = shift = 0
        while position < end and shift < 28:
            byte = data[position]
            position += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        if position + size > end:
            return
        yield kind, data[position : position + size]
        position += size


def _text(data: bytes, position: int) -> tuple[str, int]:
    """A counted UTF-16 string, and where it ends; a null string is empty."""
    (length,) = _LONG.unpack_from(data, position)
    start = position + _LONG.size
    if length == 0xFFFFFFFF:
        return "", start
    end = start + 2 * length
    return data[start:end].decode("utf-16-le", "replace"), end


def _compressed(rk: int) -> float:
    """The number of an RK value: 30 bits of a double or an integer, perhaps times 100."""
    if rk & 2:
        value = float((rk >> 2) - (1 << 30 if rk & 0x80000000 else 0))
    else:
        value = float(_DOUBLE.unpack(struct.pack("<II", 0, rk & 0xFFFFFFFC))[0])
    return value / 100 if rk & 1 else value
