"""What is in a ZIP container? Families are told by their parts, never by the order of these.

Packages that some program wrote carelessly are recognised, too: without a list of content types,
without a `mimetype`, with backslashes or a leading slash in the names.
"""

import re
import struct
import zipfile
from collections.abc import Collection
from typing import BinaryIO

from ingest.errors import Permanent
from ingest.formats import media_types as types

LARGEST_DIRECTORY = 32 * 1024 * 1024
"""Bytes, some 300,000 members; no document has so many."""
_TAIL = 22 + 65_535 + 76  # end record with the longest comment, and what ZIP64 puts before it
_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_FEW = 64 * 1024  # bytes that are read of a part
_OF_DOCUMENTS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAIN_PARTS = {
    "word/document.xml": types.DOCX,
    "xl/workbook.bin": types.XLSB,
    "xl/workbook.xml": types.XLSX,
    "ppt/presentation.xml": types.PPTX,
    "visio/document.xml": "application/vnd.visio",
    "fixeddocumentsequence.fdseq": "application/vnd.ms-xpsdocument",
    "fixeddocseq.fdseq": "application/vnd.ms-xpsdocument",
    "index/document.iwa": "application/vnd.apple.iwork",
    "metadata/buildversionhistory.plist": "application/vnd.apple.iwork",
    "buildversionhistory.plist": "application/vnd.apple.iwork",
}
_CONTENT_TYPES = (
    (re.compile(rb"ms-excel\.sheet\.binary\.macroEnabled\.main", re.IGNORECASE), types.XLSB),
    (re.compile(rb"wordprocessingml\.(?:document|template)\.main|ms-word\.\w+\.macroEnabled"
                rb"(?:Template)?\.main", re.IGNORECASE), types.DOCX),
    (re.compile(rb"spreadsheetml\.(?:sheet|template)\.main|ms-excel\.(?:sheet|template|addin)"
                rb"\.macroEnabled\.main", re.IGNORECASE), types.XLSX),
    (re.compile(rb"presentationml\.(?:presentation|template|slideshow)\.main|ms-powerpoint\.\w+"
                rb"\.macroEnabled\.main", re.IGNORECASE), types.PPTX),
)  # fmt: skip
_FOLDERS = (("word/", types.DOCX), ("xl/", types.XLSX), ("ppt/", types.PPTX))
_OPEN_DOCUMENT = {
    "text": types.ODT,
    "text-master": types.ODT,
    "text-web": types.ODT,
    "spreadsheet": types.ODS,
    "presentation": types.ODP,
}
_ODF_KIND = re.compile(r"[a-z][a-z-]{0,40}")
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
    for pattern, media_type in _CONTENT_TYPES:
        if pattern.search(content_types):
            return media_type
    for part, media_type in _MAIN_PARTS.items():
        if part in members:
            return media_type
    if content_types or "_rels/.rels" in members:
        return _by_folder(members)
    return None


def _by_folder(members: Collection[str]) -> str | None:
    for folder, media_type in _FOLDERS:
        if any(member.startswith(folder) for member in members):
            return media_type
    return None


def _book(archive: zipfile.ZipFile, members: dict[str, str]) -> str | None:
    """OpenDocument and EPUB, which say what they are; else by what only they have."""
    stated = _read(archive, members.get("mimetype"))[:200].strip().decode("ascii", "replace")
    if stated == types.EPUB:
        return types.EPUB
    media_type = _open_document(stated)
    if media_type is None and "content.xml" in members:
        found = _ODF_TYPE.search(_read(archive, members.get("meta-inf/manifest.xml")))
        media_type = _open_document(found.group().decode()) if found else None
    if media_type is None and "meta-inf/container.xml" in members:
        return types.EPUB if any(name.endswith(".opf") for name in members) else None
    return media_type


def _open_document(stated: str) -> str | None:
    if stated.startswith("application/vnd.sun.xml."):
        return "application/vnd.sun.xml"
    family, found, kind = stated.removesuffix("-template").rpartition("opendocument.")
    if family != "application/vnd.oasis." or not (found and _ODF_KIND.fullmatch(kind)):
        return None
    return _OPEN_DOCUMENT.get(kind, f"application/vnd.oasis.opendocument.{kind}")


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
