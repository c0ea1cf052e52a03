"""Word 6 and 95 (.doc), read by us; damaged .doc and .ppt of Office 97, read by xberg.

Not read: the structure of tables (cells come as text), pictures, embedded objects. Tracked
deletions of Word 95 stay in the text. Speaker notes of a .ppt are at the end, because xberg does
not say which slide they belong to.
"""

import io
import re
import struct

import olefile

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown import numbered_slide, plain
from ingest.formats.office import word_95, xberg_text
from ingest.formats.office.ole_properties import summary
from ingest.optional_steps import improve

_FIB_FLAGS = 0x0A  # offset in the stream WordDocument: File Information Block, [MS-DOC] 2.5.2
_FIB_ENCRYPTED = 0x0100
_USER_TOKEN = 12  # offset in the stream Current User: headerToken, [MS-PPT] 2.3.2
_TOKEN_ENCRYPTED = 0xF3D1C4DF
_WORD_95 = "word_95 2"
_NOTES = re.compile(r"^\[\^\d+\]: ", re.MULTILINE)


def extract(source: InputFile) -> Extraction:
    """Extract one part; for a presentation, one part per slide. Raises Permanent `encrypted`."""
    data = source.stream.read()
    with olefile.OleFileIO(io.BytesIO(data)) as ole:
        refuse_encrypted(ole)
        old = _word_95(ole)
        properties = improve("metadata", lambda: summary(ole), otherwise=dict[str, str])
    if old is not None:
        title = properties.pop("title", None)
        return Extraction(
            parts=[plain(old)], extractor=_WORD_95, title=title, metadata=dict(properties)
        )
    found = xberg_text.read(data, source.media_type)
    properties = found.properties | properties
    title = properties.pop("title", None) or found.title
    is_presentation = source.media_type == types.PPT
    return Extraction(
        parts=improve("layout", lambda: slides(found.text), otherwise=lambda: [found.text])
        if is_presentation
        else [found.text],
        extractor=xberg_text.VERSION,
        paged=is_presentation,
        title=title,
        metadata=dict(properties),
    )


def _word_95(ole: olefile.OleFileIO) -> str | None:
    """The text of a Word 6 or 95 document; None for all others."""
    if not ole.exists("WordDocument"):
        return None
    stream: bytes = ole.openstream("WordDocument").read()
    return word_95.read_text(stream) if word_95.is_word_95(stream) else None


def refuse_encrypted(ole: olefile.OleFileIO) -> None:
    """Raise Permanent `encrypted` for a document or presentation with a password."""
    if (
        _flags(ole, "WordDocument", "<H", _FIB_FLAGS) & _FIB_ENCRYPTED
        or _flags(ole, "Current User", "<I", _USER_TOKEN) == _TOKEN_ENCRYPTED
        or ole.exists("EncryptedSummary")
    ):
        raise Permanent("The document is protected by a password.", code="encrypted")


def _flags(ole: olefile.OleFileIO, stream: str, layout: str, offset: int) -> int:
    """Read a number from an OLE stream; 0 if the stream is missing or too short."""
    if not ole.exists(stream):
        return 0
    data = ole.openstream(stream).read(offset + struct.calcsize(layout))
    if len(data) < offset + struct.calcsize(layout):
        return 0
    return int(struct.unpack_from(layout, data, offset)[0])


def slides(markdown: str) -> list[str]:
    """Split xberg's Markdown of a presentation into slides, and label speaker notes."""
    found: list[list[str]] = [[]]
    for line in _NOTES.sub("Notes: ", markdown).split("\n"):
        if line == xberg_text.RULE:
            found.append([])
        else:
            found[-1].append(line)
    parts = ["\n".join(slide).strip("\n") for slide in found]
    parts = parts[1:] if len(parts) > 1 and not parts[0] else parts
    return [numbered_slide(part, number) for number, part in enumerate(parts, start=1)]
