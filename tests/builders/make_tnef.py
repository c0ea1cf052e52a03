"""Builder of Outlook's `winmail.dat` (TNEF)."""

import struct

GUID = bytes(16)
STRING, STRING8, OBJECT, BINARY, LONG, SEVERAL_LONGS = 0x1F, 0x1E, 0x0D, 0x0102, 0x03, 0x1003
NAME, DATA, HTML, BODY = 0x3707, 0x3701, 0x1013, 0x1000


def attribute(number: int, data: bytes, *, level: int = 1) -> bytes:
    checksum = struct.pack("<H", sum(data) & 0xFFFF)
    return bytes([level]) + struct.pack("<HHI", number, 0, len(data)) + data + checksum


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def prop(kind: int, number: int, data: bytes, *, name: str = "") -> bytes:
    head = struct.pack("<HH", kind, number)
    if name:
        wide = (name + "\0").encode("utf-16-le")
        head += GUID + struct.pack("<II", 1, len(wide)) + padded(wide)
    elif number >= 0x8000:
        head += GUID + struct.pack("<II", 0, 7)
    if kind in (LONG, SEVERAL_LONGS):
        return head + data
    return head + struct.pack("<II", 1, len(data)) + padded(data)


def props(*items: bytes) -> bytes:
    return struct.pack("<I", len(items)) + b"".join(items)


def tnef(*attributes: bytes, code_page: int = 1252) -> bytes:
    page = attribute(0x9007, struct.pack("<II", code_page, 0))
    return struct.pack("<IH", 0x223E9F78, 1) + page + b"".join(attributes)


def file(name: bytes, data: bytes, *properties: bytes) -> bytes:
    about = attribute(0x9005, props(*properties), level=2) if properties else b""
    return (
        attribute(0x9002, bytes(14), level=2)
        + attribute(0x8010, name + b"\0", level=2)
        + (attribute(0x800F, data, level=2) if data else b"")
        + about
    )
