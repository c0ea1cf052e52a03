"""Reads the text of a Word paragraph: runs, fields, links, inserted and hidden text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lxml import etree

from ingest.formats.common.links import link, web_address
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.field_results import result
from ingest.formats.office.omml import math_text
from ingest.formats.office.opc import Relation
from ingest.formats.office.symbol_fonts import glyph
from ingest.formats.office.xml_tree import attribute, child, is_on, local, number, value

_WRAPPERS = frozenset(
    {"ins", "moveTo", "smartTag", "customXml", "fldSimple", "dir", "bdo", "sdt", "sdtContent"}
    | {"ruby", "rubyBase"}
)
_BOXES = frozenset({"drawing", "pict", "object"})
_CHARACTERS = {"tab": " ", "cr": "\n", "noBreakHyphen": "-"}
_NESTED = 8  # open fields; links nested deeper stay text
_LONGEST = 10_000  # characters of an instruction, as far as it is kept
_TINY = 3  # half points
_WHITE = "FFFFFF"
_LINK = re.compile(r'^\s*HYPERLINK\s+"?((?:https?|mailto):[^"\s]+)', re.IGNORECASE)
_PAGE = re.compile(r"^\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
_COMPARES = re.compile(r"\s*(?:=|(?:IF|COMPARE|SET|NEXTIF|SKIPIF)(?![a-z\d]))", re.IGNORECASE)
_MARKS = {"superscript": raised, "subscript": lowered}


@dataclass(slots=True)
class WordInline:
    """Content of one paragraph."""

    pieces: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    """Text with the hidden attribute."""
    faint: list[str] = field(default_factory=list)
    """Text that is white or too small to read; also in `pieces`, unless `drop_faint`."""
    boxes: list[etree._Element] = field(default_factory=list)
    """Drawings, pictures and objects anchored here."""
    has_page_number: bool = False

    @property
    def text(self) -> str:
        """The visible text; line breaks are newlines."""
        return written_out("".join(self.pieces))


@dataclass(slots=True)
class _Field:
    """An open field: where it begins, its instruction, and where its stored result starts."""

    within: WordInline
    begin: int
    instruction: str = ""
    paragraph: WordInline | None = None
    start: int = 0

    def ask(self, text: str) -> None:
        """Add to the instruction."""
        if len(self.instruction) < _LONGEST:
            self.instruction += text


class Runs:
    """Reads paragraphs in document order, because a field may span several."""

    def __init__(self, relations: Mapping[str, Relation], *, drop_faint: bool) -> None:
        self._relations = relations
        self._drop_faint = drop_faint
        self._fields: list[_Field] = []
        self.notes: dict[tuple[str, str], int] = {}
        """Number of each referenced foot- or endnote, by kind and id."""

    def read(self, paragraph: etree._Element, *, may_be_faint: bool, is_hidden: bool) -> WordInline:
        """Read one paragraph. `may_be_faint`: the background is white."""
        found = WordInline()
        self._walk(paragraph, found, may_be_faint, is_hidden)
        return found

    def _walk(self, parent: etree._Element, found: WordInline, faint: bool, hidden: bool) -> None:
        for item in parent:
            name = local(item)
            if name == "r":
                self._run(item, found, faint, hidden)
            elif name == "hyperlink":
                before = len(found.pieces)
                self._walk(item, found, faint, hidden)
                self._link(found, before, self._address(item))
            elif name in ("oMath", "oMathPara"):
                found.pieces.append(math_text(item))
            elif name in _WRAPPERS:
                found.has_page_number |= _PAGE.match(value(item, "instr") or "") is not None
                self._walk(item, found, faint, hidden)

    def _run(self, run: etree._Element, found: WordInline, faint: bool, hidden: bool) -> None:
        properties = child(run, "rPr")
        stated = child(properties, "vanish")
        is_hidden = hidden if stated is None else is_on(stated)
        is_faint = faint and _is_faint(properties)
        mark = _MARKS.get(value(child(properties, "vertAlign")) or "", str)
        for item in run:
            name = local(item)
            if name in _BOXES:
                found.boxes.append(item)
            elif name in _WRAPPERS:
                self._walk(item, found, faint, hidden)
                self._reading(child(item, "rt"), found, faint, hidden)
            elif name == "fldChar":
                self._field(item, found)
            elif name == "instrText" and self._fields:
                self._fields[-1].ask(item.text or "")
            elif name in ("footnoteReference", "endnoteReference"):
                found.pieces.append(self._note(name.removesuffix("Reference"), item))
            else:
                self._put(mark(_plain(item, name)), found, is_hidden, is_faint)

    def _reading(
        self, reading: etree._Element | None, found: WordInline, faint: bool, hidden: bool
    ) -> None:
        """How a word is read, in parentheses behind it."""
        if reading is None:
            return
        before = len(found.pieces)
        self._walk(reading, found, faint, hidden)
        text = "".join(found.pieces[before:]).strip()
        found.pieces[before:] = [f"({text})"] if text else []

    def _put(self, text: str, found: WordInline, is_hidden: bool, is_faint: bool) -> None:
        if not text:
            return
        if is_hidden:
            found.hidden.append(text)
            return
        if is_faint:
            found.faint.append(text)
            if self._drop_faint:
                return
        found.pieces.append(text)

    def _field(self, item: etree._Element, found: WordInline) -> None:
        kind = value(item, "fldCharType")
        if kind == "begin":
            self._fields.append(_Field(found, len(found.pieces)))
            found.pieces.append(_chosen(child(item, "ffData")))
        elif kind == "separate" and self._fields:
            opened = self._fields[-1]
            opened.paragraph, opened.start = found, len(found.pieces)
            found.has_page_number |= _PAGE.match(opened.instruction) is not None
        elif kind == "end" and self._fields:
            ended = self._fields.pop()
            if ended.within is found and self._is_operand(found):
                del found.pieces[ended.begin :]
            elif ended.within is found and len(self._fields) < _NESTED:
                self._show(ended, found)

    def _show(self, ended: _Field, found: WordInline) -> None:
        """Make a link of the result of a field, or write a result that is not stored."""
        if not "".join(found.pieces[ended.begin :]):
            found.pieces.append(result(ended.instruction))
        match = _LINK.match(ended.instruction)
        if match and ended.paragraph is found:
            self._link(found, ended.start, web_address(match[1]))

    def _is_operand(self, found: WordInline) -> bool:
        """Whether the innermost open field only compares what the fields in it say."""
        if not self._fields:
            return False
        outer = self._fields[-1]
        return (
            outer.within is found
            and outer.paragraph is None
            and bool(_COMPARES.match(outer.instruction))
        )

    def _note(self, kind: str, item: etree._Element) -> str:
        key = (kind, value(item, "id") or "")
        return f"[^{self.notes.setdefault(key, len(self.notes) + 1)}]"

    def _address(self, item: etree._Element) -> str | None:
        relation = self._relations.get(attribute(item, "id") or "")
        if relation is None or not relation.is_external:
            return None
        return web_address(relation.target)

    @staticmethod
    def _link(found: WordInline, start: int, address: str | None) -> None:
        """Make a link of the pieces from `start` on."""
        found.pieces[start:] = [link("".join(found.pieces[start:]), address)]


def _plain(item: etree._Element, name: str) -> str:
    """The text of an element inside a run."""
    if name == "t":
        return item.text or ""
    if name == "br":
        return " " if value(item, "type") in ("page", "column") else "\n"
    if name == "sym":
        return _symbol(value(item, "font"), value(item, "char"))
    return _CHARACTERS.get(name, "")


def _chosen(form: etree._Element | None) -> str:
    """The state of a check box or list of a form; Word stores no text for them."""
    box = child(form, "checkBox")
    if box is not None:
        state = child(box, "checked")
        return "[x]" if is_on(child(box, "default") if state is None else state) else "[ ]"
    listed = child(form, "ddList")
    if listed is None:
        return ""
    entries = [value(entry) or "" for entry in listed.iterchildren("{*}listEntry")]
    at = number(child(listed, "result")) or number(child(listed, "default")) or 0
    return entries[at] if 0 <= at < len(entries) else ""


def _is_faint(properties: etree._Element | None) -> bool:
    if properties is None:
        return False
    size = number(child(properties, "sz"))
    if size is not None and size <= _TINY:
        return True
    if (value(child(properties, "color")) or "").upper() != _WHITE:
        return False
    return child(properties, "shd") is None and child(properties, "highlight") is None


def _symbol(font: str | None, code: str | None) -> str:
    """The character of a w:sym element; empty if its code is invalid or its glyph is unknown."""
    try:
        return glyph(font, int(code or "", 16))
    except ValueError:
        return ""
