"""RTF, read by xberg after what it misreads was rewritten or taken out.

Hidden text is left out, and reported. Embedded files become members. Not read: pictures.
"""

import re
from typing import Final

from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.office import xberg_text
from ingest.formats.office.rtf import objects as rtf_objects
from ingest.formats.office.rtf.drawn import write_drawn
from ingest.formats.office.rtf.forms import write_choices
from ingest.formats.office.rtf.labels import close_groups, mark_labels, write_labels
from ingest.formats.office.rtf.notes import Notes, take_notes
from ingest.formats.office.rtf.raised import mark_raised, write_raised
from ingest.formats.office.rtf.repair import repair
from ingest.formats.office.rtf.tables import mark_merged, write_merged
from ingest.optional_steps import improve

_VERSION: Final = f"{xberg_text.VERSION}, rtf 6"
_CODE_PAGE: Final = re.compile(rb"\\ansicpg\d{1,5}")
_HEAD: Final = 200  # bytes in which a file says its code page
_HIDDEN: Final = re.compile(rb"\\v1?(?![a-zA-Z0-9])([^{}]*)")
_CONTROL_WORD: Final = re.compile(rb"\\[a-z]+-?\d* ?")
_SENTENCE: Final = 40  # characters; marks are shorter, instructions are not
_FIELD: Final = re.compile(
    r"\b(?:TOC|TOA|INDEX|REF|PAGEREF|NOTEREF|STYLEREF|SEQ|XE|TC|DATE|TIME|PAGE|NUMPAGES|FILENAME"
    r'|MERGEFIELD|HYPERLINK|INCLUDEPICTURE)(?: +(?:"[^"\n]*"|[\w.]+))?'
    r'(?: *\\[a-zA-Z@*#!](?: +(?:"[^"\n]*"|MERGEFORMAT))?)+ ?'
)


def extract(source: InputFile) -> Extraction:
    """Extract one part."""
    data = source.stream.read()
    if not data.lstrip().startswith(b"{\\rtf"):
        data = b"{\\rtf1\\ansi " + data + b"}"
    data, objects = improve(
        "attachments",
        lambda: rtf_objects.take_objects(data),
        otherwise=lambda: (data, list[bytes]()),
    )
    has_too_many = len(objects) > rtf_objects.MOST
    del objects[rtf_objects.MOST :]
    attachments = improve(
        "attachments",
        lambda: rtf_objects.hand_over(objects, source.members),
        otherwise=list[dict[str, object]],
    )
    data = improve("markup", lambda: repair(data), otherwise=lambda: data)
    data = improve("graphics", lambda: write_drawn(data), otherwise=lambda: data)
    data, notes = improve("notes", lambda: take_notes(data), otherwise=lambda: (data, Notes()))
    data = improve("forms", lambda: write_choices(data), otherwise=lambda: data)
    data = improve("tables", lambda: mark_merged(data), otherwise=lambda: data)
    data = improve("numbering", lambda: mark_labels(data), otherwise=lambda: data)
    data = improve("markup", lambda: mark_raised(data), otherwise=lambda: data)
    data = improve("layout", lambda: close_groups(data), otherwise=lambda: data)
    found = xberg_text.read(data, types.RTF)
    hides = improve("hidden_text", lambda: _has_hidden_text(data), otherwise=bool)
    text = improve("notes", lambda: notes.write(found.text, _text), otherwise=lambda: found.text)
    text = improve("fields", lambda: without_fields(text), otherwise=lambda: text)
    text = improve("markup", lambda: write_raised(text), otherwise=lambda: text)
    text = improve("numbering", lambda: write_labels(text), otherwise=lambda: text)
    text = improve("tables", lambda: write_merged(text), otherwise=lambda: text)
    properties = improve(
        "metadata", lambda: _properties(found, data), otherwise=lambda: dict(found.properties)
    )
    return Extraction(
        parts=["\n\n".join([text, *rtf_objects.charts(objects)])],
        extractor=_VERSION,
        title=properties.pop("title", None) or found.title,
        metadata=properties | filled(attachments=attachments),
        warnings=present(hidden_text=hides, attachments_not_kept=has_too_many),
    )


def _properties(found: xberg_text.XbergText, data: bytes) -> dict[str, str]:
    """The title and the properties with their letters, which xberg leaves as RTF has them."""
    stated = found.properties | filled(title=found.title)
    code_page = _CODE_PAGE.search(data, 0, _HEAD)
    head = b"{\\rtf1\\ansi%s " % (code_page[0] if code_page else b"")
    return {
        key: _text(head + value.encode() + b"}") if "\\" in value and value.isascii() else value
        for key, value in stated.items()
    }


def _text(data: bytes) -> str:
    return xberg_text.read(data, types.RTF).text


def _has_hidden_text(data: bytes) -> bool:
    return any(
        len(_CONTROL_WORD.sub(b"", match[1]).strip()) >= _SENTENCE
        for match in _HIDDEN.finditer(data)
    )


def without_fields(text: str) -> str:
    """Remove field instructions, which xberg returns as text.

    `TOC \\o "1-3" \\h` is removed; a field name without a switch may be a word, and stays.
    """
    return _FIELD.sub("", text)
