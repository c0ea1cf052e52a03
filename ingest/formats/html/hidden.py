"""Text that people do not see: taken out of a page, and reported, for it may address machines.

Seen are the `hidden` attribute, the element's own style, the style sheets inside of the page and
text in the colour of its background. What a sheet hides, but shows again in another state of the
page (an open menu, a chosen tab), is no hidden text. Sheets elsewhere are not fetched.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from lxml import etree, html

from ingest.formats.html.colours import Colour, are_alike, is_transparent, read_colour
from ingest.formats.html.invisible import MAY_HIDE, faint, not_shown
from ingest.formats.html.styles import Declarations, PageStyles

_SENTENCE = 40  # characters: a menu's entry is shorter, an instruction is not
_MOST_SUSPECTS = 5000
_LONG_STYLE = 500  # characters; longer ones are not remembered
_TEXT = etree.XPath(".//text()")
_UNUSED = etree.XPath(".//noscript//text()")
_PAPER = etree.XPath("//@bgcolor")
_WHITE: Colour = (255, 255, 255)
_COLOUR = re.compile(r"(?:^|[;\s])color\s*:\s*([^;!]+)", re.IGNORECASE)
_GROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_NO_GROUND = {"", "none", "transparent", "inherit", "initial", "unset", "0", "0 0"}
# A shadow, or a picture in the shape of the letters.
_SHOWN_OTHERWISE = {"text-shadow", "background-clip", "-webkit-background-clip"}
_COLOURS = {"color", "background", "background-color", "background-image"}


def drop_hidden(tree: html.HtmlElement) -> bool:
    """Take hidden elements out of the page; whether one of them held a sentence.

    Where most of a page's text is transparent, without size, off screen or hidden by a style
    sheet, scripts bring it in for those who scroll: that stays, and is reported all the same.
    """
    styles = PageStyles(tree)
    bodies = list(tree.iter("body"))
    _drop(
        [
            *tree.iter("script", "style"),
            *(each for body in bodies for each in body.iter("template")),
        ]
    )
    styled = list(map(_styled, bodies))
    hidden = [found for some in styled for found in _outermost(some, _is_hidden)]
    holds_sentence = any(_length(element) >= _SENTENCE for element in hidden)
    if hidden:
        _drop(hidden)
        styled = list(map(_styled, bodies))
    look = _Look(tree, styles)
    unseen = [
        found
        for body, some in zip(bodies, styled, strict=True)
        for found in _outermost(look.suspects(body, some), look.is_unseen)
    ]
    lengths = [_length(element) for element in unseen]
    if unseen and 2 * sum(lengths) <= sum(map(_length, bodies)):
        _drop(unseen)
    return holds_sentence or any(length >= _SENTENCE for length in lengths)


def _drop(elements: Iterable[html.HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _styled(body: html.HtmlElement) -> list[html.HtmlElement]:
    return [
        element
        for element in body.iter(etree.Element)
        if element.get("style") is not None or element.get("hidden") is not None
    ]


def _outermost(
    elements: Iterable[html.HtmlElement], test: Callable[[html.HtmlElement], bool]
) -> Iterator[html.HtmlElement]:
    """Of elements in their order those for which the test holds, not those inside of another."""
    inside: set[html.HtmlElement] = set()
    for element in elements:
        if element not in inside and test(element):
            inside.update(element.iter())
            yield element


def _length(element: html.HtmlElement) -> int:
    if next(element.iterancestors("noscript"), None) is not None:
        return 0
    return _characters(_TEXT(element)) - _characters(_UNUSED(element))


def _characters(texts: Iterable[str]) -> int:
    return sum(len(" ".join(text.split())) for text in texts)


def _may_be_sentence(element: html.HtmlElement) -> bool:
    """Whether there is enough text, without a look at all of it."""
    length = 0
    for text in element.itertext():
        length += len(" ".join(text.split()))
        if length >= _SENTENCE:
            return True
    return False


def _may_hide(body: str) -> bool:
    return MAY_HIDE.search(body) is not None


def _is_hidden(element: html.HtmlElement) -> bool:
    return element.get("hidden") is not None or bool(not_shown(_own(element)))


def _own(element: html.HtmlElement) -> Declarations:
    """Names and values of the element's style. Of two that contradict each other both count."""
    style = element.get("style")
    if not style:
        return frozenset()
    return _read(style) if len(style) <= _LONG_STYLE else _read.__wrapped__(style)


@lru_cache(256)
def _read(style: str) -> Declarations:
    """A page has few different styles, each many times."""
    first, *others = style.lower().split("/*")
    uncommented = first + "".join(other.partition("*/")[2] for other in others)
    pairs = (declaration.partition(":") for declaration in uncommented.split(";"))
    return frozenset(
        (name.strip(), value.replace("!important", "").strip()) for name, _, value in pairs
    )


