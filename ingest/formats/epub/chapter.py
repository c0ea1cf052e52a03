"""One part of an e-book (XHTML) as Markdown; heading levels follow the table of contents."""

import re
from collections.abc import Sequence
from functools import partial

from lxml import etree
from lxml import html as lxml_html

from ingest.formats.common.markdown import shift_headings
from ingest.formats.encoding.decode import decode
from ingest.formats.epub.contents import TYPE, Entry
from ingest.formats.html.foot_notes import end_sections
from ingest.formats.html.fragment import html_tree, tree_markdown, whole_markdown
from ingest.formats.html.parse import ELEMENT_CLASSES
from ingest.optional_steps import attempt

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NOT_READ = frozenset({"pagebreak", "toc", "landmarks", "page-list", "loi", "lot", "cover"})
_NOTES = frozenset({"footnote", "endnote", "rearnote", "note", "footnotes", "endnotes"})
_INSIDE_OF_TEXT = frozenset({"p", "a", "span", "em", "strong", "b", "i", "small", "big", "font"})
_NEXT_HEADING = etree.XPath(
    "following::*[self::h1|self::h2|self::h3|self::h4|self::h5|self::h6][1]"
)
_OUTSIDE = re.compile(r"[A-Za-z][\w+.-]*:")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_INNER_LANGUAGES = ("{http://www.w3.org/1998/Math/MathML}*", "{http://www.w3.org/2000/svg}*")
"""Elements that pages have without a namespace."""
_FEW_LINKS = 5
_PAGE = 500  # characters beside links; a page with more has text of the book, too
_ALL_LINKS = 0.8  # share of link text in a page that is a table of contents


def read_chapter(
    data: bytes, entries: Sequence[Entry], *, is_aside: bool = False
) -> tuple[str, bool]:
    """Markdown of the part, empty for a table of contents, and whether it hides a sentence.

    `entries` are the entries of the table of contents that point into the part; `is_aside`: the
    book says that it is the cover or a table of contents.
    """
    text = decode(data)[0]
    tree = _tree(text)
    if tree is None:
        return whole_markdown(text)
    if _is_contents(tree, is_aside=is_aside):
        return "", False
    attempt("notes", partial(end_sections, tree))
    _prune(tree)
    shift = _place_headings(tree, entries)
    markdown, hides = tree_markdown(tree)
    return shift_headings(markdown, shift), hides


def _tree(text: str) -> lxml_html.HtmlElement | None:
    """The part's body, parsed as HTML if it is not XML; None if it is too deep for a tree."""
    text = _DECLARATION.sub("", text)
    parser = lxml_html.XHTMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    parser.set_element_class_lookup(ELEMENT_CLASSES)
    try:
        tree = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        tree = html_tree(text)
    if tree is None:
        return None
    lxml_html.xhtml_to_html(tree)
    for element in tree.iter(*_INNER_LANGUAGES):
        element.tag = etree.QName(element).localname
    etree.cleanup_namespaces(tree)
    return next(tree.iter("body"), tree)


def _prune(tree: lxml_html.HtmlElement) -> None:
    """Remove what is not text of the book; unhide notes that a click would show."""
    for element in list(tree.iter(etree.Element)):
        kinds = set((element.get(TYPE) or element.get("epub:type") or "").split())
        if kinds & _NOT_READ and element is not tree and element.getparent() is not None:
            element.drop_tree()
        elif kinds & _NOTES:
            element.attrib.pop("hidden", None)
            element.attrib.pop("style", None)
        elif "noteref" in kinds:
            element.set("role", "doc-noteref")
    for link in _inner_links(tree):  # such links work only inside the book
        del link.attrib["href"]


def _is_contents(tree: lxml_html.HtmlElement, *, is_aside: bool) -> bool:
    """Whether the part is the cover or a list of links to other parts: contents of EPUB 2."""
    if set((tree.get(TYPE) or "").split()) & _NOT_READ:
        return True
    links = _inner_links(tree)
    linked, length = sum(map(_length, links)), _length(tree)
    if is_aside and length - linked < _PAGE:
        return True
    return len(links) >= _FEW_LINKS and linked > _ALL_LINKS * length


def _inner_links(tree: lxml_html.HtmlElement) -> list[lxml_html.HtmlElement]:
    return [link for link in tree.iter("a") if not _OUTSIDE.match(link.get("href", "none:"))]


def _length(element: lxml_html.HtmlElement) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def _place_headings(tree: lxml_html.HtmlElement, entries: Sequence[Entry]) -> int:
    """By how many levels to lower the part's headings; adds headings if the part has none."""
    targets = {element.get("id") or element.get("name"): element for element in tree.iter()}
    levels = [int(heading.tag[1]) for heading in tree.iter(*_HEADINGS) if _length(heading)]
    for entry in entries:
        target = targets.get(entry.fragment) if entry.fragment else None
        if not levels:
            _set_heading(tree, target, entry)
        elif not entry.fragment:
            return entry.depth - min(levels)
        elif target is not None and (heading := _heading_at(target)) is not None:
            return entry.depth - int(heading.tag[1])
    return 0


def _heading_at(target: lxml_html.HtmlElement) -> lxml_html.HtmlElement | None:
    """The heading that a link points to: inside its target, or after an empty anchor."""
    inside = next(target.iter(*_HEADINGS), None)
    if inside is not None or _length(target):
        return inside
    return next(iter(_NEXT_HEADING(target)), None)


def _set_heading(
    tree: lxml_html.HtmlElement, target: lxml_html.HtmlElement | None, entry: Entry
) -> None:
    if not entry.title or (target is None and entry.fragment):
        return
    heading = tree.makeelement(f"h{min(entry.depth, len(_HEADINGS))}")
    heading.text = entry.title
    if target is None or target is tree:
        heading.tail, tree.text = tree.text, None
        tree.insert(0, heading)
        return
    while target.getparent() is not tree and target.getparent().tag in _INSIDE_OF_TEXT:
        target = target.getparent()
    target.addprevious(heading)
