"""OpenDocument sheets store what each cell shows, beside its value. calamine reads the value.

So numbers and dates are made texts before it reads them, with a mark that says what they were.
"""

import io
import re
import zipfile
from typing import Any, BinaryIO, Final

from ingest.formats.common.cells import Date, Number, cell_text
from ingest.formats.sheets.layout import Layout

_CONTENT: Final = "content.xml"
_LARGEST: Final = 256 * 1024 * 1024  # bytes of XML; values of a larger sheet are read as they are
_NUMBER_MARK, _DATE_MARK = "\ufdd0", "\ufdd1"  # no characters: no file has them
_CELL: Final = re.compile(
    rb"(<(?:[\w.-]+:)?table-cell\s(?:[^<>]*\s)?)office:value-type=\"(float|percentage|currency|date|time)\""
    rb"([^<>]*(?<!/)>\s*<(?:[\w.-]+:)?p(?:\s[^<>]*)?(?<!/)>)(?=[^<\s])"
)
_VALUE: Final = re.compile(rb"\soffice:(?:date-|time-)?value=\"[^\"<>]*\"")
_DATES: Final = (b"date", b"time")


def shown_texts(stream: BinaryIO) -> BinaryIO:
    """A package in which numbers and dates with a shown text are texts; not at its start."""
    with zipfile.ZipFile(stream) as package:
        content = package.getinfo(_CONTENT)
        if content.file_size > _LARGEST:
            return stream
        marked = _CELL.sub(_as_text, package.read(content))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
            for name in ("mimetype", "META-INF/manifest.xml"):
                out.writestr(name, package.read(name))
            out.writestr(_CONTENT, marked)
    return packed


def _as_text(match: re.Match[bytes]) -> bytes:
    start, kind, rest = match.groups()
    mark = (_DATE_MARK if kind in _DATES else _NUMBER_MARK).encode()
    return b"".join(
        (_VALUE.sub(b"", start), b'office:value-type="string"', _VALUE.sub(b"", rest), mark)
    )


class OdsLayout(Layout):
    """The merged cells of a sheet; its texts are those that `shown_texts` marked."""

    def text(self, value: Any, row: int, column: int) -> str:
        if isinstance(value, str) and value[:1] in (_NUMBER_MARK, _DATE_MARK) and value:
            text = cell_text(value[1:])
            return Date(text) if value[0] == _DATE_MARK else Number(text)
        return super().text(value, row, column)
