"""Decodes the names of ZIP members: old archives do not declare their encoding."""

import struct
import zipfile
import zlib
from collections.abc import Sequence

from ingest.formats.encoding.decode import decode

_UTF8 = 0x800
_UNICODE_PATH = 0x7075


def names(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """One name per member, in order."""
    undeclared = [member for member in members if not member.flag_bits & _UTF8]
    raw = [_raw(member) for member in undeclared]
    guessed = dict(zip(map(id, undeclared), _decode_together(raw), strict=True))
    return [_unicode_path(member) or guessed.get(id(member), member.filename) for member in members]


def _raw(member: zipfile.ZipInfo) -> bytes:
    try:
        return member.orig_filename.encode("cp437")
    except UnicodeEncodeError:
        return member.orig_filename.encode()


def _decode_together(raw: Sequence[bytes]) -> list[str]:
    """Names of one archive share an encoding, and more text makes its detection safer."""
    joined = b"\n".join(name.replace(b"\n", b" ") for name in raw)
    if joined.isascii():
        return [name.decode("ascii") for name in raw]
    decoded = decode(joined)[0].split("\n")
    if len(decoded) == len(raw):
        return decoded
    return [decode(name)[0] for name in raw]


def _unicode_path(member: zipfile.ZipInfo) -> str | None:
    """The UTF-8 name that some programs store beside one in a legacy encoding."""
    extra = member.extra
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        if kind == _UNICODE_PATH and 5 < size <= len(extra) - 4:
            checksum = struct.unpack("<I", extra[5:9])[0]
            if checksum == zlib.crc32(_raw(member)):
                return extra[9 : 4 + size].decode("utf-8", "replace")
        extra = extra[4 + size :]
    return None
