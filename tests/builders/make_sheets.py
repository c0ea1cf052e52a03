"""Builders of small workbooks for tests, written by hand so that they may be wrong on purpose."""

import struct
from collections.abc import Mapping, Sequence

from tests.builders.make_files import zipped

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
Cell = str | int | float | bool | None


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Cell]] | str],
    *,
    hidden: Sequence[str] = (),
    charts: Sequence[str] = (),
    merged: Sequence[str] = (),
    formats: Sequence[str] = (),
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """A workbook; a sheet is its rows, or the XML inside of its `sheetData`.

    charts: names of sheets that are charts. merged: ranges of each sheet. formats: number formats
    of the styles 1, 2, …
    """
    ranges = "".join(f'<mergeCell ref="{reference}"/>' for reference in merged)
    listed, related, parts = "", "", {}
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{name}" sheetId="{number}"{state} r:id="rId{number}"/>'
        kind = "chartsheet" if name in charts else "worksheet"
        related += (
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}"'
            f' Target="worksheets/sheet{number}.xml"/>'
        )
        data = rows if isinstance(rows, str) else "".join(map(_row, range(1, 1 << 20), rows))
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData>'
            f"<mergeCells>{ranges}</mergeCells></worksheet>"
        ).encode()
    if formats:
        related += f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
        parts["xl/styles.xml"] = _styles(formats)
    head = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml"'
            ' ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType='
            '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
        ).encode(),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1"'
            f' Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ).encode(),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
        ).encode(),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>'
        ).encode(),
    }
    return zipped({**head, **parts, **(extra or {})})


def _styles(formats: Sequence[str]) -> bytes:
    codes = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{code.replace(chr(34), "&quot;")}"/>'
        for number, code in enumerate(formats, 164)
    )
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in range(164, 164 + len(formats)))
    return (
        f'<styleSheet xmlns="{_MAIN}"><numFmts>{codes}</numFmts>'
        f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>'
    ).encode()


def xlsb(
    rows: Sequence[Sequence[str | float]], *, formats: Sequence[str] = (), sheet: str = "sheet1.bin"
) -> bytes:
    """A binary workbook with one sheet `S`; numbers in column n have the format n, if there is one.

    sheet: the part that the workbook refers to; another than `sheet1.bin` is missing.
    """
    cells = b""
    for row, values in enumerate(rows):
        cells += _binary(0, struct.pack("<6I", row, 0, 0, 0, 0, 0))
        for column, value in enumerate(values):
            style = column + 1 if column < len(formats) else 0
            place = struct.pack("<II", column, style)
            if isinstance(value, str):
                cells += _binary(6, place + _wide(value))
            else:
                cells += _binary(5, place + struct.pack("<d", value))
    corner = struct.pack("<4I", 0, max(len(rows) - 1, 0), 0, max(map(len, rows)) - 1)
    own = b"".join(
        _binary(44, struct.pack("<H", number) + _wide(code))
        for number, code in enumerate(formats, 164)
    )
    styles = b"".join(
        _binary(47, struct.pack("<HH", 0, number) + bytes(12))
        for number in (0, *range(164, 164 + len(formats)))
    )
    listed = _binary(156, struct.pack("<II", 0, 1) + _wide("rId1") + _wide("S"))
    related = (
        f'<Relationship Id="rId1" Type="{_OFFICE}/worksheet" Target="worksheets/{sheet}"/>'
        f'<Relationship Id="rId2" Type="{_OFFICE}/styles" Target="styles.bin"/>'
    )
    return zipped(
        {
            "[Content_Types].xml": (
                f'<Types xmlns="{_PACKAGE}/content-types"><Override PartName="/xl/workbook.bin"'
                ' ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>'
            ).encode(),
            "_rels/.rels": (
                f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1"'
                f' Type="{_OFFICE}/officeDocument" Target="xl/workbook.bin"/></Relationships>'
            ).encode(),
            "xl/workbook.bin": _binary(131, b"")
            + _binary(143, b"")
            + listed
            + _binary(144, b"")
            + _binary(132, b""),
            "xl/_rels/workbook.bin.rels": (
                f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>'
            ).encode(),
            "xl/styles.bin": _binary(615, struct.pack("<I", len(formats)))
            + own
            + _binary(616, b"")
            + _binary(617, struct.pack("<I", len(formats) + 1))
            + styles
            + _binary(618, b""),
            "xl/worksheets/sheet1.bin": _binary(129, b"")
            + _binary(148, corner)
            + _binary(145, b"")
            + cells
            + _binary(146, b"")
            + _binary(130, b""),
        }
    )


