"""S/MIME in one block (CMS, RFC 5652): signed content is readable, encrypted content is not.

Only the path down to the content is parsed; signatures are not verified.
"""

import re

_TYPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_SEQUENCE, _SET, _INTEGER, _OID, _EXPLICIT = 0x30, 0x31, 0x02, 0x06, 0xA0
_OCTETS, _OCTETS_IN_PIECES = 0x04, 0x24
_SIGNED_FILE = re.compile(r"(.+\.\w{1,5})\.p7m", re.IGNORECASE)


def is_smime(media_type: str) -> bool:
    """Whether a part of this type holds a message in a CMS block."""
    return media_type in _TYPES


def name_inside(name: str) -> str:
    """The name of a signed file, `a.xml` of `a.xml.p7m`; empty for messages (`smime.p7m`)."""
    found = _SIGNED_FILE.fullmatch(name)
    return "" if found is None else found[1]


def signed_content(data: bytes) -> bytes | None:
    """Return the message inside a signed block; None if it is encrypted or not a signed block."""
    try:
        return _content(data)
    except (IndexError, ValueError):
        return None


def _content(data: bytes) -> bytes | None:
    position = _enter(data, 0, _SEQUENCE)
    kind, position = _value(data, position, _OID)
    if kind != _SIGNED_DATA:
        return None
    position = _enter(data, position, _EXPLICIT)
    position = _enter(data, position, _SEQUENCE)
    _, position = _value(data, position, _INTEGER)
    _, position = _value(data, position, _SET)
    position = _enter(data, position, _SEQUENCE)
    _, position = _value(data, position, _OID)
    position = _enter(data, position, _EXPLICIT)
    if data[position] == _OCTETS:
        return _value(data, position, _OCTETS)[0]
    position = _enter(data, position, _OCTETS_IN_PIECES)
    pieces = []
    while position < len(data) and data[position] == _OCTETS:
        piece, position = _value(data, position, _OCTETS)
        pieces.append(piece)
    return b"".join(pieces)


def _enter(data: bytes, position: int, tag: int) -> int:
    """Where the content of a constructed element starts."""
    return _header(data, position, tag)[1]


def _value(data: bytes, position: int, tag: int) -> tuple[bytes, int]:
    """Content of an element, and where the next one starts."""
    length, start = _header(data, position, tag)
    if length is None or start + length > len(data):
        raise ValueError("cut off")
    return data[start : start + length], start + length


def _header(data: bytes, position: int, tag: int) -> tuple[int | None, int]:
    """Length of the content, None if an end mark ends it, and where it starts."""
    if data[position] != tag:
        raise ValueError("another element")
    first = data[position + 1]
    start = position + 2
    if first < 0x80:
        return first, start
    if first == 0x80:
        return None, start
    count = first & 0x7F
    return int.from_bytes(data[start : start + count], "big"), start + count
