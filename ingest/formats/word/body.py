"""Converts blocks of a Word document to Markdown: headings, lists, tables, text boxes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile

from lxml import etree

from ingest.formats.common.markdown import plain
from ingest.formats.office.blocks import DEEP, Block, HiddenText, cell_text, join_items, one_line
from ingest.formats.office.drawing_text import text_of
from ingest.formats.office.merged_cells import Covered, merged_table
from ingest.formats.office.xml_tree import child, is_on, local, number, value, words
from ingest.formats.word.numbering import Numbering
from ingest.formats.word.runs import Runs, WordInline
from ingest.formats.word.styles import PLAIN, WordStyle, WordStyles, own_level, own_numbering
from ingest.model import Step
from ingest.optional_steps import improve

_CONTAINERS = frozenset(
    {"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "sect", "sub-section"}
)
_STEPS: dict[str, Step] = {"p": "layout", "tbl": "tables", "altChunk": "graphics"}
_WIDEST = 63  # columns that a cell may span
_ITEM = re.compile(r"\d+[.)]")
_TEXT_BOX = "txbxContent"

Show = Callable[[etree._Element], list[str]]
"""Blocks of content in separate parts of the package: charts, diagrams, embedded texts."""


@dataclass(slots=True)
class WordBody:
    """Reads blocks in document order."""

    styles: WordStyles
    numbering: Numbering
    runs: Runs
    show: Show
    has_dark_page: bool = False
    hidden: HiddenText = field(default_factory=HiddenText)
    _pending: list[str] = field(default_factory=list)
    _depth: int = 0

    def read(self, container: etree._Element) -> list[str]:
        """Markdown blocks of a body, cell, text box or note; a list is one block."""
        blocks = join_items(self._blocks(container))
        if rest := "".join(self._pending).strip():
            blocks.append(plain(rest))
        self._pending.clear()
        return blocks

    def _blocks(self, container: etree._Element) -> Iterator[Block]:
        for item in container:
            name = local(item)
            if name in _CONTAINERS:
                yield from self._blocks(item)
            elif name in _STEPS:
                yield from improve(
                    _STEPS[name], partial(self._block, item, name), otherwise=partial(_plain, item)
                )

    def _block(self, item: etree._Element, name: str) -> list[Block]:
        if name == "p":
            return list(self._paragraph(item))
        return list(map(Block, (self._table if name == "tbl" else self.show)(item)))

    def _paragraph(self, paragraph: etree._Element) -> Iterator[Block]:
        properties = child(paragraph, "pPr")
        inline = self._inline(paragraph, properties)
        self._pending.append(inline.text)
        if child(child(properties, "rPr"), "del") is None:  # else the next one continues it
            text = "".join(self._pending)
            self._pending.clear()
            if text.strip():
                yield improve(
                    "styles",
                    lambda: self._formed(text, properties),
                    otherwise=lambda: Block(plain(text.strip())),
                )
        for box in inline.boxes:
            yield from map(Block, self._box(box))

    def _inline(self, paragraph: etree._Element, properties: etree._Element | None) -> WordInline:
        style = self._style(properties)
        is_shaded = style.is_shaded or child(properties, "shd") is not None
        inline = self.runs.read(
            paragraph,
            may_be_faint=not (is_shaded or self.has_dark_page or self._depth),
            is_hidden=style.is_hidden,
        )
        self.hidden.count(
            visible=len(inline.text),
            faint=sum(map(len, inline.faint)),
            hidden=sum(map(len, inline.hidden)),
        )
        return inline

    def _formed(self, text: str, properties: etree._Element | None) -> Block:
        style = self._style(properties)
        heading = own_level(properties) or style.level
        listed = style.numbering
        if (own := own_numbering(properties)) is not None:
            inherited = listed or (None, 0)
            listed = (own[0] or inherited[0], inherited[1] if own[1] is None else own[1])
        label = None if listed is None else self._label(*listed)
        if heading is not None and not self._depth:
            return Block(one_line(f"{'#' * heading} {label or ''} {text}"))
        if label is None or listed is None:
            return Block(plain(text.strip()))
        mark = label if _ITEM.fullmatch(label) else f"- {label}".rstrip()
        return Block(f"{mark} {one_line(text)}", listed[1])

    def _style(self, properties: etree._Element | None) -> WordStyle:
        name = value(child(properties, "pStyle"))
        return improve("styles", lambda: self.styles.get(name), otherwise=lambda: PLAIN)

    def _label(self, key: str | None, level: int) -> str | None:
        return improve(
            "numbering", lambda: self.numbering.label(key, level), otherwise=lambda: None
        )

    def _table(self, element: etree._Element) -> list[str]:
        """A Markdown table; a table of one cell is a frame, so its blocks are returned."""
        if self._depth >= DEEP:
            return [_flat(element)]
        rows = list(_inside(element, "tr"))
        cells = [list(_inside(row, "tc")) for row in rows]
        self._depth += 1
        try:
            if len(cells) == 1 and len(cells[0]) == 1:
                return self.read(cells[0][0])
            kept = [pair for pair in zip(rows, cells, strict=True) if _is_kept(pair[0])]
            return merged_table(
                [self._row(row, mine) for row, mine in kept],
                headers=sum(1 for _ in takewhile(_is_header, (row for row, _ in kept))),
            )
        finally:
            self._depth -= 1

    def _row(self, row: etree._Element, cells: list[etree._Element]) -> list[str | Covered]:
        before = number(child(child(row, "trPr"), "gridBefore")) or 0
        texts: list[str | Covered] = [""] * min(max(before, 0), _WIDEST)
        for cell in cells:
            properties = child(cell, "tcPr")
            merged = child(properties, "vMerge")
            is_continued = merged is not None and value(merged) in (None, "continue")
            covered = Covered.FROM_ABOVE if is_continued else Covered.FROM_LEFT
            texts.append(covered if is_continued else self._cell(cell))
            span = number(child(properties, "gridSpan")) or 1
            texts += [covered] * (min(max(span, 1), _WIDEST) - 1)
        return texts

    def _cell(self, cell: etree._Element) -> str:
        return cell_text(self.read(cell))

    def _box(self, box: etree._Element) -> Iterator[str]:
        """Blocks of a drawing: alternative text, text boxes, charts and diagrams."""
        if self._depth >= DEEP:
            yield _flat(box)
            return
        self._depth += 1
        try:
            description = _description(box)
            if description:
                yield plain(one_line(description))
            for content in _outermost(box, _TEXT_BOX):
                yield from self.read(content)
            yield from filter(None, map(plain, _drawn(box)))
            yield from improve("graphics", lambda: self.show(box), otherwise=list[str])
        finally:
            self._depth -= 1


def _plain(item: etree._Element) -> list[Block]:
    """Fallback: the words of a block whose structure cannot be read."""
    text = words(item).strip()
    return [Block(plain(text))] if text else []


def _inside(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    """Rows of a table or cells of a row, including those in wrapper elements."""
    for item in parent:
        if local(item) == name:
            yield item
        elif local(item) in _CONTAINERS:
            yield from _inside(item, name)


def _outermost(parent: etree._Element, name: str) -> Iterator[etree._Element]:
    for item in parent:
        if local(item) == name:
            yield item
        else:
            yield from _outermost(item, name)


def _is_kept(row: etree._Element) -> bool:
    properties = child(row, "trPr")
    return child(properties, "del") is None and not is_on(child(properties, "hidden"))


def _is_header(row: etree._Element) -> bool:
    """Whether the row is repeated on each page."""
    return is_on(child(child(row, "trPr"), "tblHeader"))


def _description(box: etree._Element) -> str:
    """The alternative text of a picture."""
    for item in box.iter("{*}docPr", "{*}shape"):
        found = item.get("descr") or item.get("alt")
        if found:
            return str(found)
    return ""


def _drawn(box: etree._Element) -> Iterator[str]:
    """Texts of WordArt, and of shapes in a canvas that was pasted from a slide."""
    for item in box.iter("{*}textpath"):
        yield one_line(item.get("string") or "")
    for body in _outermost(box, "txBody"):
        yield text_of(body).strip()


def _flat(element: etree._Element) -> str:
    return one_line(" ".join(item.text or "" for item in element.iter("{*}t")))
