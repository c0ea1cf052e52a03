"""Extracts the names and bytes of files embedded in Office documents."""

import io
import posixpath
import struct
from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO

import olefile

from ingest.errors import Permanent, Transient
from ingest.formats.common.input_file import MemberSink
from ingest.formats.office.graph_97 import is_graph

OpenPart = Callable[[str], BinaryIO]
"""Opens a package part by name."""

_MOST_LISTED = 200
_MOST_STORAGES = 1000
_LARGEST_OBJECT = 128 * 1024 * 1024  # bytes; objects are unwrapped in memory
_NATIVE = "\x01Ole10Native"
_CONTENTS = "CONTENTS"
_STREAMS = ("Package", _CONTENTS)
_OWN_FORMATS = {
    "WordDocument": ".doc",
    "Workbook": ".xls",
    "Book": ".xls",
    "PowerPoint Document": ".ppt",
}


def unwrap(part: str, data: bytes) -> tuple[str, bytes] | None:
    """Name and bytes of the file in an embedded object; None if the object is not a file.

    `part` is the object's part name in the document.
    """
    name = posixpath.basename(part)
    if not data.startswith(olefile.MAGIC):
        return name, data
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            return _inner(ole, name, data)
    except Exception:  # broken structures make olefile raise arbitrary exceptions
        return None


def _inner(ole: olefile.OleFileIO, name: str, data: bytes) -> tuple[str, bytes] | None:
    stem = posixpath.splitext(name)[0]
    if ole.exists(_NATIVE):
        return native(ole.openstream(_NATIVE).read(), name)
    for stream in _STREAMS:
        if ole.exists(stream):
            return stem + _suffix(inner := ole.openstream(stream).read()), inner
    for stream, suffix in _OWN_FORMATS.items():
        if ole.exists(stream):
            is_chart = stream == "Workbook" and is_graph(ole.openstream(stream).read())
            return None if is_chart else (stem + suffix, data)
    return None


def _suffix(data: bytes) -> str:
    return ".pdf" if data.startswith(b"%PDF-") else ""


def native(data: bytes, name: str) -> tuple[str, bytes]:
    """Name and bytes of the file in a Packager object ([MS-OLEDS] 2.3.6).

    It is size, flags, label, path, …, size, bytes. Raises struct.error or ValueError.
    """
    label_end = data.index(b"\0", 6)
    path_end = data.index(b"\0", label_end + 1)
    position = path_end + 1 + 4  # two flags of two bytes
    (length,) = struct.unpack_from("<I", data, position)
    position += 4 + length  # the path of a temporary copy
    (size,) = struct.unpack_from("<I", data, position)
    position += 4
    content = data[position : position + size]
    label = _long_label(data, position + size) or data[6:label_end].decode("utf-8", "replace")
    return posixpath.basename(label.replace("\\", "/")) or name, content


def _long_label(data: bytes, at: int) -> str:
    """The label in UTF-16, which programs write behind the file and its path; else empty."""
    text = b""
    for _ in range(2):
        if at + 4 > len(data):
            return ""
        size = 2 * struct.unpack_from("<I", data, at)[0]
        at += 4 + size
        text = data[at - size : at]
        if at > len(data):
            return ""
    return text.decode("utf-16-le", "replace").rstrip("\0")


def hand_over(
    parts: Iterable[str], open_part: OpenPart, members: MemberSink | None
) -> list[dict[str, object]]:
    """Pass the files in these parts to `members`, if given; returns the list for the metadata.

    An object that is damaged or not a file is listed by its part name.
    """
    listed: list[dict[str, object]] = []
    for part in parts:
        try:
            name, size = _hand_over(part, open_part, members)
        except (Permanent, Transient):
            raise
        except Exception:  # damage makes zipfile raise arbitrary exceptions
            name, size = posixpath.basename(part), 0
        listed.append({"name": name, "sizeBytes": size})
    return listed[:_MOST_LISTED]


def hand_over_storages(
    ole: olefile.OleFileIO, members: MemberSink | None
) -> list[dict[str, object]]:
    """Like hand_over(), for the objects inside a Word 97 or Excel 97 document.

    Documents of these formats inside one are storages of it, not files, and are left out.
    """
    streams = {
        posixpath.join(*path[:-1]): path
        for path in ole.listdir()
        if len(path) > 1 and path[-1] in (_NATIVE, *_STREAMS)
    }
    found = [
        (posixpath.basename(storage), partial(_stored, ole, path))
        for storage, path in list(streams.items())[:_MOST_STORAGES]
    ]
    return hand_over_files(found, members)


def hand_over_files(
    files: Iterable[tuple[str, Callable[[], tuple[str, bytes]]]], members: MemberSink | None
) -> list[dict[str, object]]:
    """Like hand_over(), for files whose names are in them.

    The first name of each is for one that cannot be read.
    """
    listed = [_keep(name, read, members) for name, read in files]
    return listed[:_MOST_LISTED]


def _keep(
    name: str, read: Callable[[], tuple[str, bytes]], members: MemberSink | None
) -> dict[str, object]:
    kept, content = None, b""
    try:
        name, content = read()
        kept = members.add(name, content) if members is not None and content else None
    except (Permanent, Transient):
        raise
    except Exception:  # broken structures make olefile raise arbitrary exceptions
        content = b""
    return {"name": kept or name, "sizeBytes": len(content)}


def _stored(ole: olefile.OleFileIO, path: list[str]) -> tuple[str, bytes]:
    content, name = ole.openstream(path).read(), path[-2]
    return native(content, name) if path[-1] == _NATIVE else (name + _suffix(content), content)


def _hand_over(part: str, open_part: OpenPart, members: MemberSink | None) -> tuple[str, int]:
    with open_part(part) as stream:
        is_object = stream.read(len(olefile.MAGIC)) == olefile.MAGIC
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        if not is_object:
            name = posixpath.basename(part)
            path = members.add(name, stream) if members is not None and size else None
            return path or name, size
        found = unwrap(part, stream.read()) if size <= _LARGEST_OBJECT else None
    if found is None:
        return posixpath.basename(part), size
    name, content = found
    path = members.add(name, content) if members is not None and content else None
    return path or name, len(content)
