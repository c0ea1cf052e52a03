"""Word 6 and 95 (.doc), read by us; PowerPoint 97 (.ppt) and RTF, read by xberg.

Not read: the structure of tables in .doc and .ppt (cells come as text), pictures, embedded
objects. Tracked deletions of Word 95 stay in the text. Hidden text is left out of RTF, and
reported. Speaker notes of a .ppt are at the end, because xberg does not say which slide they
belong to.
"""

import io
import re
import struct

import olefile

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile, present
from ingest.formats.common.markdown import numbered_slide, plain
from ingest.formats.office import word_95, xberg_text
from ingest.formats.office.ole_properties import summary
from ingest.formats.office.rtf_forms import write_choices
from ingest.formats.office.rtf_labels import close_groups, mark_labels, write_labels
from ingest.formats.office.rtf_notes import Notes, take_notes
from ingest.formats.office.rtf_raised import mark_raised, write_raised
from ingest.formats.office.rtf_repair import repair
from ingest.formats.office.rtf_tables import mark_merged, write_merged
from ingest.optional_steps import improve

_FIB_FLAGS = 0x0A  # offset in the stream WordDocument: File Information Block, [MS-DOC] 2.5.2
_FIB_ENCRYPTED = 0x0100
_USER_TOKEN = 12  # offset in the stream Current User: headerToken, [MS-PPT] 2.3.2
_TOKEN_ENCRYPTED = 0xF3D1C4DF
_HIDDEN = re.compile(rb"\\v1?(?![a-zA-Z0-9])([^{}]*)")
_CONTROL_WORD = re.compile(rb"\\[a-z]+-?\d* ?")
_WORD_95 = "word_95 2"
_RTF = f"{xberg_text.VERSION}, rtf 4"
_SENTENCE = 40  # characters; marks are shorter, instructions are not
_NOTES = re.compile(r"^\[\^\d+\]: ", re.MULTILINE)
_FIELD = re.compile(
    r"\b(?:TOC|TOA|INDEX|REF|PAGEREF|NOTEREF|STYLEREF|SEQ|XE|TC|DATE|TIME|PAGE|NUMPAGES|FILENAME"
    r'|MERGEFIELD|HYPERLINK|INCLUDEPICTURE)(?: +(?:"[^"\n]*"|[\w.]+))?'
    r'(?: *\\[a-zA-Z@*#!](?: +(?:"[^"\n]*"|MERGEFORMAT))?)+ ?'
)


def extract(source: InputFile) -> Extraction:
    """Extract one part; for a presentation, one part per slide. Raises Permanent `encrypted`."""
    data = source.stream.read()
    properties: dict[str, str] = {}
    old = None
    notes = Notes()
    if source.media_type != types.RTF:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            refuse_encrypted(ole)
            old = _word_95(ole)
            properties = improve("metadata", lambda: summary(ole), otherwise=dict)
    else:
        if not data.lstrip().startswith(b"{\\rtf"):
            data = b"{\\rtf1\\ansi " + data + b"}"
        data = improve("markup", lambda: repair(data), otherwise=lambda: data)
        data, notes = improve("notes", lambda: take_notes(data), otherwise=lambda: (data, Notes()))
        data = improve("forms", lambda: write_choices(data), otherwise=lambda: data)
        data = improve("tables", lambda: mark_merged(data), otherwise=lambda: data)
        data = improve("numbering", lambda: mark_labels(data), otherwise=lambda: data)
        data = improve("markup", lambda: mark_raised(data), otherwise=lambda: data)
        data = improve("layout", lambda: close_groups(data), otherwise=lambda: data)
    if old is not None:
        title = properties.pop("title", None)
        return Extraction(
            parts=[plain(old)], extractor=_WORD_95, title=title, metadata=dict(properties)
        )
    found = xberg_text.read(data, source.media_type)
    properties = found.properties | properties
    title = properties.pop("title", None) or found.title
    is_presentation = source.media_type == types.PPT
    hides = improve(
        "hidden_text", lambda: _has_hidden_text(data, source.media_type), otherwise=bool
    )
    text = improve(
        "notes", lambda: notes.write(found.text, _rtf_text), otherwise=lambda: found.text
    )
    return Extraction(
        parts=_parts(text, is_presentation=is_presentation),
        extractor=_RTF if source.media_type == types.RTF else xberg_text.VERSION,
        paged=is_presentation,
        title=title,
        metadata=dict(properties),
        warnings=present(hidden_text=hides),
    )


def _rtf_text(data: bytes) -> str:
    return xberg_text.read(data, types.RTF).text


def _word_95(ole: olefile.OleFileIO) -> str | None:
    """The text of a Word 6 or 95 document; None for all others."""
    if not ole.exists("WordDocument"):
        return None
    stream: bytes = ole.openstream("WordDocument").read()
    return word_95.read_text(stream) if word_95.is_word_95(stream) else None


def _parts(text: str, *, is_presentation: bool) -> list[str]:
    if is_presentation:
        return improve("layout", lambda: slides(text), otherwise=lambda: [text])
    text = improve("fields", lambda: without_fields(text), otherwise=lambda: text)
    text = improve("markup", lambda: write_raised(text), otherwise=lambda: text)
    text = improve("numbering", lambda: write_labels(text), otherwise=lambda: text)
    return [improve("tables", lambda: write_merged(text), otherwise=lambda: text)]


def refuse_encrypted(ole: olefile.OleFileIO) -> None:
    """Raise Permanent `encrypted` for a document or presentation with a password."""
    if (
        _flags(ole, "WordDocument", "<H", _FIB_FLAGS) & _FIB_ENCRYPTED
        or _flags(ole, "Current User", "<I", _USER_TOKEN) == _TOKEN_ENCRYPTED
        or ole.exists("EncryptedSummary")
    ):
        raise Permanent("The document is protected by a password.", code="encrypted")


def _has_hidden_text(data: bytes, media_type: str) -> bool:
    if media_type != types.RTF:
        return False
    return any(
        len(_CONTROL_WORD.sub(b"", match[1]).strip()) >= _SENTENCE
        for match in _HIDDEN.finditer(data)
    )


def _flags(ole: olefile.OleFileIO, stream: str, layout: str, offset: int) -> int:
    """Read a number from an OLE stream; 0 if the stream is missing or too short."""
    if not ole.exists(stream):
        return 0
    data = ole.openstream(stream).read(offset + struct.calcsize(layout))
    if len(data) < offset + struct.calcsize(layout):
        return 0
    return int(struct.unpack_from(layout, data, offset)[0])


def without_fields(text: str) -> str:
    """Remove field instructions, which xberg returns as text.

    `TOC \\o "1-3" \\h` is removed; a field name without a switch may be a word, and stays.
    """
    return _FIELD.sub("", text)


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
