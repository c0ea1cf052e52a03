"""What MathJax drew, as MathML: its elements are named after those of MathML.

The letters are in class names: `<mjx-c class="mjx-c1D465">` is an x that a style sheet shows.
"""

import re
from collections.abc import Iterator

from lxml import etree, html

from ingest.formats.html.text_stats import word_set

_CODE = re.compile(r"(?:^|\s)mjx-c([0-9A-F]{2,5})(?:\s|$)")
_LAST = 0x10FFFF
_PREFIX = "mjx-"
_DEEP = 200  # levels of boxes
_BOXES = word_set("mjx-num mjx-den mjx-base mjx-under mjx-over mjx-script mjx-box mjx-root")
"""Each holds one part of what is around it, whatever else is inside."""
_PARTS = {
    "mfrac": ("mjx-num", "mjx-den"),
    "msqrt": ("mjx-box",),
    "mroot": ("mjx-box", "mjx-root"),
    "munder": ("mjx-base", "mjx-under"),
    "mover": ("mjx-base", "mjx-over"),
    "munderover": ("mjx-base", "mjx-under", "mjx-over"),
}
_SCRIPTED = word_set("msup msub msubsup munder mover munderover")
_TOKENS = word_set("mi mn mo mtext ms")
_KEPT = word_set("mtable mtr mtd mlabeledtr mrow mspace")


def to_mathml(drawn: html.HtmlElement) -> html.HtmlElement:
    """A `math` element for an element of MathJax."""
    math = etree.Element("math")
    _convert(drawn, math, 0)
    return math


def _convert(element: html.HtmlElement, into: html.HtmlElement, depth: int) -> None:
    if depth > _DEEP or element.tag == "mjx-assistive-mml":
        return
    name = element.tag.removeprefix(_PREFIX)
    parts = _parts(element, name)
    if name in _TOKENS:
        etree.SubElement(into, name).text = "".join(_letters(element))
    elif parts:
        made = etree.SubElement(into, name if len(parts) < 3 else "munderover")
        if next(element.iterchildren("mjx-frac[@atop]"), None) is not None:
            made.set("linethickness", "0")
        for part in parts:
            _convert(part, etree.SubElement(made, "mrow"), depth + 1)
    else:
        inside = etree.SubElement(into, name) if name in _KEPT else into
        for child in element.iterchildren(etree.Element):
            _convert(child, inside, depth + 1)


def _parts(element: html.HtmlElement, name: str) -> list[html.HtmlElement]:
    """The elements that hold its parts, in the order of MathML."""
    boxes = [_box(element, box) for box in _PARTS.get(name, ())]
    found = [box for box in boxes if box is not None]
    if found or name not in _SCRIPTED or not len(element):
        return found
    base, *others = element.iterchildren(etree.Element)
    if len(others) == 1 and others[0].tag == "mjx-script":
        others = [script for script in others[0] if script.tag != "mjx-spacer"]
    return [base, *reversed(others)]  # of two, the upper one is drawn first


def _box(element: html.HtmlElement, tag: str) -> html.HtmlElement | None:
    stack = list(element)[::-1]
    while stack:
        inner = stack.pop()
        if inner.tag == tag:
            return inner
        if inner.tag not in _BOXES or (inner.tag == "mjx-box" and tag != "mjx-box"):
            stack.extend(reversed(inner))
    return None


def _letters(token: html.HtmlElement) -> Iterator[str]:
    for element in token.iter(etree.Element):
        drawn = _CODE.search((element.get("class") or "")[:100])
        if drawn and int(drawn[1], 16) <= _LAST:
            yield chr(int(drawn[1], 16))
        elif element.text and not drawn:
            yield element.text.strip()
