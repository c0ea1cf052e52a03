"""Title, author and subject of OLE files, decoded by their stated code page.

olefile's own reader trusts the property count, and may loop forever on a damaged file.
"""

import struct
from collections.abc import Iterator

import olefile

_STREAM = "\x05SummaryInformation"
_SECTION = 44  # position of the first property set's offset ([MS-OLEPS] 2.21)
_MOST_BYTES = 64 * 1024
_CODE_PAGE = 1
_NAMES = {2: "title", 3: "subject", 4: "author"}
_LATIN = "cp1252"
_UNICODE = {1200: "utf-16-le", 65001: "utf-8"}
_INTEGER, _BYTES, _WIDE = 2, 30, 31  # property types


def summary(ole: olefile.OleFileIO) -> dict[str, str]:
    """`title`, `subject` and `author`, if stated and readable."""
    try:
        data = ole.openstream(_STREAM).read(_MOST_BYTES)
        stated = dict(_properties(data))
        codec = _codec(stated.get(_CODE_PAGE))
        found = {name: _text(stated.get(key), codec) for key, name in _NAMES.items()}
    except (OSError, ValueError, struct.error, LookupError):
        return {}
    return {name: text for name, text in found.items() if text}


def _properties(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Id, type and bytes of each property."""
    (section,) = struct.unpack_from("<I", data, _SECTION)
    (count,) = struct.unpack_from("<I", data, section + 4)
    for index in range(count):  # unpack_from raises at the end of the data, whatever the count
        key, offset = struct.unpack_from("<II", data, section + 8 + 8 * index)
        (kind,) = struct.unpack_from("<I", data, section + offset)
        start = section + offset + 4
        if kind == _INTEGER:
            yield key, (kind, data[start : start + 2])
        elif kind in (_BYTES, _WIDE):
            (length,) = struct.unpack_from("<I", data, start)
            size = length * 2 if kind == _WIDE else length
            yield key, (kind, data[start + 4 : start + 4 + size])


def _codec(code_page: tuple[int, bytes] | None) -> str:
    if code_page is None:
        return _LATIN
    number = int.from_bytes(code_page[1], "little")
    return _UNICODE.get(number, f"cp{number}")


def _text(stated: tuple[int, bytes] | None, codec: str) -> str:
    if stated is None:
        return ""
    kind, data = stated
    return data.decode("utf-16-le" if kind == _WIDE else codec).partition("\0")[0].strip()
