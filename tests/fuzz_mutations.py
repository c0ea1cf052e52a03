"""Ways to break a file, all decided by the generator that is given."""

import io
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

_LARGEST = 8 * 1024 * 1024
_INTERESTING = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_TOKENS = (
    b"\0", b"\xff\xfe", b"<", b"]]>",
    b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>&b;",
    b"<!ENTITY x '&x;&x;'>", b"\xed\xa0\x80", b"\xf0\x9f", b"99999999999999999999", b"-1", b"1e999",
    b"NaN", b"%s%n", b"../../", b"\r\n\r\n", b"| " * 50, b"`" * 40, b"#" * 9, b"(" * 300,
    b"[" * 300,
    b"<div>" * 200, b"endstream", b"endobj", b"/Length 0", b"/Kids [1 0 R]", b"xref", b"startxref",
    b"{\\rtf1", b"\\bin99999999 ", b"\\u-1?", b"From ",
    b"Content-Type: multipart/mixed; boundary=x",
    b"=?utf-8?b?====?=", b"PK\x03\x04", b"PK\x01\x02", b"\xd0\xcf\x11\xe0",
    "\u202e\u0301".encode() * 30,
)  # fmt: skip


def mutate(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """A broken version of `data`; `other` is a file to take pieces from."""
    if (members := _members(data)) and chance.random() < 0.7:
        return _inside(members, other, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        data = chance.choice(_MUTATIONS)(data, other, chance)[:_LARGEST]
    return data


def _members(data: bytes) -> list[tuple[str, bytes]]:
    """Names and contents in a small ZIP that is whole; nothing of any other file."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > _LARGEST:
                return []
            return [(info.filename, archive.read(info)) for info in archive.infolist()]
    except Exception:  # files of a corpus may be as broken as ours shall be
        return []


def _inside(members: list[tuple[str, bytes]], other: bytes, chance: random.Random) -> bytes:
    """Break a member of a ZIP and pack it again: else only the container would be tested."""
    out = io.BytesIO()
    victim = chance.randrange(len(members))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as broken:
        for number, (name, content) in enumerate(members):
            if number == victim:
                if chance.random() < 0.05:
                    continue
                content = mutate(content, other, chance)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the same name twice is a fault like others
                broken.writestr(name, content)
    return out.getvalue()


def _flip(data: bytes, other: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.choice((1, 2, 5, 20))):
        if broken:
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    return bytes(broken)


def _number(data: bytes, other: bytes, chance: random.Random) -> bytes:
    kind = chance.choice(("<I", ">I", "<H", ">H", "B"))
    size = struct.calcsize(kind)
    if len(data) < size:
        return data
    at = chance.randrange(len(data) - size + 1)
    value = chance.choice(_INTERESTING) & ((1 << 8 * size) - 1)
    return data[:at] + struct.pack(kind, value) + data[at + size :]


def _cut(data: bytes, other: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _remove(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start, end = _range(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start, end = _range(data, chance)
    return data[:end] + data[start:end] * chance.choice((1, 2, 50)) + data[end:]


def _splice(data: bytes, other: bytes, chance: random.Random) -> bytes:
    start, end = _range(other, chance)
    at = chance.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _insert(data: bytes, other: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(_TOKENS) + data[at:]


def _streams(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Break what is compressed inside, as PDFs have it, and compress it again."""
    start = data.find(b"x\x9c")
    if start < 0:
        return _flip(data, other, chance)
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(data[start:], _LARGEST)
    except zlib.error:
        return _flip(data, other, chance)
    rest = inflater.unused_data
    return (
        data[:start] + zlib.compress(_insert(_flip(content, other, chance), other, chance)) + rest
    )


def _range(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 4, 16, 64, 1024)))


_MUTATIONS: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (
    _flip, _number, _cut, _remove, _repeat, _splice, _insert, _streams,
)  # fmt: skip
