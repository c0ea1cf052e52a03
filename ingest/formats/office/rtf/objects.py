"""Embedded objects of an RTF file, which its reader drops ([MS-OLEDS] 2.2: ObjectHeader)."""

import re
import struct
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import olefile

from ingest.formats.common.input_file import MemberSink
from ingest.formats.office import ole_package
from ingest.formats.office.embedded_charts import chart_in
from ingest.optional_steps import improve

# The data is in hexadecimal digits, or in bytes of a stated number.
_OBJECT: Final = re.compile(
    rb"\{\s*+(?:\\\*\s*+)?\\objdata(?![a-z])\s*+(?:\\bin(\d{1,9}) ?|([0-9a-fA-F\s]*+)\})"
)
_SPACE: Final = b" \t\r\n\f\v"
_EMBEDDED: Final = 2
_PACKAGE: Final = "Package"
"""The class of files that no program embeds as its own."""
_GRAPH: Final = "MSGraph"
MOST: Final = 1000
"""Objects that are read."""


class _Object(NamedTuple):
    start: int
    end: int
    data: bytes


def take_objects(data: bytes) -> tuple[bytes, list[bytes]]:
    """The file without its embedded objects, and their bytes: hexadecimal digits take time."""
    if b"\\objdata" not in data:
        return data, []
    left: list[bytes] = []
    found: list[bytes] = []
    at = 0
    for start, end, content in _objects(data):
        left.append(data[at:start])
        at = end
        found.append(content)
    return b"".join([*left, data[at:]]), found


def hand_over(objects: list[bytes], members: MemberSink | None) -> list[dict[str, object]]:
    """Pass the files in these objects to `members`, if given; returns the list for the metadata."""
    named = (
        (f"object{number}.bin", partial(_file, f"object{number}.bin", data))
        for number, data in enumerate(objects, start=1)
    )
    return ole_package.hand_over_files(named, members)


def charts(objects: list[bytes]) -> list[str]:
    """Markdown of the charts among these objects."""
    found = (improve("graphics", partial(_chart, data), otherwise=str) for data in objects)
    return [text for text in found if text]


def _chart(data: bytes) -> str:
    try:
        _, class_name, content = _native(data)
    except struct.error:
        return ""
    return chart_in(content) if class_name.startswith(_GRAPH) else ""


def _file(name: str, data: bytes) -> tuple[str, bytes]:
    """Name and bytes of the file in an object; none if it is a link or no file."""
    kind, class_name, content = _native(data)
    if kind == _EMBEDDED and class_name == _PACKAGE:
        return ole_package.native(struct.pack("<I", len(content)) + content, name)
    is_container = kind == _EMBEDDED and content.startswith(olefile.MAGIC)
    return (ole_package.unwrap(name, content) if is_container else None) or (name, b"")


def _objects(data: bytes) -> Iterator[_Object]:
    at = 0
    while (match := _OBJECT.search(data, at)) is not None:
        at = match.end()
        if match[1] is None:
            digits = match[2].translate(None, _SPACE)
            content = bytes.fromhex(digits[: len(digits) & ~1].decode("ascii"))
        else:
            size = int(match[1])
            if at + size > len(data):  # a wrong number must not cost the text behind the object
                size = max(data.find(b"}", at) - at, 0)
            content = data[at : at + size]
            at += size
            closing = data.find(b"}", at, at + 8)
            at = closing + 1 if closing >= 0 else at
        yield _Object(match.start(), at, content)


def _native(data: bytes) -> tuple[int, str, bytes]:
    """Kind and class of an object, and what its program wrote."""
    (kind,) = struct.unpack_from("<4xI", data)
    name, at = _string(data, 8)
    _, at = _string(data, at)  # topic
    _, at = _string(data, at)  # item
    (size,) = struct.unpack_from("<I", data, at)
    return kind, name, data[at + 4 : at + 4 + size]


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A string with its length in front and a zero byte at its end, and what follows it."""
    (length,) = struct.unpack_from("<I", data, at)
    end = at + 4 + length
    return data[at + 4 : end].rstrip(b"\0").decode("latin-1"), end
