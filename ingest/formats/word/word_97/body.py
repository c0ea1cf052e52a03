"""Writes the text of a Word 97 document as a tree of WordprocessingML."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lxml import etree

from ingest.formats.office.xml_tree import storable
from ingest.formats.word.word_97 import properties as known
from ingest.formats.word.word_97.file import (
    ENDNOTE_MARKS,
    FOOTNOTE_MARKS,
    SHAPES,
    TEXT_BOXES,
    WordFile,
    in_order,
)
from ingest.formats.word.word_97.forms import read_form
from ingest.formats.word.word_97.properties import Formats, Properties, is_on, number
from ingest.formats.word.word_97.styles import Styles
from ingest.formats.word.word_97.tables import TableReader
from ingest.formats.word.word_97.tree import add, element
from ingest.optional_steps import improve

_MARKS = re.compile("[\r\x07\x0c]")
_SECTION_OR_PAGE = "\x0c"
_SPECIAL = re.compile("[\x01-\x08\x0b\x0c\x0e\x13-\x15\x1e\x1f(]")
_DATA = "\x01"  # stands for a picture or the data of a form
_SYMBOL = "("  # stands for the character that a property states
_MARK = "\x02"  # of a note, which is counted
_BREAKS = ("\x0b", "\x0c", "\x0e")
_HYPHEN = "\x1e"
_FIELDS = {"\x13": "begin", "\x14": "separate", "\x15": "end"}
_MOST_LISTS = 0x7FE
_NO_LEVEL = 9
_RAISED = {1: "superscript", 2: "subscript"}
_NOWHERE = -1  # anchor of a box that is not of the body's shapes
_SHAPE_SIZE, _BOX_SIZE, _BOX_SHAPE = 26, 22, 14  # bytes; offset of the shape's number


@dataclass(slots=True)
class BodyReader:
    """Reads ranges of the text, each as the content of a container."""

    file: WordFile
    formats: Formats
    styles: Styles
    fonts: Mapping[int, str]
    leaves_out: bool = False
    """Whether text was deleted or hidden."""
    _notes: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Kind and id of the note that the character at a CP refers to."""
    _boxes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Ranges of text boxes by the CP of their anchor."""
    _own_marks: list[int] = field(default_factory=list)
    """CPs of the last characters of marks that are no numbers."""
    _anchors: list[int] = field(default_factory=list)
    _fields: list[bool] = field(default_factory=list)
    """Of the open fields, outermost first: whether their instruction goes on."""
    _begins: list[etree._Element] = field(default_factory=list)
    """Of the same fields: the marks of their begin."""

    def __post_init__(self) -> None:
        for kind, index in (("footnote", FOOTNOTE_MARKS), ("endnote", ENDNOTE_MARKS)):
            places, data = self.file.places(index, 2)
            self._notes |= {place: (kind, str(at)) for at, place in enumerate(places[: len(data)])}
        for anchor, start, end in _boxes(self.file):
            self._boxes.setdefault(anchor, []).append((start, end))
        text = self.file.text
        self._own_marks = sorted(
            place for place in self._notes if 0 <= place < len(text) and text[place] != _MARK
        )
        self._anchors = sorted(self._boxes)

    def read(self, start: int, end: int) -> etree._Element:
        """The paragraphs and tables of a range of CPs."""
        container = element("body")
        tables = TableReader(container)
        for first, stop in self._paragraphs(start, end):
            last = stop - 1
            mark = self.file.text[last]
            style, own = self.formats.paragraph(last)
            inherited = self.styles.get(style)
            level = number(own, known.OUTLINE_LEVEL)
            if level is None or level >= _NO_LEVEL:
                level = inherited.level
            stop -= _MARKS.match(mark) is not None
            tables.take(self._paragraph(first, stop, inherited.properties | own, level), own, mark)
            self._fields = [False] * len(self._fields)  # instructions are of one paragraph
        tables.close()
        return container

    def _paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """First CP and end of each paragraph, with its mark."""
        first = start
        for mark in _MARKS.finditer(self.file.text, start, end):
            if mark[0] != _SECTION_OR_PAGE or self.formats.ends_paragraph(mark.start()):
                yield first, mark.end()
                first = mark.end()
        if first < end:
            yield first, end

    def other_boxes(self) -> Iterator[etree._Element]:
        """The text boxes that no paragraph had: those in a line, or in a group of shapes."""
        for boxes in list(self._boxes.values()):
            for start, end in boxes:
                yield self.read(start, end)

    def _paragraph(
        self, start: int, end: int, properties: Properties, level: int | None
    ) -> etree._Element:
        paragraph = element("p")
        formed = add(paragraph, "pPr")
        if level is not None:
            add(formed, "outlineLvl", val=str(level))
        use = number(properties, known.LIST_USE) or 0
        if 0 < use <= _MOST_LISTS:
            listed = add(formed, "numPr")
            add(listed, "ilvl", val=str(number(properties, known.LIST_LEVEL) or 0))
            add(listed, "numId", val=str(use))
        for first, stop, changes in self.formats.runs(start, end):
            is_deleted = is_on(changes, known.IS_DELETED)
            if is_deleted or is_on(changes, known.IS_HIDDEN):
                self.leaves_out |= not self.file.text[first:stop].isspace()
            if not is_deleted:
                self._run(paragraph, first, stop, changes)
        self._add_boxes(paragraph, start, end + 1)
        return paragraph

    def _run(self, paragraph: etree._Element, start: int, end: int, changes: Properties) -> None:
        run = add(paragraph, "r")
        formed = add(run, "rPr")
        if is_on(changes, known.IS_HIDDEN):
            add(formed, "vanish")
        raised = _RAISED.get(number(changes, known.RAISED) or 0)
        if raised is not None:
            add(formed, "vertAlign", val=raised)
        text = self.file.text
        at = start
        for special in _SPECIAL.finditer(text, start, end):
            self._add_text(run, text[at : special.start()])
            at = special.end()
            self._add_special(run, special[0], special.start(), changes)
        self._add_text(run, text[at:end])
        for place in _between(self._own_marks, start, end):
            self._add_note(run, place)

    def _add_special(
        self, run: etree._Element, character: str, place: int, changes: Properties
    ) -> None:
        if character in _FIELDS:
            self._add_field(run, character)
        elif character in _BREAKS:
            add(run, "br")
        elif character == _DATA and any(self._fields) and known.PICTURE in changes:
            at = number(changes, known.PICTURE) or 0
            form = improve("forms", lambda: read_form(self.file.data, at), otherwise=lambda: None)
            if form is not None:
                self._begins[-1].append(form)
        elif character == _HYPHEN:
            self._add_text(run, "-")
        elif character == _SYMBOL:
            stated = changes.get(known.SYMBOL, b"")
            if len(stated) == 4:
                font = self.fonts.get(int.from_bytes(stated[:2], "little"), "")
                add(run, "sym", font=font, char=f"{int.from_bytes(stated[2:], 'little'):04X}")
            else:
                self._add_text(run, character)
        elif place in self._notes and character == _MARK:
            self._add_note(run, place)

    def _add_note(self, run: etree._Element, place: int) -> None:
        kind, key = self._notes[place]
        add(run, f"{kind}Reference", id=key)

    def _add_field(self, run: etree._Element, character: str) -> None:
        if character == "\x13":
            self._fields.append(True)
        elif not self._fields:
            return
        elif character == "\x14":
            self._fields[-1] = False
        else:
            self._fields.pop()
            self._begins.pop()
        mark = add(run, "fldChar", fldCharType=_FIELDS[character])
        if character == "\x13":
            self._begins.append(mark)

    def _add_text(self, run: etree._Element, text: str) -> None:
        if text:
            name = "instrText" if any(self._fields) else "t"
            add(run, name).text = storable(text.replace("\t", " "))

    def _add_boxes(self, paragraph: etree._Element, start: int, end: int) -> None:
        for anchor in _between(self._anchors, start, end):
            for first, last in self._boxes.pop(anchor, ()):
                content = self.read(first, last)
                content.tag = content.tag.replace("body", "txbxContent")
                add(add(paragraph, "r"), "pict").append(content)


def _between(places: Sequence[int], start: int, end: int) -> Sequence[int]:
    """Those of sorted places that are in a range."""
    return places[bisect_left(places, start) : bisect_left(places, end)]


def _boxes(file: WordFile) -> Iterator[tuple[int, int, int]]:
    """Anchor, start and end of each text box of the body, as CPs."""
    anchors, shapes = file.places(SHAPES, _SHAPE_SIZE)
    places = {shape[:4]: anchor for shape, anchor in zip(shapes, anchors, strict=False)}
    starts, boxes = file.places(TEXT_BOXES, _BOX_SIZE)
    ranges = pairwise(in_order(starts, file.parts.text_boxes))
    for box, (start, end) in zip(boxes, ranges, strict=False):
        anchor = places.get(box[_BOX_SHAPE : _BOX_SHAPE + 4], _NOWHERE)
        yield anchor, start, min(end, file.parts.header_text_boxes)
