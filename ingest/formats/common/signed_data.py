"""Signed files and S/MIME in one block (CMS, RFC 5652): what is signed can be read.

Only the path down to the content is parsed; signatures are not verified.
"""

import binascii
import re

_ARMOUR = re.compile(rb"^-----[^\n]{0,80}\n?", re.MULTILINE)
_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_SEQUENCE, _SET, _INTEGER, _OID, _EXPLICIT = 0x30, 0x31, 0x02, 0x06, 0xA0
_OCTETS, _OCTETS_IN_PIECES = 0x04, 0x24
_SIGNED_FILE = re.compile(r"(.+\.\w{1,5})\.p7[ms]", re.IGNORECASE)


def name_inside(name: str) -> str:
    """The name of a signed file, `a.xml` of `a.xml.p7m`; empty for messages (`smime.p7m`)."""
    found = _SIGNED_FILE.fullmatch(name)
    return "" if found is None else found[1]


def signed_content(data: bytes) -> bytes | None:
    """Return the message or file inside a signed block, which may be in Base64.

    None if it is encrypted, a signature alone, or not a signed block.
    """
    try:
        return _content(_binary(data))
    except (IndexError, ValueError):
        return None


def is_encrypted(data: bytes) -> bool:
    """Whether a block holds encrypted content, which has no other kind beside signed content."""
    try:
        return _kind(_binary(data))[0] != _SIGNED_DATA
    except (IndexError, ValueError):
        return False


def _binary(data: bytes) -> bytes:
    """The bytes of a block in Base64, also between lines such as `-----BEGIN PKCS7-----`."""
    return data if data[:1] == b"\x30" else binascii.a2b_base64(_ARMOUR.sub(b"", data))


def _kind(data: bytes) -> tuple[bytes, int]:
    """The identifier of the kind of a block, and where its content starts."""
    return _value(data, _enter(data, 0, _SEQUENCE), _OID)


def _content(data: bytes) -> bytes | None:
    kind, position = _kind(data)
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
    content = bytearray()  # a list of pieces of one or two bytes would be many times as large
    while position < len(data) and data[position] == _OCTETS:
        piece, position = _value(data, position, _OCTETS)
        content += piece
    return bytes(content)


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
