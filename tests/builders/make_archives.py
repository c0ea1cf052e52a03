"""Builders of small archives for tests: each returns the bytes of one file."""

import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Iterable, Mapping


def zip_of(members: Mapping[str, bytes | str], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of these members, in order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            # Not the time of now: the same members are the same bytes.
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            archive.writestr(info, data)
    return out.getvalue()


def zip_with_link(name: str, target: str) -> bytes:
    """A ZIP whose one member is a symbolic link."""
    link = zipfile.ZipInfo(name)
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, target)
    return out.getvalue()


def locked_zip(*names: str, open_ones: Mapping[str, bytes] | None = None) -> bytes:
    """A ZIP whose members of these names say that they are encrypted."""
    data = bytearray(zip_of(dict.fromkeys(names, b"secret" * 20) | dict(open_ones or {})))
    for name in names:
        encoded = name.encode()
        for signature, flags, length in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
            at = -1
            while (at := data.find(signature, at + 1)) >= 0:
                if data[at + length : at + length + len(encoded)] == encoded:
                    data[at + flags] |= 1
    return bytes(data)


def tar_of(members: Mapping[str, bytes], *, mode: str = "w") -> bytes:
    """A tar of these members; `mode` as of tarfile, such as `w:gz`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def tar_with(kind: bytes, name: str, target: str = "") -> bytes:
    """A tar of one file and one entry of another kind, such as `tarfile.SYMTYPE`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("file.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"text"))
        other = tarfile.TarInfo(name)
        other.type = kind
        other.linkname = target
        archive.addfile(other)
    return out.getvalue()


def nested(depth: int, innermost: Mapping[str, bytes]) -> bytes:
    """A ZIP in a ZIP in a ZIP …: `depth` of them, each called `inner.zip` in the next."""
    data = zip_of(innermost)
    for _ in range(depth - 1):
        data = zip_of({"inner.zip": data})
    return data


def overlapping(names: Iterable[str], content: bytes) -> bytes:
    """A ZIP that lists the one member in it under all of these names, which have one length."""
    first, *others = (name.encode() for name in names)
    data = zip_of({first.decode(): content})
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = data[start:end]
    directory = b"".join(entry.replace(first, name) for name in (first, *others))
    count = len(others) + 1
    tail = struct.pack("<HHII", count, count, len(directory), start)
    return data[:start] + directory + data[end : end + 8] + tail + data[end + 20 :]
