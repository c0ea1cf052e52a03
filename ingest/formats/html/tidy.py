"""Replaces markup that the converter drops or garbles by markup that it keeps.

Formulas, pictures and boxes become text, captions and summaries paragraphs, definition lists plain
lists; code keeps its lines, while the lines of a paragraph are joined; layout tables are dissolved;
cells that span rows or columns are repeated.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from lxml import etree, html

from ingest.formats.html.by_name import ByName, used_names
from ingest.formats.html.checkboxes import write_checkboxes
from ingest.formats.html.code.blocks import tidy_code
from ingest.formats.html.equivalents import write_equivalents
from ingest.formats.html.foot_notes import end_sections
from ingest.formats.html.formulas.tex import formula
from ingest.formats.html.inline_elements import write_inline
from ingest.formats.html.inline_text import tidy_text
from ingest.formats.html.letter_order import resolve_overrides
from ingest.formats.html.pictures import write_alternative_texts
from ingest.formats.html.tables import (
    expand_spans,
    flatten_inner_tables,
    join_headers,
    separate_items,
)
from ingest.optional_steps import attempt

_BLOCKS = {"p", "div", "ul", "ol", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "dl"}
# Unclosed elements that contain the rest of the page; the converter would drop them.
_MAY_BE_UNCLOSED = ("svg", "iframe")
_HOLDS_BLOCKS = etree.XPath("boolean(.//p or .//div or .//li or .//h1)")
_LINKED_BLOCKS = ("h1", "h2", "h3", "h4", "h5", "h6", "p", "li", "blockquote")
_LISTS = etree.XPath(
    "//dl[.//dt and not(*[not(self::dt or self::dd or self::script or self::div[dt])])"
    " and not(div/*[not(self::dt or self::dd)])]"
)
_ENDS = tuple(".!?:;,")
# Links of MediaWiki, and what KaTeX draws beside its MathML.
_REPEATED = ByName(
    "//*[contains(concat(' ', @class, ' '), ' mw-editsection ')"
    " or contains(concat(' ', @class, ' '), ' katex-html ') and @aria-hidden]"
)
_SCRIPT = re.compile(r"\s*javascript:", re.IGNORECASE)
_LEVELS = frozenset("123456789")
_ARIA_HEADINGS = etree.XPath(
    "//*[@role='heading'][self::div or self::p or self::span]"
    "[not(.//p or .//h1 or .//h2 or .//h3 or .//h4 or .//h5 or .//h6 or .//ul or .//table)]"
)
"""Those with blocks of text in them are sections."""
_NEW_TAGS = {"details": "div", "figure": "div", "figcaption": "p"}
_NEW_TAGS |= dict.fromkeys(("meter", "progress", "output"), "span")  # the converter's blocks


def tidy(tree: html.HtmlElement) -> None:
    """Change the page in place without losing text."""
    used = used_names(tree)
    for element in list(tree.iter("math", "m:math", "mml:math")):
        _replace_by_text(element, formula(element))
    attempt("tidying", partial(tidy_code, tree, used))
    attempt("tidying", partial(write_equivalents, tree, used))
    attempt("notes", partial(end_sections, tree))
    for element in _REPEATED(tree, used):
        if element.getparent() is not None:
            element.drop_tree()
    steps = (
        partial(resolve_overrides, tree),
        partial(write_inline, tree, used),
        partial(tidy_text, tree, used),
        partial(write_alternative_texts, tree),
        partial(write_checkboxes, tree, used),
        partial(_name_headings, tree),
    )
    for step in steps:
        attempt("tidying", step)
    for element in list(tree.iter("summary")):
        _wrap_content(element, "strong")
        element.tag = "p"
    unclosed = filter(_HOLDS_BLOCKS, tree.iter(*_MAY_BE_UNCLOSED))
    for element in [*unclosed, *tree.iter(*_NEW_TAGS)]:
        element.tag = _NEW_TAGS.get(element.tag, "div")
    _each(tree, "caption", _move_before_table)
    for element in _LISTS(tree):
        _to_list(element)
    _each(tree, "a", _tidy_link)
    _each(tree, "table", _tidy_table)


def _name_headings(tree: html.HtmlElement) -> None:
    for element in _ARIA_HEADINGS(tree):
        level = element.get("aria-level", "")
        element.tag = f"h{min(level, '6')}" if level in _LEVELS else "h2"  # as browsers assume


def _each(tree: html.HtmlElement, tag: str, change: Callable[[html.HtmlElement], None]) -> None:
    for element in list(tree.iter(tag)):
        change(element)


def _replace_by_text(element: html.HtmlElement, text: str) -> None:
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "span", text, tail


def _wrap_content(element: html.HtmlElement, tag: str) -> None:
    wrapper = etree.SubElement(element, tag)
    wrapper.text, element.text = element.text, None
    for child in element[:-1]:
        wrapper.append(child)


def _move_before_table(caption: html.HtmlElement) -> None:
    table = next(caption.iterancestors("table"), None)
    if table is None or table.getparent() is None:
        return
    caption.tail = None
    caption.tag = "p"
    table.addprevious(caption)


def _tidy_link(link: html.HtmlElement) -> None:
    """Move a link around blocks into their heading or first block; drop links without text.

    The converter would join the blocks into one line, and show the URL of a link without text.
    """
    if _SCRIPT.match(link.get("href") or ""):
        del link.attrib["href"]
    blocks = list(link.iterdescendants(*_LINKED_BLOCKS)) if len(link) else []
    if not blocks:
        if not link.text_content().strip():
            link.attrib.pop("href", None)
        return
    address = link.attrib.pop("href", None)
    link.tag = "div"
    if address is not None:
        words = [block for block in blocks if "data-picture" not in block.attrib] or blocks
        target = next((block for block in words if block.tag[0] == "h"), words[0])
        _wrap_content(target, "a")
        target[0].set("href", address)


def _to_list(definitions: html.HtmlElement) -> None:
    """Turn a `dl` into a list with one item per term, or run of terms, with its definitions."""
    definitions.tag = "ul"
    groups = list(definitions.iterchildren("div"))
    children = [
        part for child in definitions for part in (child if child.tag == "div" else (child,))
    ]
    item = None
    after_term = False
    for child in children:
        is_term = child.tag == "dt"
        if item is None or (is_term and not after_term):
            item = etree.SubElement(definitions, "li")
        child.tag = "strong" if is_term else "span"
        child.tail = " "
        if after_term:
            has_colon = item[-1].text_content().rstrip().endswith(":")
            item[-1].tail = " / " if is_term else " " if has_colon else ": "
        elif len(item) and not item[-1].text_content().rstrip().endswith(_ENDS):
            item[-1].tail = "; "
        item.append(child)
        after_term = is_term
    for group in groups:
        definitions.remove(group)


def _tidy_table(table: html.HtmlElement) -> None:
    parts = list(_parts(table))
    rows = [part for part in parts if part.tag == "tr"]
    cells = [part for part in parts if part.tag in ("td", "th")]
    if _is_layout(table, rows, cells):
        for part in [table, *parts]:
            _dissolve(part)
    else:
        for cell in cells:
            separate_items(cell)
        expand_spans(rows)
        join_headers(table, rows)


def _dissolve(part: html.HtmlElement) -> None:
    """Turn the part into a block or paragraph, which the converter does not drop as decoration."""
    is_cell = part.tag in ("td", "th")
    holds_blocks = any(child.tag in _BLOCKS for child in part.iterdescendants(etree.Element))
    part.tag = "div" if holds_blocks or not is_cell else "p"
    if is_cell and holds_blocks and (part.text or "").strip():
        words = part.makeelement("p")
        words.text, part.text = part.text, None
        part.insert(0, words)


def _is_layout(
    table: html.HtmlElement, rows: list[html.HtmlElement], cells: list[html.HtmlElement]
) -> bool:
    """Whether it contains tables or headings, or one cell per row, instead of data.

    Small tables inside a table with a header become text.
    """
    if table.get("role") in ("presentation", "none"):
        return True
    if next(table.iterdescendants("h1", "h2"), None) is not None:
        return True
    has_header = any(cell.tag == "th" for cell in cells)
    if next(table.iterdescendants("table"), None) is not None:
        return not (has_header and flatten_inner_tables(rows))
    return len(cells) <= len(rows) and not has_header


def _parts(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Rows, row groups and cells of a table, without those of nested tables."""
    for child in table:
        if child.tag in ("thead", "tbody", "tfoot", "tr"):
            yield child
            yield from _parts(child)
        elif child.tag in ("td", "th"):
            yield child