def _binary(kind: int, data: bytes) -> bytes:
    head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(data)
    length = b""
    while size >= 128:
        length += bytes([size & 0x7F | 0x80])
        size >>= 7
    return head + length + bytes([size]) + data


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def ods(rows: str, *, flat: bool = False, manifest: str = "") -> bytes:
    """A workbook with one sheet `S`; `rows` is the XML inside of its table."""
    root = "document" if flat else "document-content"
    kind = f' office:mimetype="{_ODS}"' if flat else ""
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:{root} xmlns:office="{_ODF}:office:1.0"'
        f' xmlns:table="{_ODF}:table:1.0" xmlns:text="{_ODF}:text:1.0"{kind}><office:body>'
        f'<office:spreadsheet><table:table table:name="S">{rows}</table:table>'
        f"</office:spreadsheet></office:body></office:{root}>"
    ).encode()
    if flat:
        return content
    listed = (
        f'<m:manifest xmlns:m="{_ODF}:manifest:1.0"><m:file-entry m:full-path="/"'
        f' m:media-type="{_ODS}"/>{manifest}</m:manifest>'
    ).encode()
    return zipped(
        {"mimetype": _ODS.encode(), "content.xml": content, "META-INF/manifest.xml": listed}
    )


def ods_row(*cells: str, times: int = 1) -> str:
    """A row of text cells; the last one may stand for many: `x*1000`."""
    written = ""
    for cell in cells:
        text, _, repeated = cell.partition("*")
        content = f"<text:p>{text}</text:p>" if text else ""
        written += (
            f'<table:table-cell office:value-type="string"'
            f' table:number-columns-repeated="{repeated or 1}">{content}</table:table-cell>'
            if text
            else f'<table:table-cell table:number-columns-repeated="{repeated or 1}"/>'
        )
    return f'<table:table-row table:number-rows-repeated="{times}">{written}</table:table-row>'


def excel_4(rows: Sequence[Sequence[str | float]], *, locked: bool = False) -> bytes:
    """A sheet as Excel 4 wrote it: records without a container."""
    out = biff_record(0x0409, struct.pack("<3H", 0, 0x10, 0))
    if locked:
        out += biff_record(0x002F, bytes(4))
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            place = struct.pack("<3H", row, column, 0)
            if isinstance(cell, str):
                text = cell.encode("cp1252")
                out += biff_record(0x0204, place + struct.pack("<H", len(text)) + text)
            else:
                out += biff_record(0x0203, place + struct.pack("<d", cell))
    return out + biff_record(0x000A, b"")


def excel_97_stream(
    rows: Sequence[Sequence[str | float]],
    *,
    locked: bool = False,
    formats: Sequence[str] = (),
    more: bytes = b"",
) -> bytes:
    """The stream `Workbook` of an Excel 97 file with one sheet `S`.

    Numbers in column n have the format n, if there is one. more: records behind the cells.
    """
    lock = biff_record(0x002F, bytes(54)) if locked else b""
    start = biff_record(0x0809, struct.pack("<4HII", 0x0600, 0x0005, 0, 0, 0, 0)) + lock
    for number, code in enumerate(formats, 164):
        start += biff_record(
            0x041E, struct.pack("<HHB", number, len(code), 0) + code.encode("latin-1")
        )
    for number in (0, *range(164, 164 + len(formats))):
        start += biff_record(0x00E0, struct.pack("<HH", 0, number) + bytes(16))
    end = biff_record(0x000A, b"")
    at = len(start) + 4 + 6 + 3 + len(end)
    sheet = biff_record(0x0085, struct.pack("<IBBBB", at, 0, 0, 1, 0) + b"S")
    out = (
        start + sheet + end + biff_record(0x0809, struct.pack("<4HII", 0x0600, 0x0010, 0, 0, 0, 0))
    )
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            style = column + 1 if column < len(formats) and not isinstance(cell, str) else 0
            place = struct.pack("<3H", row, column, style)
            if isinstance(cell, str):
                text = cell.encode("utf-16-le")
                out += biff_record(0x0204, place + struct.pack("<HB", len(cell), 1) + text)
            else:
                out += biff_record(0x0203, place + struct.pack("<d", cell))
    return out + more + end


def biff_record(kind: int, data: bytes) -> bytes:
    """One record of the stream."""
    return struct.pack("<HH", kind, len(data)) + data


def _row(number: int, cells: Sequence[Cell]) -> str:
    written = "".join(
        _cell(f"{chr(65 + column)}{number}", cell)
        for column, cell in enumerate(cells)
        if cell is not None
    )
    return f'<row r="{number}">{written}</row>'


def _cell(place: str, value: Cell) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
