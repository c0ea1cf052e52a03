"""What is in a ZIP container? Families are told by their parts, never by the order of these.

Packages that some program wrote carelessly are recognised, too: without a list of content types,
without a `mimetype`, with backslashes or a leading slash in the names.
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
"""Bytes, some 300,000 members; no document has so many."""
_TAIL = 22 + 65_535 + 76  # end record with the longest comment, and what ZIP64 puts before it
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_FEW = 64 * 1024  # bytes that are read of a part
_OF_DOCUMENTS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ODF_KIND = re.compile(r"application/vnd\.oasis\.opendocument\.[a-z][a-z-]{0,40}")
_ODF_TYPE = re.compile(rb"application/(?:vnd\.oasis\.opendocument\.[a-z-]+|vnd\.sun\.xml\.[a-z.]+)")


def zip_family(file: BinaryIO) -> str:
    """Media type of a ZIP container: of a document family, or that of a plain archive.

    Permanent `corrupt` if its directory cannot be read.
    """
    if directory_size(file) > LARGEST_DIRECTORY:
        return types.ZIP
    try:
        with zipfile.ZipFile(file) as archive:
            members = {_plain(name): name for name in archive.namelist()}
            return _office(archive, members) or _book(archive, members) or types.ZIP
    except Exception as error:  # zipfile raises whatever a broken structure leads to
        raise Permanent("The ZIP container is damaged or cut off.", code="corrupt") from error


def directory_size(file: BinaryIO) -> int:
    """Bytes of the list of members; reading it takes ten times as many."""
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
    """Lower-case part to media type."""
    declared = {part: each.media_type for each in catalog.formats() for part in each.zip_parts}
    return {**declared, **unsupported.ZIP_PARTS}


@cache
def _mimetypes() -> Mapping[str, str]:
    """What the part `mimetype` says, to media type."""
    return {said: each.media_type for each in catalog.formats() for said in each.zip_mimetypes}


def _book(archive: zipfile.ZipFile, members: dict[str, str]) -> str | None:
    """OpenDocument and EPUB, which say what they are; else by what only they have."""
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
    """The start of a member; empty if it is not there, encrypted or damaged."""
    # zipfile inflates all at once what other methods packed, be it gigabytes.
    if name is None or archive.getinfo(name).compress_type not in _OF_DOCUMENTS:
        return b""
    try:
        with archive.open(name) as part:
            return part.read(_FEW)
    except Exception:  # other members may tell as well
        return b""
