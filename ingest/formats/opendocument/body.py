"""Converts blocks of OpenDocument files to Markdown: headings, lists, tables, frames."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from lxml import etree

from ingest.formats.common.markdown import plain
from ingest.formats.office.blocks import DEEP, Block, HiddenText, cell_text, join_items, one_line
from ingest.formats.office.merged_cells import Covered, merged_table
from ingest.formats.office.numbering import CountedList
from ingest.formats.office.xml_tree import attribute, local, natural
from ingest.formats.opendocument.inline import OdfInline, OdfNotes, read_inline
from ingest.formats.opendocument.numbering import OdfLists
from ingest.formats.opendocument.styles import PLAIN, OdfStyles, style_of
from ingest.model import Step
from ingest.optional_steps import improve

_PARAGRAPHS = frozenset({"p", "h"})
_CONTAINERS = frozenset(
    {"section", "index-body", "index-title", "table-of-content", "illustration-index"}
    | {"table-index", "object-index", "user-index", "alphabetical-index", "bibliography"}
    | {"numbered-paragraph", "text-box", "text", "change-region", "image"}
)
_ROW_GROUPS = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_HEADER_ROWS = "{*}table-header-rows"
_SHAPES = frozenset(
    {"frame", "custom-shape", "rect", "ellipse", "circle", "line", "polygon", "path", "connector"}
    | {"caption", "g", "a", "regular-polygon", "polyline"}
)
_STEPS: dict[str, Step] = {
    **dict.fromkeys(_PARAGRAPHS, "layout"),
    **dict.fromkeys(_SHAPES, "graphics"),
    "list": "numbering",
    "table": "tables",
}
_CELLS = ("{*}table-cell", "{*}covered-table-cell")
_DEEPEST_HEADING = 6
_ITEM = re.compile(r"\d+[.)]")
_MOST_REPEATED = 64  # copies of a repeated cell; more are useless

Show = Callable[[etree._Element], list[str]]
"""Blocks of an embedded object: a chart, an equation, a document."""


@dataclass(slots=True)
class OdfBody:
    """Reads blocks in document order."""

    styles: OdfStyles
    notes: OdfNotes
    show: Show
    drop_faint: bool = True
    hidden: HiddenText = field(default_factory=HiddenText)
    _depth: int = 0
    _comments: list[str] = field(default_factory=list)
    _lists: OdfLists = field(init=False)

    def __post_init__(self) -> None:
        self._lists = OdfLists(self.styles)

    def read(self, container: Iterable[etree._Element]) -> list[str]:
        """Markdown blocks of a text, cell or frame; a list is one block."""
        return join_items(self._blocks(container))

    def shape(self, shape: etree._Element) -> list[str]:
        """Blocks of a frame, a drawn shape or a group."""
        if self._depth >= DEEP:
            return _flat(shape)
        self._depth += 1
        try:
            return list(self._shape(shape))
        finally:
            self._depth -= 1

    def comments(self) -> list[str]:
        """Return and clear the comments read since the last call."""
        found, self._comments = self._comments, []
        return found

    def _blocks(self, container: Iterable[etree._Element]) -> Iterator[Block]:
        for item in container:
            name = local(item)
            if name == "section" and attribute(item, "display") == "none":
                self.hidden.count(hidden=len("".join(item.itertext())))
            elif name in _CONTAINERS:
                yield from self._blocks(item)
            elif name in _STEPS:
                yield from improve(
                    _STEPS[name],
                    partial(self._block, item, name),
                    otherwise=partial(_flat_block, item),
                )

    def _block(self, item: etree._Element, name: str) -> list[Block]:
        if name in _PARAGRAPHS:
            return list(self._paragraph(item))
        if name == "list":
            style = style_of(item)
            return list(self._list(item, style, 1, self._lists.open(item, style)))
        read = self._table if name == "table" else self.shape
        return list(map(Block, read(item)))

    def _paragraph(self, item: etree._Element, label: str | None = None) -> Iterator[Block]:
        """`label`: the number of a heading in a list."""
        style = improve("styles", lambda: self.styles.of(item), otherwise=lambda: PLAIN)
        inline = self._inline(item)
        text = inline.text.strip()
        level = style.title_level
        if local(item) == "h":
            stated = natural(item, "outline-level")
            level = 1 if stated is None else stated
            if label is None and text and not self._depth and not style.has_own_list:
                label = self._number(item, level)
        if text and level is not None and not self._depth:
            marks = "#" * max(1, min(level, _DEEPEST_HEADING))
            yield Block(one_line(f"{marks} {label or ''} {text}"))
        elif text:
            yield Block(plain(text))
        for shape in inline.shapes:
            yield from map(Block, self.shape(shape))

    def _inline(self, item: etree._Element) -> OdfInline:
        inline = read_inline(
            item, self.styles, self.notes, drop_faint=self.drop_faint, may_be_faint=not self._depth
        )
        self.hidden.count(visible=len(inline.text), faint=inline.faint, hidden=inline.hidden)
        self._comments += inline.comments
        return inline

    def _number(self, heading: etree._Element, level: int) -> str:
        return improve(
            "numbering", lambda: self._lists.heading(heading, level), otherwise=lambda: ""
        )

    def _list(
        self, element: etree._Element, style: str | None, level: int, counted: CountedList
    ) -> Iterator[Block]:
        if level > DEEP:
            yield from (Block(f"- {text}", level) for text in _flat(element))
            return
        start = natural(element, "start-value")
        for item in element:
            if local(item) not in ("list-item", "list-header"):
                continue
            lists = [piece for piece in item if local(piece) == "list"]
            pieces = [piece for piece in item if local(piece) != "list"]
            label: str | None = ""
            if local(item) == "list-item" and any(local(piece) in _PARAGRAPHS for piece in pieces):
                label = counted.label(level - 1, start or natural(item, "start-value"))
                start = None
            texts = []
            for piece in pieces:
                if local(piece) == "h":  # a numbered heading
                    yield from self._paragraph(piece, label or "")
                else:
                    texts += [block.text for block in self._blocks([piece])]
            if texts:
                yield Block(f"{_mark(label or '')} {one_line(' '.join(texts))}", level)
            for number, inner in enumerate(lists):
                if number and attribute(inner, "continue-numbering") != "true":
                    counted.restart_below(level - 1)
                yield from self._inner_list(inner, style, level + 1, counted)

    def _inner_list(
        self, element: etree._Element, style: str | None, level: int, counted: CountedList
    ) -> Iterator[Block]:
        own = style_of(element)
        outer = counted.levels
        if own is not None and own != style:
            deeper = self.styles.levels(own).items()
            counted.levels = outer | {depth: look for depth, look in deeper if depth >= level - 1}
        yield from self._list(element, own or style, level, counted)
        counted.levels = outer

    def _table(self, element: etree._Element) -> list[str]:
        """A Markdown table; a table of one cell is a frame, so its blocks are returned."""
        if self._depth >= DEEP:
            return _flat(element)
        self._depth += 1
        try:
            rows = list(_rows(element))
            cells = [
                list(row.iterchildren("{*}table-cell", "{*}covered-table-cell")) for row in rows
            ]
            if len(cells) == 1 and len(cells[0]) == 1:
                return self.read(cells[0][0])
            headers = sum(len(list(_rows(part))) for part in element.iterchildren(_HEADER_ROWS))
            return merged_table([self._row(mine) for mine in cells], headers=headers)
        finally:
            self._depth -= 1

    def _row(self, cells: list[etree._Element]) -> list[str | Covered]:
        texts: list[str | Covered] = []
        right = 0  # where the last cell ends that is merged over columns
        for cell in cells:
            count = _count(cell, "number-columns-repeated")
            if local(cell).startswith("covered"):
                for _ in range(count):
                    is_left = len(texts) < right
                    texts.append(Covered.FROM_LEFT if is_left else Covered.FROM_ABOVE)
            else:
                right = len(texts) + _count(cell, "number-columns-spanned")
                texts += [self._cell(cell)] * count
        return texts

    def _cell(self, cell: etree._Element) -> str:
        return cell_text(self.read(cell))

    def _shape(self, shape: etree._Element) -> Iterator[str]:
        for item in shape:
            name = local(item)
            if name in ("title", "desc"):
                if item.text and item.text.strip():
                    yield plain(one_line(item.text))
            elif name == "object":
                yield from improve("graphics", partial(self.show, item), otherwise=list[str])
            elif name == "table":
                yield from self._table(item)
            elif name in _SHAPES:
                yield from self.shape(item)
        yield from self.read(_without(shape, _SHAPES | {"table"}))


def _mark(label: str) -> str:
    if label.isdecimal():
        return f"{label}."
    return label if _ITEM.fullmatch(label) else f"- {label}".rstrip()


def _flat_block(item: etree._Element) -> list[Block]:
    """Fallback: the words of a block whose structure cannot be read."""
    return list(map(Block, _flat(item)))


def _without(shape: etree._Element, names: frozenset[str]) -> list[etree._Element]:
    return [item for item in shape if local(item) not in names]


def _count(cell: etree._Element, name: str) -> int:
    stated = attribute(cell, name) or "1"
    return max(1, min(int(stated), _MOST_REPEATED)) if stated.isdecimal() else 1


def _rows(element: etree._Element) -> Iterator[etree._Element]:
    for item in element:
        if local(item) == "table-row":
            yield item
        elif local(item) in _ROW_GROUPS:
            yield from _rows(item)


def _flat(element: etree._Element) -> list[str]:
    """The text on one line, without structure: for deep nesting, and as fallback."""
    text = one_line(" ".join(element.itertext()))
    return [plain(text)] if text else []
