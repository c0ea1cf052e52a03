"""Replaces markup that the converter drops or garbles by markup that it keeps.

Formulas become text, captions and summaries paragraphs, definition lists plain lists; code keeps
its lines; layout tables are dissolved; cells that span rows or columns are repeated.
"""

from collections.abc import Callable, Iterator

from lxml import etree, html

from ingest.formats.html.tables import expand_spans

_TEX = etree.XPath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]/text()")
_ANNOTATIONS = etree.XPath(".//*[starts-with(local-name(), 'annotation')] | .//rp")
_OPERATORS = {"msup": "^", "msub": "_", "mfrac": "/"}
_BLOCKS = {"p", "div", "ul", "ol", "table", "pre", "blockquote", "h1", "h2", "h3", "h4", "dl"}
_DISPLAY = "{\\displaystyle"
# Unclosed elements that contain the rest of the page; the converter would drop them.
_UNCLOSED = etree.XPath("//*[self::svg or self::iframe][.//p or .//div or .//li or .//h1]")
_LINKED_BLOCKS = ("h1", "h2", "h3", "h4", "h5", "h6", "p", "li", "blockquote")
_LISTS = etree.XPath("//dl[dt and not(*[not(self::dt or self::dd or self::script)])]")
_BARE_CODE = etree.XPath("//pre[not(.//code) and not(.//table)]")
_NEW_TAGS = {"details": "div", "figure": "div", "figcaption": "p"}


def tidy(tree: html.HtmlElement) -> None:
    """Change the page in place without losing text."""
    for element in list(tree.iter("math")):
        _replace_by_text(element, _formula(element))
    for element in _BARE_CODE(tree):
        _wrap_content(element, "code")
    for element in list(tree.iter("sub", "sup", "rp")):
        element.drop_tag() if element.tag != "rp" else element.drop_tree()
    for element in list(tree.iter("summary")):
        _wrap_content(element, "strong")
        element.tag = "p"
    for element in [*_UNCLOSED(tree), *tree.iter(*_NEW_TAGS)]:
        element.tag = _NEW_TAGS.get(element.tag, "div")
    _each(tree, "caption", _move_before_table)
    for element in _LISTS(tree):
        _to_list(element)
    _each(tree, "a", _tidy_link)
    _each(tree, "table", _tidy_table)


def _each(tree: html.HtmlElement, tag: str, change: Callable[[html.HtmlElement], None]) -> None:
    for element in list(tree.iter(tag)):
        change(element)


def _formula(math: html.HtmlElement) -> str:
    """TeX if the page has it, else the letters and operators in order."""
    stated = _TEX(math)
    text = str(stated[0]) if stated else math.get("alttext") or ""
    if not text.strip():
        for element in _ANNOTATIONS(math):
            element.drop_tree()
        for element in math.iter(*_OPERATORS):
            if len(element) > 1:
                element[0].tail = _OPERATORS[element.tag]
        text = "".join(part.strip() for part in math.itertext())
    text = " ".join(text.split())
    if text.startswith(_DISPLAY) and text.endswith("}"):
        text = text[len(_DISPLAY) : -1].strip()
    return text


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
    blocks = list(link.iterdescendants(*_LINKED_BLOCKS))
    if not blocks:
        if not link.text_content().strip():
            link.attrib.pop("href", None)
        return
    address = link.attrib.pop("href", None)
    link.tag = "div"
    if address is not None:
        target = next((block for block in blocks if block.tag[0] == "h"), blocks[0])
        _wrap_content(target, "a")
        target[0].set("href", address)


def _to_list(definitions: html.HtmlElement) -> None:
    """Turn a `dl` into a list with one item per term, or run of terms, with its definitions."""
    definitions.tag = "ul"
    item = None
    after_term = False
    for child in list(definitions):
        is_term = child.tag == "dt"
        if item is None or (is_term and not after_term):
            item = etree.SubElement(definitions, "li")
        child.tag = "strong" if is_term else "span"
        child.tail = " "
        if after_term:
            item[-1].tail = " / " if is_term else ": "
        item.append(child)
        after_term = is_term


def _tidy_table(table: html.HtmlElement) -> None:
    if _is_layout(table):
        for part in [table, *_parts(table)]:
            _dissolve(part)
    else:
        expand_spans([part for part in _parts(table) if part.tag == "tr"])


def _dissolve(part: html.HtmlElement) -> None:
    """Turn the part into a block or paragraph, which the converter does not drop as decoration."""
    is_cell = part.tag in ("td", "th")
    holds_blocks = any(child.tag in _BLOCKS for child in part.iterdescendants(etree.Element))
    part.tag = "div" if holds_blocks or not is_cell else "p"
    if is_cell and holds_blocks and (part.text or "").strip():
        words = part.makeelement("p")
        words.text, part.text = part.text, None
        part.insert(0, words)


def _is_layout(table: html.HtmlElement) -> bool:
    """Whether it contains tables or headings, or one cell per row, instead of data."""
    if table.get("role") in ("presentation", "none"):
        return True
    if next(table.iterdescendants("table", "h1", "h2"), None) is not None:
        return True
    parts = list(_parts(table))
    rows = [part for part in parts if part.tag == "tr"]
    cells = [part for part in parts if part.tag in ("td", "th")]
    return len(cells) <= len(rows) and not any(cell.tag == "th" for cell in cells)


def _parts(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Rows, row groups and cells of a table, without those of nested tables."""
    for child in table:
        if child.tag in ("thead", "tbody", "tfoot", "tr"):
            yield child
            yield from _parts(child)
        elif child.tag in ("td", "th"):
            yield child
