"""Parses markup to a tree, as leniently as browsers do."""

import re
from collections import Counter
from html.parser import HTMLParser

from lxml import etree, html

_DEEP = 800  # levels; only unclosed tags reach so many
_HAS_LEVELS = etree.XPath(f"boolean({'/'.join(['*'] * 100)})")
_MOST_ATTRIBUTES = 20_000
_LONG = 40_000  # characters; a shorter tag cannot have too many attributes
_LONG_TAG = re.compile(rf"<([A-Za-z][\w:-]{{0,99}})[\s/][^<>]{{{_LONG},}}>")
_NOT_TEXT = frozenset({"script", "style", "template", "head"})
_CONTROLS = bytes([*range(9), *range(14, 32)])
_NOT_XML = re.compile("[\0-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x0*([0-9a-f]{1,8})|0*(\d{1,9}));?", re.IGNORECASE)


class _FastElement(html.HtmlElement):  # type: ignore[misc]  # lxml.html has no types
    """An element with a fast path for elements without children, such as most links."""

    def text_content(self) -> str:
        return super().text_content() if len(self) else self.text or ""


# lxml.html's own lookup calls a Python function for each access to an element.
ELEMENT_CLASSES = etree.ElementDefaultClassLookup(element=_FastElement, entity=html.HtmlEntity)
"""For parsers of HTML and XHTML."""


def parse_page(markup: str) -> tuple[html.HtmlElement, bool]:
    """The page as a tree, and whether it is complete: the parser stops at some depth.

    Without comments and characters that XML does not allow (`unstorable_characters`).
    """
    parser = html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    parser.set_element_class_lookup(ELEMENT_CLASSES)
    if len(markup) > _LONG:
        markup = _LONG_TAG.sub(_limit_attributes, markup)
    # The parser accepts \v and \f, but later changes of the tree would raise errors.
    markup = _REFERENCE.sub(_valid_reference, markup.replace("\v", " ").replace("\f", " "))
    if not _is_xml(markup):
        markup = _NOT_XML.sub("", markup)
    data = markup.encode("utf-8", "replace")
    try:
        tree = html.document_fromstring(data, parser=parser)
    except etree.ParserError:  # only comments
        return html.document_fromstring(b"<p></p>"), True
    _take_in_siblings(tree)
    fatal = etree.ErrorLevels.FATAL
    return tree, all(error.level != fatal for error in parser.error_log)


def _take_in_siblings(tree: html.HtmlElement) -> None:
    """Add what follows a page that has ended: the parser makes pages of it beside the first."""
    body = tree.find("body")
    if tree.getnext() is None or body is None:
        return
    for sibling in list(tree.itersiblings(etree.Element)):
        etree.strip_elements(sibling, "title", "meta", "base", with_tail=False)
        for part in (sibling, *sibling.iterchildren("head", "body")):
            part.tag = "div"  # its style sheets hide text, too
        sibling.tail = None
        body.append(sibling)


def _limit_attributes(tag: re.Match[str]) -> str:
    """The tag, without attributes if it has so many that comparing them takes minutes."""
    is_crowded = len(tag[0].split(maxsplit=_MOST_ATTRIBUTES)) > _MOST_ATTRIBUTES
    return f"<{tag[1]}>" if is_crowded else tag[0]


def _valid_reference(reference: re.Match[str]) -> str:
    """A character reference; empty if XML does not allow the character."""
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    is_valid = code in (9, 10, 13) or 32 <= code <= 0x10FFFF
    return reference[0] if is_valid and not _NOT_XML.match(chr(code)) else ""


def _is_xml(markup: str) -> bool:
    """Whether XML allows all characters; checks bytes, which is much faster than a regex."""
    try:
        data = markup.encode()
    except UnicodeEncodeError:
        return False
    if "\ufffe" in markup or "\uffff" in markup:
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)


def unstorable_characters(markup: str) -> Counter[str]:
    """Counts of characters that parse_page removes, by the kinds of storable_text.clean."""
    counts: Counter[str] = Counter()
    if _is_xml(markup):
        return counts
    for character in _NOT_XML.findall(markup):
        if character == "\0":
            counts["nul"] += 1
        elif "\ud800" <= character <= "\udfff":
            counts["surrogate"] += 1
        else:
            counts["control" if character < " " else "invisible"] += 1
    return counts


def is_deep(tree: html.HtmlElement) -> bool:
    """Whether the tree is too deep for recursive algorithms."""
    if not _HAS_LEVELS(tree):
        return False
    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _DEEP:
            return True
    return False


def flat_text(markup: str) -> str:
    """All text of a page in order, without structure; works at any nesting depth."""
    collector = _TextCollector()
    collector.feed(markup)
    collector.close()
    return "\n\n".join(collector.pieces)


class _TextCollector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_TEXT:
            self._skipped.append(tag)
        elif tag == "body":
            self._skipped.clear()

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and self._skipped[-1] == tag:
            self._skipped.pop()

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.pieces.append(data.strip())
