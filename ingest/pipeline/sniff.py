"""What is this file? Content first, then its name, then what the sender declared.

Ties are all among text formats, where bytes prove little: the start of an HTML page, an e-mail
or an XML document decides; else the name, then the declared type, then signs of Markdown or CSV.
"""

import re
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.pipeline import mediatypes as types
from ingest.pipeline.decode import HEAD, decode, is_text

_SIGNATURES = (
    (b"{\\rtf", types.RTF),
    (b"\x89PNG\r\n\x1a\n", types.PNG),
    (b"\xff\xd8\xff", types.JPEG),
    (b"GIF8", types.GIF),
    (b"II*\0", types.TIFF),
    (b"MM\0*", types.TIFF),
    (b"BM", types.BMP),
    (b"\x1f\x8b", types.GZIP),
    (b"7z\xbc\xaf\x27\x1c", types.SEVEN_ZIP),
    (b"Rar!\x1a\x07", types.RAR),
)
_OLE_STREAMS = (
    ("WordDocument", types.DOC),
    ("Workbook", types.XLS),
    ("Book", types.XLS),
    ("PowerPoint Document", types.PPT),
    ("__properties_version1.0", types.MSG),
)
_OOXML_FOLDERS = (("word/", types.DOCX), ("xl/", types.XLSX), ("ppt/", types.PPTX))
_OPEN_DOCUMENT = (types.ODT, types.ODS, types.ODP, types.EPUB)
_PROLOGUE = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*", re.DOTALL)
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_TAG = re.compile(
    r"<(?:head|body|title|meta|div|p|h[1-6]|table|ul|ol|span|a|br|script)\b[^<>]*>", re.IGNORECASE
)
_HEADER = re.compile(
    r"^(From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To): ",
    re.IGNORECASE | re.MULTILINE,
)
_MARKDOWN = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^#{1,6} \S",
        r"^(?:```|~~~)",
        r"\[[^\]\n]+\]\([^)\s]+\)",
        r"^ {0,3}[-*+] \S",
        r"^\|.+\|\s*$",
    )
)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The type of a file."""

    media_type: str
    mismatch: bool
    """The file name promised something else."""


def sniff(file: BinaryIO, *, name: str | None = None, declared: str | None = None) -> Sniffed:
    """Type of a seekable file, which is left at its start.

    Permanent: `empty_content`, `encrypted` (Office), `corrupt` (the name promises a binary format
    that the bytes are not, or the container is broken), `unsupported_type` (no known format).
    """
    file.seek(0)
    head = file.read(HEAD)
    if len(head) < HEAD and not head.strip(b" \t\r\n\f\v\0"):
        raise Permanent("The file is empty.", code="empty_content")
    promised = types.BY_SUFFIX.get(PurePosixPath(name or "").suffix.lower())
    media_type = _binary(file, head)
    if media_type is None and is_text(head):
        media_type = _text(head, promised, declared)
    if media_type is None or (media_type == types.TEXT and _is_binary(promised)):
        raise _unrecognised(promised)
    file.seek(0)
    return Sniffed(media_type, mismatch=promised is not None and promised != media_type)


def _is_binary(promised: str | None) -> bool:
    return promised is not None and promised not in types.TEXTUAL


def _unrecognised(promised: str | None) -> Permanent:
    if _is_binary(promised) and promised is not None:
        what = types.label(promised)
        return Permanent(f"The file is named like {what}, but its bytes are not.", code="corrupt")
    return Permanent(
        "The file is neither text nor of a format that is known here.", code="unsupported_type"
    )


def _binary(file: BinaryIO, head: bytes) -> str | None:
    if b"%PDF-" in head[:1024]:
        return types.PDF
    if head.startswith(olefile.MAGIC):
        return _ole(file)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip(file)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return types.WEBP
    if head[257:262] == b"ustar":
        return types.TAR
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature) and not (media_type == types.BMP and is_text(head)):
            return media_type
    return None


def _ole(file: BinaryIO) -> str:
    try:
        with olefile.OleFileIO(file) as ole:
            if ole.exists("EncryptedPackage"):
                raise Permanent("The document is protected by a password.", code="encrypted")
            for stream, media_type in _OLE_STREAMS:
                if ole.exists(stream):
                    return media_type
    except Permanent:
        raise
    except Exception as error:  # olefile raises whatever a broken structure leads to
        raise Permanent("The Office container is damaged.", code="corrupt") from error
    return types.OLE


def _zip(file: BinaryIO) -> str:
    """ZIP families by their members; a ZIP whose directory is unreadable is corrupt."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            mimetype = archive.open("mimetype").read(200) if "mimetype" in names else b""
    except Exception as error:  # zipfile raises whatever a broken structure leads to
        raise Permanent("The ZIP container is damaged or cut off.", code="corrupt") from error
    declared = mimetype.decode("ascii", "ignore").strip().removesuffix("-template")
    if declared in _OPEN_DOCUMENT:
        return declared
    if "xl/workbook.bin" in names:
        return types.XLSB
    if "[Content_Types].xml" in names or "_rels/.rels" in names:
        for folder, media_type in _OOXML_FOLDERS:
            if any(member.startswith(folder) for member in names):
                return media_type
    return types.ZIP


def _text(head: bytes, promised: str | None, declared: str | None) -> str:
    text = decode(head, declared=declared)[0]
    start = text[_prologue_end(text) :]
    if _HTML.match(start):
        return types.HTML
    if promised in types.TEXTUAL:
        return promised
    if promised in (types.EMAIL, types.MHTML, types.MBOX) or _is_email(text):
        return promised if promised in (types.MHTML, types.MBOX) else types.EMAIL
    stated = (declared or "").split(";")[0].strip().lower()
    if stated in types.TEXTUAL and stated != types.TEXT:
        return stated
    return _by_signs(text, start)


def _by_signs(text: str, start: str) -> str:
    if text.lstrip().startswith("<?xml"):
        return types.XML
    if start.startswith("<") and len(_TAG.findall(text[:4096])) >= 2:
        return types.HTML
    if sum(bool(sign.search(text[:8192])) for sign in _MARKDOWN) >= 2:
        return types.MARKDOWN
    return types.CSV if _is_table(text) else types.TEXT


def _prologue_end(text: str) -> int:
    match = _PROLOGUE.match(text)
    return match.end() if match else 0


def _is_email(text: str) -> bool:
    """A message as it travels: at least three different header lines before the first blank."""
    if text.startswith("From ") and "\n" in text:
        text = text[text.index("\n") + 1 :]
    block = re.split(r"\r?\n\r?\n", text[:16384], maxsplit=1)[0]
    if not re.match(r"[A-Za-z-]+:", block):
        return False
    return len({header.lower() for header in _HEADER.findall(block)}) >= 3


def _is_table(text: str) -> bool:
    """At least three lines with the same number, at least two, of one separator."""
    lines = text.splitlines()[:20][:-1]
    if len(lines) < 3:
        return False
    return any(
        lines[0].count(mark) >= 2 and len({line.count(mark) for line in lines}) == 1
        for mark in (",", ";", "\t", "|")
    )