class _Look:
    """What is there, but not to be seen."""

    def __init__(self, tree: html.HtmlElement, styles: PageStyles) -> None:
        self._styles = styles
        self._grounds = self._known_grounds(tree)
        # Of what a sheet hides only sentences matter: menus and buttons open one by one.
        long = lru_cache(None)(_may_be_sentence)
        self._by_sheet = set(styles.matched(_may_hide, among=long))
        self._by_colour = set(styles.matched(self._may_vanish, among=long))

    def suspects(
        self, body: html.HtmlElement, styled: list[html.HtmlElement]
    ) -> list[html.HtmlElement]:
        """The elements worth a look, in order; given those with a style of their own."""
        coloured = (font for font in body.iter("font") if font.get("color") is not None)
        others = {*coloured, *self._by_sheet, *self._by_colour}
        if others:
            others.update(styled)
            styled = [element for element in body.iter(etree.Element) if element in others]
        return styled[:_MOST_SUSPECTS]

    def is_unseen(self, element: html.HtmlElement) -> bool:
        """Whether people do not see the element, although it is part of the page."""
        own = _own(element)
        if self._stays(element, faint(own)):
            return True
        if element in self._by_sheet and self._is_hidden_by_sheet(element, own):
            return True
        has_colour = "color" in dict(own) or element in self._by_colour or element.tag == "font"
        return has_colour and self._has_colour_of_ground(element)

    def _stays(self, element: html.HtmlElement, reasons: set[str]) -> bool:
        """Whether reasons are left; that of no size is how gaps between boxes are made to go."""
        if "font-size" in reasons and self._any_inside(element, {"font-size"}):
            reasons = reasons - {"font-size"}
        return bool(reasons)

    def _is_hidden_by_sheet(self, element: html.HtmlElement, own: Declarations) -> bool:
        style = self._style(element, own)
        reasons = not_shown(style) | faint(style)
        if not self._styles.is_complete:
            reasons.discard("font-size")  # sheets elsewhere may well give it back
        for name, value in self._styles.elsewhere(element):
            other = frozenset({(name, value)})
            if name in reasons and not (not_shown(other) or faint(other)):
                return False
        return self._stays(element, reasons)

    def _style(self, element: html.HtmlElement, own: Declarations) -> Declarations:
        """The style that wins: an own one against sheets, unless these say it is important."""
        names = {name for name, _ in own}
        winners = self._styles.winners(element).items()
        return own | {
            (name, value) for name, (value, important) in winners if important or name not in names
        }

    def _any_inside(self, element: html.HtmlElement, names: set[str]) -> bool:
        """Whether an element further inside has one of these declarations of its own."""
        return any(
            name in names
            for inner in element.iterdescendants(etree.Element)
            for name, _ in self._style(inner, _own(inner))
        )

    def _known_grounds(self, tree: html.HtmlElement) -> list[Colour]:
        """All background colours that the page names; white, if nothing else can be there."""
        values = [value for rule in self._styles.rules for value in _GROUND.findall(rule.body)]
        read = {read_colour(value.strip().lower()) for value in [*values, *_PAPER(tree)]}
        return [
            *(colour for colour in read if colour),
            *([_WHITE] if self._styles.is_complete else []),
        ]

    def _may_vanish(self, body: str) -> bool:
        for value in _COLOUR.findall(body):
            colour = read_colour(value.strip().lower())
            if is_transparent(value.strip().lower()):
                return True
            if colour and any(are_alike(colour, ground) for ground in self._grounds):
                return True
        return False

    def _has_colour_of_ground(self, element: html.HtmlElement) -> bool:
        style = dict(self._style(element, _own(element)))
        value = style.get("color") or (element.get("color") or "").strip().lower()
        if (
            not value
            or "text-shadow" in style
            or "text" in style.get("-webkit-background-clip", "")
        ):
            return False
        if "text" in style.get("background-clip", ""):
            return False
        colour = None if is_transparent(value) else read_colour(value)
        if not is_transparent(value):
            ground = self._ground(element)
            if colour is None or ground is None or not are_alike(colour, ground):
                return False
        return not self._any_inside(element, _COLOURS)

    def _ground(self, element: html.HtmlElement) -> Colour | None:
        """The colour behind the element's text; None if a picture or something unknown is there."""
        around = element
        while around is not None:
            style = dict(self._style(around, _own(around)))
            if style.get("background-image", "none") != "none":
                return None
            paper = (around.get("bgcolor") or "").strip().lower()
            value = style.get("background-color") or style.get("background") or paper
            if value not in _NO_GROUND:
                return read_colour(value)
            around = around.getparent()
        return _WHITE if self._styles.is_complete else None
