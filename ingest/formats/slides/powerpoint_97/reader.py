"""PowerPoint 97 presentations (.ppt): one part per slide, as those of PowerPoint 2007 (pptx.py).

Read: titles, text, lists, tables, charts, WordArt, alternative text of pictures, footers once,
speaker notes, comments, hidden slides (listed in the metadata). Embedded documents become members.
Not read: text of masters, slide numbers and dates that PowerPoint fills in, pictures.
"""

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import olefile

from ingest.errors import Permanent
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.common.markdown import numbered_slide, plain
from ingest.formats.office import legacy
from ingest.formats.office.blocks import comment_text, one_line
from ingest.formats.office.ole_properties import summary
from ingest.formats.slides.powerpoint_97.file import PowerPointFile, SlideEntry, notes_key
from ingest.formats.slides.powerpoint_97.objects import EmbeddedObjects
from ingest.formats.slides.powerpoint_97.records import Record, children, first
from ingest.formats.slides.powerpoint_97.shapes import (
    Shape,
    embedding,
    has_picture,
    margin_texts,
    note_blocks,
    passages_of,
    shapes_of,
    slide_blocks,
)
from ingest.formats.slides.powerpoint_97.text import (
    COMMENT_TEXT,
    STRING,
    TAG_DATA,
    plain_texts,
)
from ingest.optional_steps import improve

_VERSION: Final = "powerpoint_97 2"
_SHOW, _HIDDEN = 0x03F9, 0x4
_MARGINS, _MARGIN_FLAGS = 0x0FD9, 0x0FDA
_OF_SLIDES: Final = 3
_SHOWN: Final = ((0x4, 0), (0x20, 2))
"""Flags and instances of a date that does not change, and of the footer."""
_TAGS, _TAG, _COMMENT, _AUTHOR = 0x1388, 0x138A, 0x2EE0, 0


def extract(source: InputFile) -> Extraction:
    """Extract one part per slide. Raises Permanent `encrypted` or `too_many_pages`."""
    data = source.stream.read()
    with olefile.OleFileIO(io.BytesIO(data)) as ole:
        legacy.refuse_encrypted(ole)
        found = improve("engine", lambda: _read(ole, source.max_pages), otherwise=lambda: None)
        attachments: list[dict[str, object]] = (
            []
            if found is None
            else improve(
                "attachments", lambda: found.objects.hand_over(source.members), otherwise=list
            )
        )
        if found is None or not any(found.parts):
            source.stream.seek(0)
            return legacy.extract(source).with_attachments(attachments)
        properties = improve("metadata", lambda: summary(ole), otherwise=dict[str, str])
    return Extraction(
        parts=[numbered_slide(text, number) for number, text in enumerate(found.parts, start=1)],
        extractor=_VERSION,
        paged=True,
        unread=frozenset(at for at in found.pictured if not found.parts[at].strip()),
        title=properties.pop("title", None),
        metadata=dict(properties)
        | filled(hiddenSlides=[at + 1 for at in found.hidden], attachments=attachments),
        warnings=present(hidden_slides=found.hidden),
    )


@dataclass(slots=True)
class _Presentation:
    file: PowerPointFile
    objects: EmbeddedObjects
    parts: list[str] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)
    pictured: list[int] = field(default_factory=list)
    margins: set[str] = field(default_factory=set)
    """Footers and dates that were shown."""


def _read(ole: olefile.OleFileIO, most: int) -> _Presentation:
    file = PowerPointFile(ole)
    slides = file.slides()
    if len(slides) > most:
        raise Permanent(
            f"The presentation has {len(slides)} slides; at most {most} are read.",
            code="too_many_pages",
        )
    notes = file.notes()
    objects = improve(
        "attachments", lambda: EmbeddedObjects(file), otherwise=lambda: EmbeddedObjects(None)
    )
    found = _Presentation(file, objects)
    for number, slide in enumerate(slides):
        found.parts.append("\n\n".join(_slide(slide, number, notes, found)))
    return found


def _slide(
    slide: SlideEntry, number: int, notes: Mapping[int, int], found: _Presentation
) -> Iterator[str]:
    record = found.file.object(slide.object)
    if record is None:
        yield from (block for text in slide.outline if (block := text.blocks()))
        return
    shapes = improve("layout", lambda: shapes_of(record, slide.outline), otherwise=lambda: None)
    if shapes is None:
        yield from (*plain_texts(record.data), *(plain(text.line()) for text in slide.outline))
        shapes = []
    if has_picture(shapes):
        found.pictured.append(number)
    for passage in passages_of(shapes):
        passage.addresses = found.objects.addresses
    for shape in embedding(shapes):
        shape.chart = improve(
            "graphics", partial(found.objects.chart, shape.embedded), otherwise=str
        )
    show = first(record.data, _SHOW)
    if show is not None and len(show.data) >= 12 and show.data[10] & _HIDDEN:
        found.hidden.append(number)
    yield from slide_blocks(shapes)
    yield from improve(
        "headers_footers", lambda: _margins(record, shapes, found), otherwise=list[str]
    )
    if (spoken := found.file.object(notes.get(notes_key(record), -1))) is not None:
        texts = improve(
            "notes",
            lambda: note_blocks(shapes_of(spoken, ())),
            otherwise=lambda: plain_texts(spoken.data),
        )
        if texts:
            yield "Notes: " + "\n\n".join(texts)
    tags = first(record.data, _TAGS)
    if tags is not None:
        yield from improve(
            "comments",
            lambda: list(_comments(tags)),
            otherwise=lambda: plain_texts(tags.data),
        )


def _margins(slide: Record, shapes: Sequence[Shape], found: _Presentation) -> list[str]:
    """The footer and the fixed date of a slide, unless they were shown before."""
    texts = [*margin_texts(shapes), *_stated_margins(slide, found.file.document)]
    fresh = [text for text in dict.fromkeys(texts) if text and text not in found.margins]
    found.margins.update(fresh)
    return [plain(text) for text in fresh]


def _stated_margins(slide: Record, document: Record) -> list[str]:
    """What the slide, or else the document, says about date and footer."""
    own = first(slide.data, _MARGINS)
    common = (
        record
        for record in children(document.data)
        if record.kind == _MARGINS and record.instance == _OF_SLIDES
    )
    margins = own or next(common, None)
    atom = first(margins.data, _MARGIN_FLAGS) if margins is not None else None
    if margins is None or atom is None or len(atom.data) < 4:
        return []
    (flags,) = struct.unpack_from("<2xH", atom.data)
    texts = _strings(margins)
    return [texts.get(instance, "") for flag, instance in _SHOWN if flags & flag]


def _strings(container: Record) -> dict[int, str]:
    """Texts on one line by their instances."""
    return {
        record.instance: one_line(record.data.decode("utf-16-le", "replace"))
        for record in children(container.data)
        if record.kind == STRING
    }


def _comments(tags: Record) -> Iterator[str]:
    for tag in children(tags.data):
        data = first(tag.data, TAG_DATA) if tag.kind == _TAG else None
        for record in children(data.data) if data is not None else ():
            if record.kind == _COMMENT:
                texts = _strings(record)
                text = comment_text(texts.get(_AUTHOR), texts.get(COMMENT_TEXT, ""))
                if text:
                    yield text
