"""OpenDocument sheets store what each cell shows, beside its value. calamine reads the value.

So numbers, dates and truth values (`WAHR`) are made texts before it reads them, numbers and dates
with a mark that says what they were, and raised and lowered figures get theirs. Spaces between
elements, which it refuses, are left out.
"""

import io
import re
import zipfile
from typing import Any, BinaryIO, Final

from ingest.formats import media_types as types
from ingest.formats.common.cells import Date, Number, cell_text
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.sheets.layout import Layout
from ingest.optional_steps import improve

_CONTENT: Final = "content.xml"
_LARGEST: Final = 256 * 1024 * 1024  # bytes of XML; values of a larger sheet are read as they are
# No characters: no file has them. Beside those of common/raised_text.py.
_NUMBER_MARK, _DATE_MARK = "\ufdd8", "\ufdd9"
# Matched one by one and for good: so the time is linear.
_ATTRIBUTE: Final = rb"""[\w:.-]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')"""
_ATTRIBUTES: Final = rb"(?:\s++" + _ATTRIBUTE + rb")*+\s*+"
_CELL: Final = re.compile(
    rb"(<(?:[\w.-]+:)?table-cell(?:\s++(?!office:value-type)" + _ATTRIBUTE + rb")*+\s++)"
    rb"office:value-type=[\"'](float|percentage|currency|date|time|boolean)[\"']"
    rb"(" + _ATTRIBUTES + rb">\s*+<(?:[\w.-]+:)?p" + _ATTRIBUTES + rb">)"
    rb"(?=(?:<(?:[\w.-]+:)?(?:s|span)(?:[\s/][^<>]*)?>){0,9}[^<\s])"
)
_INDENT: Final = re.compile(
    rb">\s++(?=</?(?:[\w.-]+:)?(?:covered-)?table[\w-]*[\s/>]|<(?:[\w.-]+:)?p[\s/>])"
)
_STYLE: Final = re.compile(
    rb"<(?:[\w.-]+:)?style\s[^<>]{0,200}?style:name=\"([^\"<>]*)\"[^<>]{0,500}(?<!/)>\s*+"
    rb"<(?:[\w.-]+:)?text-properties\s[^<>]{0,999}?style:text-position=\"(super|sub|-?[1-9][\d.]*%)"
)
_SPAN: Final = re.compile(
    rb"(<(?:[\w.-]+:)?span\s[^<>]{0,200}?text:style-name=\"([^\"<>]*)\"[^<>]{0,200}(?<!/)>)"
    rb"([^<>]{1,99})(?=</)"
)
Bounds = tuple[re.Pattern[bytes], re.Pattern[bytes]]
"""Begin and end of an element with content."""


def _bounds(name: bytes) -> Bounds:
    return (
        re.compile(rb"<(?:[\w.-]+:)?" + name + rb"(?:\s[^<>]*)?(?<!/)>"),
        re.compile(rb"</(?:[\w.-]+:)?" + name + rb"\s*>"),
    )


OBJECT: Final = _bounds(b"object")
"""With the tables of a chart, in a flat file."""
_COMMENT: Final = _bounds(b"annotation")
_VALUE: Final = re.compile(rb"\soffice:(?:date-|time-|boolean-)?value=(?:\"[^\"<]*\"|'[^'<]*')")
_MARKS: Final = {b"date": _DATE_MARK, b"time": _DATE_MARK, b"boolean": ""}


def shown_texts(stream: BinaryIO) -> BinaryIO:
    """A package in which numbers and dates with a shown text are texts; not at its start."""
    with zipfile.ZipFile(stream) as package:
        content = package.getinfo(_CONTENT)
        if content.file_size > _LARGEST:
            return stream
        bare = without(package.read(content), _COMMENT)
        marked = _CELL.sub(_as_text, _INDENT.sub(b">", bare))
        marked = improve("styles", lambda: _raised(marked), otherwise=lambda: marked)
    return packed(marked)


def packed(content: bytes) -> BinaryIO:
    """A package of sheets, complete as calamine wants it; not at its start."""
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.writestr("mimetype", types.ODS)
        out.writestr(_CONTENT, content)
        out.writestr(
            "META-INF/manifest.xml",
            '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<m:file-entry m:full-path="/" m:media-type="{types.ODS}"/></m:manifest>',
        )
    return package


def without(content: bytes, element: Bounds) -> bytes:
    """The XML without elements of a kind that do not contain each other."""
    begin, end = element
    pieces: list[bytes] = []
    at = 0
    while (opened := begin.search(content, at)) and (closed := end.search(content, opened.end())):
        pieces.append(content[at : opened.start()])
        at = closed.end()
    return b"".join([*pieces, content[at:]])


def _as_text(match: re.Match[bytes]) -> bytes:
    start, kind, rest = match.groups()
    mark = _MARKS.get(kind, _NUMBER_MARK).encode()
    return b"".join(
        (_VALUE.sub(b"", start), b'office:value-type="string"', _VALUE.sub(b"", rest), mark)
    )


def _raised(content: bytes) -> bytes:
    """The content with marks around spans whose style raises or lowers them."""
    places = dict(_STYLE.findall(content))
    if not places:
        return content

    def marked(span: re.Match[bytes]) -> bytes:
        place = places.get(span[2])
        if place is None:
            return span[0]
        mark = lowered if place == b"sub" or place.startswith(b"-") else raised
        return span[1] + mark(span[3].decode()).encode()

    return _SPAN.sub(marked, content)


class OdsLayout(Layout):
    """The merged cells of a sheet; its texts are those that `shown_texts` marked."""

    def _shown(self, value: Any, row: int, column: int) -> str:
        if isinstance(value, str) and value[:1] in (_NUMBER_MARK, _DATE_MARK) and value:
            text = cell_text(value[1:])
            return Date(text) if value[0] == _DATE_MARK else Number(written_out(text))
        return written_out(super()._shown(value, row, column))
