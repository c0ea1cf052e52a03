"""Text that people do not see: taken out of a page, and reported, for it may address machines.

Seen are the `hidden` attribute and the element's own style; style sheets, text in the colour of
its background and boxes without size are not looked at.
"""

import re
from collections.abc import Callable, Iterator

from lxml import etree, html

_SENTENCE = 40  # characters: a menu's entry is shorter, an instruction is not
_NEVER_SHOWN = etree.XPath("//script | //style | //body//template")
_TEXT = etree.XPath(".//text()[not(ancestor::noscript)]")
_STYLED = etree.XPath(".//*[@hidden or @style]")

_ZERO = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?")
_FAR = re.compile(r"-(?:[5-9]\d\d|\d{4,})(?:\.\d*)?(?:px|pt)?|-\d{3,}(?:\.\d*)?(?:r?em|v[wh]|%)")
_NOTHING_LEFT = re.compile(
    r"rect\(([01])(?:px)?(?:[\s,]+\1(?:px)?){3}\)|inset\((?:50|100)%.*|circle\(0.*"
)
_POSITIONS = {"absolute", "fixed"}
_EDGES = {"left", "top", "right", "bottom", "text-indent"}


def drop_hidden(tree: html.HtmlElement) -> bool:
    """Take hidden elements out of the page; whether one of them held a sentence.

    Where most of a page's text is transparent, without size or off screen, scripts bring it in
    for those who scroll: that stays, and is reported all the same.
    """
    _drop(_NEVER_SHOWN(tree))
    hidden = list(_outermost(tree, _is_hidden))
    holds_sentence = any(_length(element) >= _SENTENCE for element in hidden)
    _drop(hidden)
    faint = list(_outermost(tree, _is_faint))
    lengths = [_length(element) for element in faint]
    if faint and 2 * sum(lengths) <= sum(_length(body) for body in tree.iter("body")):
        _drop(faint)
    return holds_sentence or any(length >= _SENTENCE for length in lengths)


def _drop(elements: list[html.HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _outermost(
    tree: html.HtmlElement, test: Callable[[html.HtmlElement], bool]
) -> Iterator[html.HtmlElement]:
    """The elements of the body for which the test holds, without those inside of one another."""
    inside: set[html.HtmlElement] = set()
    for body in tree.iter("body"):
        for element in _STYLED(body):
            if element not in inside and test(element):
                inside.update(_STYLED(element))
                yield element


def _length(element: html.HtmlElement) -> int:
    return sum(len(" ".join(text.split())) for text in _TEXT(element))


def _is_hidden(element: html.HtmlElement) -> bool:
    if element.get("hidden") is not None:
        return True
    declarations = _declarations(element)
    return ("display", "none") in declarations or ("visibility", "hidden") in declarations


def _is_faint(element: html.HtmlElement) -> bool:
    """Whether the element is there, but transparent, without size, off screen or cut away."""
    declarations = _declarations(element)
    for name, value in declarations:
        if name == "opacity" and _ZERO.fullmatch(value):
            return True
        if name == "font-size" and _ZERO.fullmatch(value) and not _gives_size_back(element):
            return True
    is_positioned = any(("position", value) in declarations for value in _POSITIONS)
    return any(
        _is_out_of_sight(name, value)
        for name, value in declarations
        if is_positioned or name == "text-indent"
    )


def _gives_size_back(element: html.HtmlElement) -> bool:
    """Whether something inside has a size of its own: no size is how gaps between boxes go."""
    return any("font-size" in item.get("style", "").lower() for item in element.iterdescendants())


def _is_out_of_sight(name: str, value: str) -> bool:
    if name in _EDGES:
        return _FAR.fullmatch(value) is not None
    return name in ("clip", "clip-path") and _NOTHING_LEFT.fullmatch(value) is not None


def _declarations(element: html.HtmlElement) -> set[tuple[str, str]]:
    """Names and values of the element's style. Of two that contradict each other both count."""
    style = element.get("style")
    if not style:
        return set()
    first, *others = style.lower().split("/*")
    uncommented = first + "".join(other.partition("*/")[2] for other in others)
    pairs = (declaration.partition(":") for declaration in uncommented.split(";"))
    return {(name.strip(), value.replace("!important", "").strip()) for name, _, value in pairs}
