"""Markup to a tree, as browsers do it: whatever the bytes are, something comes out."""

import re
from collections import Counter

from lxml import etree, html

_DEEP = 800  # levels; no page has so many, but unclosed tags add up
_HAS_LEVELS = etree.XPath(f"boolean({'/'.join(['*'] * 100)})")
_MOST_ATTRIBUTES = 20_000
_LONG = 40_000  # characters of a tag, at least, for so many
_LONG_TAG = re.compile(rf"<([A-Za-z][\w:-]{{0,99}})[\s/][^<>]{{{_LONG},}}>")
_CONTROLS = bytes([*range(9), *range(14, 32)])
_NOT_XML = re.compile("[\0-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:x0*([0-9a-f]{1,8})|0*(\d{1,9}));?", re.IGNORECASE)


class _FastElement(html.HtmlElement):  # type: ignore[misc]  # lxml.html has no types
    """As lxml makes them, but for what is asked of every link of a page, and mostly in vain."""

    def text_content(self) -> str:
        return super().text_content() if len(self) else self.text or ""


# lxml.html's own lookup is a function in Python that is called for each element, each time.
_CLASSES = etree.ElementDefaultClassLookup(element=_FastElement)


def parse_page(markup: str) -> tuple[html.HtmlElement, bool]:
    """The page as a tree, and whether all of it is in there: the parser stops at some depth.

    Comments are not in it, nor characters that XML cannot hold (`strange_characters`).
    """
    parser = html.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    parser.set_element_class_lookup(_CLASSES)
    if len(markup) > _LONG:
        markup = _LONG_TAG.sub(_bounded, markup)
    # The parser lets \v and \f in, but whoever moves them in the tree fails.
    markup = _REFERENCE.sub(_checked, markup.replace("\v", " ").replace("\f", " "))
    if not _is_xml(markup):
        markup = _NOT_XML.sub("", markup)
    data = markup.encode("utf-8", "replace")
    try:
        tree = html.document_fromstring(data, parser=parser)
    except etree.ParserError:  # nothing but comments
        return html.document_fromstring(b"<p></p>"), True
    fatal = etree.ErrorLevels.FATAL
    return tree, all(error.level != fatal for error in parser.error_log)


def _bounded(tag: re.Match[str]) -> str:
    """The tag without its attributes if they are so many that comparing them takes minutes."""
    crowded = len(tag[0].split(maxsplit=_MOST_ATTRIBUTES)) > _MOST_ATTRIBUTES
    return f"<{tag[1]}>" if crowded else tag[0]


def _checked(reference: re.Match[str]) -> str:
    """A reference to a character, or nothing if it is one that XML cannot hold."""
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    known = code in (9, 10, 13) or 32 <= code <= 0x10FFFF
    return reference[0] if known and not _NOT_XML.match(chr(code)) else ""


def _is_xml(markup: str) -> bool:
    """Whether XML can hold all characters: a look at the bytes, many times faster than at those."""
    try:
        data = markup.encode()
    except UnicodeEncodeError:
        return False
    if "\ufffe" in markup or "\uffff" in markup:
        return False
    return len(data.translate(None, _CONTROLS)) == len(data)


def strange_characters(markup: str) -> Counter[str]:
    """How many characters parse_page leaves out, by the kinds of hygiene.clean."""
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
    """Whether algorithms that call themselves for each level would run out of stack."""
    if not _HAS_LEVELS(tree):
        return False
    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _DEEP:
            return True
    return False
