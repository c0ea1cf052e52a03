"""Word 97 and older (.doc), PowerPoint 97 (.ppt) and RTF, read by xberg.

Not read: the borders of tables in .doc and .ppt (their cells are there as text), pictures,
embedded objects. Speaker notes of a .ppt stand at the end, for it is not told whose they are.
"""

import re
import struct
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.pipeline import mediatypes as types
from ingest.pipeline.extract import xberg_text
from ingest.pipeline.extract.source import Extraction, Source

_FIB_FLAGS = 0x0A  # of the stream WordDocument: File Information Block, [MS-DOC] 2.5.2
_FIB_ENCRYPTED = 0x0100
_USER_TOKEN = 12  # of the stream Current User: headerToken, [MS-PPT] 2.3.2
_TOKEN_ENCRYPTED = 0xF3D1C4DF
_NOTES = re.compile(r"^\[\^\d+\]: ", re.MULTILINE)


def extract(source: Source) -> Extraction:
    """The document as one part, a presentation with one part for each slide. Also `encrypted`."""
    if source.media_type in (types.DOC, types.PPT):
        _refuse_encrypted(source.stream)
    found = xberg_text.read(source.stream.read(), source.media_type)
    is_presentation = source.media_type == types.PPT
    return Extraction(
        parts=_slides(found.text) if is_presentation else [found.text],
        extractor=xberg_text.VERSION,
        paged=is_presentation,
        title=found.title,
        metadata=dict(found.properties),
    )


def _refuse_encrypted(stream: BinaryIO) -> None:
    with olefile.OleFileIO(stream) as ole:
        encrypted = (
            _flags(ole, "WordDocument", "<H", _FIB_FLAGS) & _FIB_ENCRYPTED
            or _flags(ole, "Current User", "<I", _USER_TOKEN) == _TOKEN_ENCRYPTED
            or ole.exists("EncryptedSummary")
        )
    stream.seek(0)
    if encrypted:
        raise Permanent("The document is protected by a password.", code="encrypted")


def _flags(ole: olefile.OleFileIO, stream: str, layout: str, offset: int) -> int:
    """A number of an OLE stream; 0 if the stream is not there or too short."""
    if not ole.exists(stream):
        return 0
    data = ole.openstream(stream).read(offset + struct.calcsize(layout))
    if len(data) < offset + struct.calcsize(layout):
        return 0
    return int(struct.unpack_from(layout, data, offset)[0])


def _slides(markdown: str) -> list[str]:
    slides: list[list[str]] = [[]]
    for line in _NOTES.sub("Notes: ", markdown).split("\n"):
        if line == xberg_text.RULE:
            slides.append([])
        else:
            slides[-1].append(line)
    parts = ["\n".join(slide).strip("\n") for slide in slides]
    return parts[1:] if len(parts) > 1 and not parts[0] else parts
