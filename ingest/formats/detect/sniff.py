"""What is this file? Content first, then its name, then what the sender declared.

Binary formats are told by their bytes alone (zip.py, ole.py, formats/unsupported.py). Ties are
all among text formats; text.py has the rules.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats import unsupported
from ingest.formats.code_languages import language_of
from ingest.formats.detect.mail import mail_family
from ingest.formats.detect.ole import ole_family
from ingest.formats.detect.text import text_family
from ingest.formats.detect.zip import zip_family
from ingest.formats.encoding.decode import HEAD, decode, is_text, peek

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", types.PNG),
    (b"\xff\xd8\xff", types.JPEG),
    (b"GIF87a", types.GIF),
    (b"GIF89a", types.GIF),
    (b"II*\0", types.TIFF),
    (b"MM\0*", types.TIFF),
    (b"II+\0", types.TIFF),
    (b"MM\0+", types.TIFF),
    (b"\x1f\x8b\x08", types.GZIP),
    (b"\xfd7zXZ\0", types.XZ),
    (b"7z\xbc\xaf\x27\x1c", types.SEVEN_ZIP),
    (b"Rar!\x1a\x07", types.RAR),
)
_BITMAP = re.compile(rb"BM.{4}\0{4}.{4}[\x0c\x28\x40\x6c\x7c]\0\0\0", re.DOTALL)
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_EXCEL_4 = re.compile(
    rb"\x09[\0\x02\x04\x08][\x04-\x10]\0(?:\0[\0\x02-\x06]|[\0\x02-\x06]\0)[\x05\x10\x20\x40]\0"
)
_PDF_WITHIN = 1024  # bytes; readers look for the header so far
_PDF = re.compile(rb"\s*%PDF-")
_LATE_PDF = re.compile(rb"%PDF-\d\.\d")
_PDF_OBJECT = re.compile(rb"\b\d{1,10} \d{1,5} obj\b|%\xe2\xe3\xcf\xd3")
_TAR_BLOCK = 512
_TAR_SUM = slice(148, 156)
_ARMOURED = (b"-----BEGIN PGP MESSAGE-----", b"age-encryption.org/v1\n")
# What differs from the promise, but breaks no promise.
_KIN = (
    {types.XML, types.HTML},
    {types.XML, types.FLAT_OPC, types.WORD_XML},
    {types.JSON, types.JSON_LINES, types.NOTEBOOK},
    {types.CSV, types.TSV},
    {types.EMAIL, types.MBOX, types.MHTML},
    {types.GZIP, types.TAR},
)


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The type of a file."""

    media_type: str
    mismatch: bool
    """The file name promised something else; without a name that promises, the declared type."""


def sniff(file: BinaryIO, *, name: str | None = None, declared: str | None = None) -> Sniffed:
    """Type of a seekable file, which is left at its start.

    Types that nobody here reads are named, too: `mediatypes.label` has the words.
    Permanent: `empty_content`, `encrypted` (Office, PGP), `corrupt` (the name promises a binary
    format that the bytes are not, or the container is broken), `unsupported_type`.
    """
    file.seek(0)
    head = file.read(HEAD)
    if len(head) < HEAD and not head.strip(b" \t\r\n\f\v\0"):
        raise Permanent("The file is empty.", code="empty_content")
    language = language_of(name)
    promised = types.TEXT if language else _promise(name)
    stated = types.declared(declared)
    media_type = _binary(file, head)
    if media_type is None:
        readable = is_text(head)
        media_type = unsupported.by_signature(head, is_text=readable)
        if media_type is None and readable:
            media_type = text_family(
                peek(head),
                promised=promised,
                declared=stated,
                is_code=language is not None,
                is_whole=len(head) < HEAD,
            )
    if media_type is None or (media_type == types.TEXT and _is_binary(promised)):
        raise _unrecognised(promised)
    file.seek(0)
    return Sniffed(media_type, mismatch=_differ(promised or stated, media_type))


def _promise(name: str | None) -> str | None:
    return types.BY_SUFFIX.get(PurePosixPath(name or "").suffix.lower())


def _is_binary(promised: str | None) -> bool:
    return promised is not None and promised not in types.TEXTUAL


def _differ(promised: str | None, media_type: str) -> bool:
    if promised is None or promised == media_type:
        return False
    return not any({promised, media_type} <= kin for kin in _KIN)


def _unrecognised(promised: str | None) -> Permanent:
    if _is_binary(promised) and promised is not None:
        what = types.label(promised)
        return Permanent(f"The file is named like {what}, but its bytes are not.", code="corrupt")
    return Permanent(
        "The file is neither text nor of a format that is known here.", code="unsupported_type"
    )


def _binary(file: BinaryIO, head: bytes) -> str | None:
    """The formats that have readers here, as far as they are not text."""
    if _is_pdf(head):
        return types.PDF
    if head.startswith(olefile.MAGIC):
        return ole_family(file)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK\x03\x04")):
        return zip_family(file)
    if head.lstrip().startswith(_ARMOURED):
        raise Permanent("The file is encrypted.", code="encrypted")
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return types.WEBP
    for signature, media_type in _SIGNATURES:
        if head.startswith(signature):
            return media_type
    return _by_structure(head)


def _by_structure(head: bytes) -> str | None:
    if _BITMAP.match(head):
        return types.BMP
    if _BZIP2.match(head):
        return types.BZIP2
    if _EXCEL_4.match(head):
        return types.XLS
    return types.TAR if _is_tar(head[:_TAR_BLOCK]) else None


def _is_pdf(head: bytes) -> bool:
    """With its header first, or behind some junk; not a text that speaks of PDF."""
    if _PDF.match(head):
        return True
    late = _LATE_PDF.search(head, 0, _PDF_WITHIN)
    if late is None or _PDF_OBJECT.search(head, late.end()) is None:
        return False
    # Behind the headers of a message it is an attachment that was not encoded.
    before = head[: late.start()]
    return not is_text(before) or mail_family(decode(before)[0], None) is None


def _is_tar(block: bytes) -> bool:
    """By the sum over the header, which is there since before `ustar` was written into it."""
    stated = block[_TAR_SUM].strip(b" \0")
    if len(block) < _TAR_BLOCK or not stated.isdigit():
        return False
    blanked = block[: _TAR_SUM.start] + b" " * 8 + block[_TAR_SUM.stop :]
    try:
        return sum(blanked) == int(stated, 8)
    except ValueError:
        return False
