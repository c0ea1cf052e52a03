"""XML documents as Markdown: headings, paragraphs, lists, tables, captions, references."""

from collections.abc import Iterable
from typing import Any

from lxml import etree

from ingest.formats.common.markdown import table
from ingest.formats.common.markdown_writer import Lines
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.html.formulas.mathml import math_text
from ingest.formats.office.xml_tree import local
from ingest.formats.xml import front_matter, names
from ingest.formats.xml.table_rows import table_rows
from ingest.optional_steps import attempt, improve

_DEEPEST = 60  # levels of nested elements; deeper ones become running text
_CODE_FENCE = "````"


def write(root: etree._Element, out: Lines) -> tuple[str | None, dict[str, Any]]:
    """Write the whole document. Returns its title and metadata."""
    authors = improve("front_matter", lambda: front_matter.authors(root), otherwise=list[str])
    front = improve("front_matter", lambda: front_matter.take_front(root), otherwise=dict[str, str])
    attempt("tidying", lambda: _mark_raised(root))
    writer = _ArticleWriter(root, out, front)
    writer.children(root, level=1, depth=0)
    known = {"author": ", ".join(authors), "journal": front.get("Journal"), "doi": front.get("DOI")}
    known["date"] = front.get("Published")
    return writer.title, {key: value for key, value in known.items() if value}


class _ArticleWriter:
    def __init__(self, root: etree._Element, out: Lines, front: dict[str, str]) -> None:
        self._out = out
        self._front = front
        self._holders = _with_blocks(root)
        self.title: str | None = None

    def children(self, element: etree._Element, *, level: int, depth: int) -> None:
        """Write the blocks of an element; content between them becomes a paragraph."""
        inline: list[str] = [element.text or ""]
        for child in element:
            name = local(child)
            if name in names.TECHNICAL:
                inline.append(child.tail or "")
                continue
            if name and (name in names.BLOCKS or child in self._holders):
                self._paragraph(inline)
                inline = []
                self._block(child, name, level=level, depth=depth + 1)
            elif name and not element_is_inline(name) and not _has_own_text(element):
                self._paragraph(inline)
                self._paragraph([flow(child)])
                inline = []
            else:
                inline.append(_marked_flow(child) if name else "")
            inline.append(child.tail or "")
        self._paragraph(inline)

    def _block(self, element: etree._Element, name: str, *, level: int, depth: int) -> None:
        if depth > _DEEPEST:
            self._paragraph([flow(element)])
        elif name in names.TITLES:
            self._titled(element, level)
        elif name in names.SECTIONS:
            self._section(element, level=level, depth=depth)
        elif name in names.CODE:
            text = "".join(element.itertext()).strip("\n")
            self._out.block(f"{_CODE_FENCE}\n{text}\n{_CODE_FENCE}" if text.strip() else "")
        elif name in names.TABLES:
            improve(
                "tables",
                lambda: self._table(element),
                otherwise=lambda: self._paragraph([flow(element)]),
            )
        elif name in names.CAPTIONED:
            self._captioned(element)
        elif name in names.ITEMS:
            self._out.item([text] if (text := flow(element)) else [])
        elif name in names.LISTS:
            self._list(element)
        else:
            if name in names.ADMONITIONS and element.find("{*}title") is None:
                self._paragraph([f"{name.capitalize()}:"])
            self.children(element, level=level, depth=depth)

    def _titled(self, element: etree._Element, level: int) -> None:
        if self.title and local(element.getparent()) in names.BOXES:
            self._paragraph([f"**{flow(element)}**"])
        else:
            self._heading(max(2, level) if self.title else 1, flow(element))

    def _section(self, element: etree._Element, *, level: int, depth: int) -> None:
        title = next((child for child in element if local(child) in names.TITLES), None)
        if title is not None:
            label = next(element.iterfind("{*}label"), element.find("{*}num"))
            heading = " ".join(flow(part) for part in (label, title) if part is not None)
            is_title = self.title is None
            self._heading(1 if is_title else level + 1, heading)
            level -= is_title
            for part in (label, title):
                if part is not None:
                    _remove(part)
        elif local(element) == "abstract":
            self._heading(level + 1, "Abstract")
        self.children(element, level=min(level + 1, 5), depth=depth)

    def _heading(self, level: int, title: str) -> None:
        self._out.heading(level, title)
        if title and self.title is None:
            self.title = title
            self._out.item(f"{name}: {value}" for name, value in self._front.items())
            self._out.gap()

    def _list(self, element: etree._Element) -> None:
        """Write the children in order, each as one item without nesting; titles as paragraphs."""
        self._out.gap()
        for child in element:
            name = local(child)
            if name in names.TITLES:
                self._paragraph([flow(child)])
            elif name and (text := _entry(child)):
                self._out.item([text])
        self._out.gap()

    def _captioned(self, element: etree._Element) -> None:
        """Label and caption in one paragraph, then their table."""
        tables = list(element.iter("{*}table", "{*}informaltable", "{*}tgroup"))
        rows = [table_rows(part, flow) for part in tables[:1]]
        for part in tables:
            _remove(part)
        self._paragraph([flow(element)])
        for found in rows:
            self._out.block(table(found))

    def _table(self, element: etree._Element) -> None:
        for child in element:
            if local(child) in names.TABLE_TEXTS:
                self._paragraph([flow(child)])
        self._out.block(table(table_rows(element, flow)))

    def _paragraph(self, pieces: Iterable[str]) -> None:
        text = " ".join(written_out("".join(pieces)).split())
        if text:
            self._out.gap()
            self._out.text(text)
            self._out.gap()


