"""Reads the text of an OpenDocument paragraph."""

from dataclasses import dataclass, field

from lxml import etree

from ingest.formats.common.links import link, web_address
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.blocks import comment_text, one_line
from ingest.formats.office.xml_tree import attribute, child, local
from ingest.formats.opendocument.styles import OdfStyle, OdfStyles, style_of

_SKIPPED = frozenset(
    {"bookmark", "reference-mark", "tracked-changes", "ruby-text", "note-citation", "script"}
    | {"sequence-decls", "forms", "hidden-text", "page-thumbnail"}
)
_SHAPES = frozenset(
    {"frame", "custom-shape", "rect", "ellipse", "circle", "line", "polygon", "path", "g"}
)
_MARKS = {"raised": raised, "lowered": lowered}
_DEEP = 50  # nested spans


@dataclass(slots=True)
class OdfNotes:
    """Foot- and endnotes in document order."""

    texts: list[str] = field(default_factory=list)

    def blocks(self) -> list[str]:
        """The notes as Markdown footnotes."""
        return [f"[^{number}]: {text}" for number, text in enumerate(self.texts, start=1) if text]


@dataclass(slots=True)
class OdfInline:
    """Content of one paragraph."""

    pieces: list[str] = field(default_factory=list)
    shapes: list[etree._Element] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    hidden: int = 0
    """Number of hidden characters."""
    faint: int = 0
    """Number of white-on-white characters."""

    @property
    def text(self) -> str:
        """The visible text; line breaks are newlines."""
        return written_out("".join(self.pieces))


def read_inline(
    paragraph: etree._Element,
    styles: OdfStyles,
    notes: OdfNotes,
    *,
    drop_faint: bool,
    may_be_faint: bool,
) -> OdfInline:
    """Read one paragraph. `may_be_faint`: its background is the bare page."""
    style = styles.of(paragraph)
    reader = _InlineReader(styles, notes, OdfInline(), drop_faint=drop_faint)
    reader.walk(paragraph, style, may_be_faint and not style.has_background, 0)
    return reader.found


@dataclass(slots=True)
class _InlineReader:
    styles: OdfStyles
    notes: OdfNotes | None
    """None inside a note or comment: those in it are part of its own text."""
    found: OdfInline
    drop_faint: bool

    def walk(self, parent: etree._Element, style: OdfStyle, may_be_faint: bool, depth: int) -> None:
        """Read text and children of an element; `style` is the innermost one that applies."""
        self._put(parent.text or "", style, may_be_faint)
        for item in parent:
            if depth < _DEEP:
                self._item(item, style, may_be_faint, depth)
            else:
                self._put("".join(item.itertext()), style, may_be_faint)
            self._put(item.tail or "", style, may_be_faint)

    def _item(self, item: etree._Element, style: OdfStyle, may_be_faint: bool, depth: int) -> None:
        name = local(item)
        if name == "s":
            self._put(" ", style, False)  # one space for any count
        elif name in ("tab", "line-break"):
            self._put(" " if name == "tab" else "\n", style, False)
        elif name == "note":
            self._note(child(item, "note-body"))
        elif name == "annotation":
            if self.notes is not None:
                self.found.comments.append(comment(item, self.styles))
        elif name == "fieldmark":
            self._put(_chosen(item), style, False)
        elif name in _SHAPES:
            self.found.shapes.append(item)
        elif name not in _SKIPPED:
            has_own = name == "span" and style_of(item) is not None
            inner = self.styles.of(item) if has_own else style
            start = len(self.found.pieces)
            self.walk(item, inner, may_be_faint and not inner.has_background, depth + 1)
            if name == "a":
                self._link(start, attribute(item, "href") or "")

    def _note(self, body: etree._Element | None) -> None:
        if self.notes is not None:
            self.notes.texts.append("" if body is None else _flat(body, self.styles))
            self.found.pieces.append(f"[^{len(self.notes.texts)}]")

    def _put(self, text: str, style: OdfStyle, may_be_faint: bool) -> None:
        if style.is_hidden:
            self.found.hidden += len(text)
            return
        if may_be_faint and style.is_white:
            self.found.faint += len(text)
            if self.drop_faint:
                return
        mark = _MARKS.get(style.position or "")
        self.found.pieces.append(text if mark is None else mark(text))

    def _link(self, start: int, address: str) -> None:
        text = "".join(self.found.pieces[start:])
        self.found.pieces[start:] = [link(text, web_address(address))]


def _chosen(field_mark: etree._Element) -> str:
    """What a check box or list of a form from Word shows."""
    stated = [
        (attribute(item, "name") or "", attribute(item, "value") or "")
        for item in field_mark.iterchildren("{*}param")
    ]
    values = dict(stated)
    if (attribute(field_mark, "type") or "").endswith("FORMCHECKBOX"):
        return "[x]" if values.get("Checkbox_Checked") == "true" else "[ ]"
    entries = [value for name, value in stated if name == "Dropdown_ListEntry"]
    number = values.get("Dropdown_Selected", "0")
    return entries[int(number)] if number.isdecimal() and int(number) < len(entries) else ""


def comment(annotation: etree._Element, styles: OdfStyles) -> str:
    """`Comment by author: text`, empty if it has no text."""
    author = child(annotation, "creator")
    text = _flat(annotation, styles)
    return comment_text((author.text or "").strip() if author is not None else None, text)


def _flat(element: etree._Element, styles: OdfStyles) -> str:
    """All text on one line, paragraphs separated by spaces."""
    texts = []
    for paragraph in element.iter("{*}p", "{*}h"):
        reader = _InlineReader(styles, None, OdfInline(), drop_faint=False)
        reader.walk(paragraph, styles.of(paragraph), False, 0)
        texts.append(reader.found.text)
    return one_line(" ".join(texts))
