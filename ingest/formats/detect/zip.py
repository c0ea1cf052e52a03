"""Detects what a ZIP container holds, by its parts and never by their order.

Sloppily written packages are recognised, too: without `[Content_Types].xml`, without `mimetype`,
with backslashes or a leading slash in the names.
"""

import re
import struct
import zipfile
from collections.abc import Collection, Mapping
from functools import cache
from typing import BinaryIO

from ingest.errors import Permanent
from ingest.formats import catalog, unsupported
from ingest.formats import media_types as types

LARGEST_DIRECTORY = 32 * 1024 * 1024
"""Bytes: about 300,000 members; no document has that many."""
_TAIL = 22 + 65_535 + 76  # end record with the longest comment, and the ZIP64 records before it
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_FEW = 64 * 1024  # bytes read from a part
_OF_DOCUMENTS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ODF_KIND = re.compile(r"application/vnd\.oasis\.opendocument\.[a-z][a-z-]{0,40}")
_ODF_TYPE = re.compile(rb"application/(?:vnd\.oasis\.opendocument\.[a-z-]+|vnd\.sun\.xml\.[a-z.]+)")


def zip_family(file: BinaryIO) -> str:
    """Media type of a ZIP container: a document format, or a plain archive.

    Raises Permanent `corrupt` if its directory cannot be read.
    """
    if directory_size(file) > LARGEST_DIRECTORY:
        return types.ZIP
    try:
        with zipfile.ZipFile(file) as archive:
            members = {_plain(name): name for name in archive.namelist()}
            return _office(archive, members) or _book(archive, members) or types.ZIP
    except Exception as error:  # zipfile may raise anything for a broken structure
        raise Permanent("The ZIP container is damaged or cut off.", code="corrupt") from error


def directory_size(file: BinaryIO) -> int:
    """Size of the central directory in bytes; reading it takes ten times as much memory."""
    file.seek(0, 2)
    file.seek(max(0, file.tell() - _TAIL))
    tail = file.read(_TAIL)
    end = tail.rfind(_END)
    if end < 0 or len(tail) < end + 22:
        return 0
    (size,) = struct.unpack_from("<I", tail, end + 12)
    end_64 = tail.rfind(_END_64, 0, end)
    if size == 0xFFFFFFFF and end_64 >= 0:
        (size,) = struct.unpack_from("<Q", tail, end_64 + 40)
    return int(size)


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _office(archive: zipfile.ZipFile, members: dict[str, str]) -> str | None:
    """Office Open XML and other packages with a main part of a known name."""
    content_types = _read(archive, members.get("[content_types].xml"))
    for declared in catalog.formats():
        if declared.zip_content_type and declared.zip_content_type.search(content_types):
            return declared.media_type
    for part, media_type in _main_parts().items():
        if part in members:
            return media_type
    if content_types or "_rels/.rels" in members:
        return _by_folder(members)
    return None


def _by_folder(members: Collection[str]) -> str | None:
    for declared in catalog.formats():
        folder = declared.zip_folder
        if folder and any(member.startswith(folder) for member in members):
            return declared.media_type
    return None


@cache
def _main_parts() -> Mapping[str, str]:
    """Media type by lower-case part name."""
    declared = {part: each.media_type for each in catalog.formats() for part in each.zip_parts}
    return {**declared, **unsupported.ZIP_PARTS}


@cache
def _mimetypes() -> Mapping[str, str]:
    """Media type by the content of the `mimetype` part."""
    return {said: each.media_type for each in catalog.formats() for said in each.zip_mimetypes}


def _book(archive: zipfile.ZipFile, members: dict[str, str]) -> str | None:
    """OpenDocument or EPUB: by the `mimetype` part, else by parts that only they have."""
    stated = _read(archive, members.get("mimetype"))[:200].strip().decode("ascii", "replace")
    media_type = _by_mimetype(stated)
    if media_type is None and "content.xml" in members:
        found = _ODF_TYPE.search(_read(archive, members.get("meta-inf/manifest.xml")))
        media_type = _by_mimetype(found.group().decode()) if found else None
    if media_type is None and "meta-inf/container.xml" in members:
        return types.EPUB if any(name.endswith(".opf") for name in members) else None
    return media_type


def _by_mimetype(stated: str) -> str | None:
    if stated.startswith("application/vnd.sun.xml."):
        return "application/vnd.sun.xml"
    stated = stated.removesuffix("-template")
    return _mimetypes().get(stated) or (stated if _ODF_KIND.fullmatch(stated) else None)


def _read(archive: zipfile.ZipFile, name: str | None) -> bytes:
    """The start of a member; empty if it is missing, encrypted or damaged."""
    # zipfile inflates other methods in one call, even to gigabytes.
    if name is None or archive.getinfo(name).compress_type not in _OF_DOCUMENTS:
        return b""
    try:
        with archive.open(name) as part:
            return part.read(_FEW)
    except Exception:  # other members may identify the format
        return b""
