"""Charts of Microsoft Graph, record by record ([MS-OGRAPH])."""

import struct
from collections.abc import Mapping, Sequence

from tests.builders.make_mail import ole

TITLE, VALUES, CATEGORIES = 1, 2, 3


def graph(
    rows: Sequence[Sequence[str | float | None]],
    *,
    form: int = 0,
    formats: Mapping[int, str] | None = None,
    titles: Mapping[int, str] | None = None,
) -> bytes:
    """An embedded object; `form`: the format of all numbers, one of `formats` or built in."""
    stream = record(0x0809, struct.pack("<HH", 0x0680, 5)) + record(0x0809, b"\x80\6\0\x80")
    for key, code in (formats or {}).items():
        stream += record(0x041E, struct.pack("<HHB", key, len(code), 0) + code.encode("latin-1"))
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            place = struct.pack("<HHxH", row, column, form)
            if isinstance(value, str):
                stream += record(0x0004, place + short_text(value))
            elif value is not None:
                stream += record(0x0003, place + struct.pack("<d", value))
    for link, text in (titles or {}).items():
        stream += record(0x1025, bytes(32)) + record(0x100D, b"\0\0" + short_text(text))
        stream += record(0x1027, struct.pack("<HHH", link, 0, 0))
    return ole({"Workbook": stream, "\x01CompObj": b"x"})


def record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def short_text(text: str) -> bytes:
    try:
        return bytes((len(text), 0)) + text.encode("latin-1")
    except UnicodeEncodeError:
        return bytes((len(text), 1)) + text.encode("utf-16-le")
