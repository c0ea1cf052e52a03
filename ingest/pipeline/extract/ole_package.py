"""Files that are embedded in Office documents: what they are called, and their bytes."""

import io
import posixpath
import struct
from collections.abc import Iterable

import olefile

from ingest.pipeline.extract.opc import Package
from ingest.pipeline.extract.source import MemberSink

_NATIVE = "\x01Ole10Native"
_CONTENTS = "CONTENTS"
_STREAMS = ("Package", _CONTENTS)
_OWN_FORMATS = {"WordDocument": ".doc", "Workbook": ".xls", "PowerPoint Document": ".ppt"}


def unwrap(part: str, data: bytes) -> tuple[str, bytes] | None:
    """Name and bytes of the file in an embedded object; None if the object is not a file.

    `part` names the object inside of its document.
    """
    name = posixpath.basename(part)
    if not data.startswith(olefile.MAGIC):
        return name, data
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            return _inner(ole, name, data)
    except Exception:  # olefile raises whatever a broken structure leads to
        return None


def _inner(ole: olefile.OleFileIO, name: str, data: bytes) -> tuple[str, bytes] | None:
    stem = posixpath.splitext(name)[0]
    if ole.exists(_NATIVE):
        return _native(ole.openstream(_NATIVE).read(), name)
    for stream in _STREAMS:
        if ole.exists(stream):
            return stem + _suffix(inner := ole.openstream(stream).read()), inner
    for stream, suffix in _OWN_FORMATS.items():
        if ole.exists(stream):
            return stem + suffix, data
    return None


def _suffix(data: bytes) -> str:
    return ".pdf" if data.startswith(b"%PDF-") else ""


def _native(data: bytes, name: str) -> tuple[str, bytes]:
    """An object of the packager: size, flags, label, path, …, size, bytes ([MS-OLEDS] 2.3.6)."""
    label_end = data.index(b"\0", 6)
    path_end = data.index(b"\0", label_end + 1)
    position = path_end + 1 + 4  # two flags of two bytes
    (length,) = struct.unpack_from("<I", data, position)
    position += 4 + length  # the path of a temporary copy
    (size,) = struct.unpack_from("<I", data, position)
    content = data[position + 4 : position + 4 + size]
    label = data[6:label_end].decode("utf-8", "replace").replace("\\", "/")
    return posixpath.basename(label) or name, content


def hand_over(
    package: Package, parts: Iterable[str], members: MemberSink | None
) -> list[dict[str, object]]:
    """Give the files in these parts to `members`, if there is one, and list them for the metadata.

    An object that is no file, or is damaged, is listed by the name of its part.
    """
    listed: list[dict[str, object]] = []
    for part in parts:
        try:
            data = package.read(part)
        except Exception:  # zipfile raises whatever damage leads to
            data = b""
        found = unwrap(part, data)
        name, content = found if found is not None else (posixpath.basename(part), data)
        if found is not None and members is not None and content:
            name = members.add(name, content) or name
        listed.append({"name": name, "sizeBytes": len(content)})
    return listed