def flow(element: etree._Element) -> str:
    """The text of an element on one line; spaces separate elements that are not inline."""
    return written_out(_marked_flow(element))


def _marked_flow(element: etree._Element) -> str:
    pieces: list[str] = []
    walker = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, node in walker:
        name = local(node)
        gap = "" if element_is_inline(name) else " "
        if event == "start":
            if name in names.SKIPPED:
                walker.skip_subtree()
            else:
                pieces += [gap, node.text or ""]
            continue
        tail = (node.tail or "") if node is not element else ""
        pieces += [gap if event == "end" else "", tail]
    return " ".join("".join(pieces).split())


def element_is_inline(name: str) -> bool:
    """Whether an element is markup within words or sentences."""
    return name in names.INLINE


def _entry(item: etree._Element) -> str:
    """An item; the terms of a definition stand in front of it."""
    terms = [flow(child) for child in item if local(child) in names.TERMS]
    if not terms:
        return flow(item)
    rest = [flow(child) for child in item if local(child) and local(child) not in names.TERMS]
    return f"{', '.join(terms)}: {' '.join(rest)}".rstrip(": ")


def _mark_raised(root: etree._Element) -> None:
    """Mark super- and subscripts, also those of formulas, so that 10 to the third is not 103."""
    for element in root.iter("{*}sup", "{*}superscript", "{*}sub", "{*}subscript"):
        if not len(element) and element.text:
            is_high = local(element).startswith("sup")
            element.text = raised(element.text) if is_high else lowered(element.text)
    for formula in list(root.iter("{*}math")):
        _set_text(formula, math_text(formula))
    for formula in list(root.iter("{*}tex-math")):
        around = formula.getparent()
        if around is not None and next(around.iter("{*}math"), None) is None:
            whole = formula.text or ""
            _, begin, body = whole.partition("\\begin{document}")
            tex = body.partition("\\end{document}")[0] if begin else whole
            _set_text(formula, " ".join(tex.strip("$ \n\t").split()))
            formula.tag = "named-content"


def _set_text(formula: etree._Element, text: str) -> None:
    tail = formula.tail
    formula.clear()
    formula.text, formula.tail = text, tail


def _with_blocks(root: etree._Element) -> set[etree._Element]:
    """Elements that contain blocks at any depth."""
    found: set[etree._Element] = set()
    for element in root.iter():
        if local(element) in names.BLOCKS:
            for holder in element.iterancestors():
                if holder in found:
                    break
                found.add(holder)
    return found


def _has_own_text(element: etree._Element) -> bool:
    return bool((element.text or "").strip()) or any(
        (child.tail or "").strip() for child in element
    )


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        return
    tail = element.tail or ""
    before = element.getprevious()
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(element)
