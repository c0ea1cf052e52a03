"""Removes text that readers cannot see, and reports it: it may be meant for machines.

Detected by the `hidden` attribute, the element's own style, the style sheets inside the page, and
text in the colour of its background. Text that a sheet hides in one state of the page and shows in
another (an open menu, a selected tab) is not hidden, nor is what a visible control opens, which is
reported too. External sheets are not fetched.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

from lxml import etree, html

from ingest.formats.html.disclosures import FOLDING, Disclosures
from ingest.formats.html.formulas.rendered import show_formulas
from ingest.formats.html.style_sheets.colours import (
    Colour,
    are_indistinguishable,
    is_transparent,
    parse_colour,
)
from ingest.formats.html.style_sheets.hiding_properties import MAY_HIDE, not_rendered, unreadable
from ingest.formats.html.style_sheets.styles import Declarations, PageStyles
from ingest.formats.html.unseen import Unseen
from ingest.optional_steps import attempt

_SENTENCE = 40  # characters; menu entries are shorter, instructions are not
_MOST_SUSPECTS = 5000
_LONG_STYLE = 500  # characters; longer styles are not cached
_ANIMATED = (
    "data-w-id",
    "data-aos",
    "data-sal",
    "data-framer-appear-id",
    "data-scroll",
    "data-wow-delay",
)
_SEVERAL = 3
_TEXT = etree.XPath(".//text()")
_NOSCRIPT_TEXT = etree.XPath(".//noscript//text()")
_BGCOLORS = etree.XPath("//@bgcolor")
_WHITE: Colour = (255, 255, 255)
_COLOUR = re.compile(r"(?:^|[;\s])color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_NO_BACKGROUND = {"", "none", "transparent", "inherit", "initial", "unset", "0", "0 0"}
_COLOURS = {"color", "background", "background-color", "background-image"}


def drop_hidden(tree: html.HtmlElement, *, has_scripts: bool = True) -> Unseen:
    """Remove hidden elements from the page; returns what of a sentence was hidden or folded.

    If most of the page's text is transparent, without size, off screen or hidden by a style sheet,
    scripts show it on scrolling: then it stays, but is still reported. So do sections that a
    library for such animations marks, if there are several. Without scripts, as in messages, no
    control opens anything.
    """
    attempt("tidying", lambda: show_formulas(tree))
    styles = PageStyles(tree)
    text = _InvisibleText(tree, styles)
    disclosures = text.disclosures = Disclosures(tree, text.hides) if has_scripts else None
    bodies = list(tree.iter("body"))
    templates = (template for body in bodies for template in body.iter("template"))
    _drop([*tree.iter("script", "style"), *templates])
    styled = list(map(_styled, bodies))
    if disclosures is not None:
        for element in filter(_is_not_rendered, chain.from_iterable(styled)):
            disclosures.show(element)
    hidden = [found for some in styled for found in _outermost(some, _is_not_rendered)]
    holds_sentence = any(_length(element) >= _SENTENCE for element in hidden)
    if hidden:
        _drop(hidden)
        styled = list(map(_styled, bodies))
    invisible = [
        found
        for body, some in zip(bodies, styled, strict=True)
        for found in _outermost(text.suspects(body, some), text.contains)
    ]
    lengths = [_length(element) for element in invisible]
    if invisible and 2 * sum(lengths) <= sum(map(_length, bodies)):
        animated = {found for found in invisible if _is_animated(found)}
        _drop(invisible if len(animated) < _SEVERAL else set(invisible) - animated)
    is_hidden = holds_sentence or any(length >= _SENTENCE for length in lengths)
    is_folded = disclosures is not None and disclosures.has_shown_sentence
    return Unseen(Unseen.HIDDEN * is_hidden | Unseen.FOLDED * is_folded)


def _drop(elements: Iterable[html.HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _is_animated(element: html.HtmlElement) -> bool:
    """Whether it is transparent only until a library for animations shows it on scrolling."""
    is_transparent = unreadable(_own_style(element)) == {"opacity"}
    return is_transparent and any(mark in element.attrib for mark in _ANIMATED)


def _styled(body: html.HtmlElement) -> list[html.HtmlElement]:
    return [
        element
        for element in body.iter(etree.Element)
        if element.get("style") is not None or element.get("hidden") is not None
    ]


def _outermost(
    elements: Iterable[html.HtmlElement], test: Callable[[html.HtmlElement], bool]
) -> Iterator[html.HtmlElement]:
    """The elements that pass the test, without those inside another such element."""
    inside: set[html.HtmlElement] = set()
    for element in elements:
        if element not in inside and test(element):
            inside.update(element.iter())
            yield element


def _length(element: html.HtmlElement) -> int:
    if next(element.iterancestors("noscript"), None) is not None:
        return 0
    return _characters(_TEXT(element)) - _characters(_NOSCRIPT_TEXT(element))


def _characters(texts: Iterable[str]) -> int:
    return sum(len(" ".join(text.split())) for text in texts)


def _has_sentence_length(element: html.HtmlElement) -> bool:
    """Whether the element contains enough text for a sentence; stops reading when it does."""
    length = 0
    for text in element.itertext():
        length += len(" ".join(text.split()))
        if length >= _SENTENCE:
            return True
    return False


def _may_hide(body: str) -> bool:
    return MAY_HIDE.search(body) is not None


def _is_not_rendered(element: html.HtmlElement) -> bool:
    return element.get("hidden") is not None or bool(not_rendered(_own_style(element)))


def _own_style(element: html.HtmlElement) -> Declarations:
    """The declarations in the `style` attribute; of two that conflict, both count."""
    style = element.get("style")
    if not style:
        return frozenset()
    return _parse_style(style) if len(style) <= _LONG_STYLE else _parse_style.__wrapped__(style)


@lru_cache(256)
def _parse_style(style: str) -> Declarations:
    """Parse a `style` attribute; cached, because a page repeats few styles many times."""
    first, *others = style.lower().split("/*")
    uncommented = first + "".join(other.partition("*/")[2] for other in others)
    pairs = (declaration.partition(":") for declaration in uncommented.split(";"))
    return frozenset(
        (name.strip(), value.replace("!important", "").strip()) for name, _, value in pairs
    )


class _InvisibleText:
    """Finds elements that are rendered, but that readers cannot see."""

    def __init__(self, tree: html.HtmlElement, styles: PageStyles) -> None:
        self.disclosures: Disclosures | None = None
        self._styles = styles
        self._backgrounds = self._page_backgrounds(tree)
        # Sheets often hide menus and buttons, so only sentences count.
        self._is_long = lru_cache(None)(_has_sentence_length)

    @cached_property
    def _by_sheet(self) -> set[html.HtmlElement]:
        return set(self._styles.elements_with(_may_hide, among=self._is_long))

    @cached_property
    def _by_colour(self) -> set[html.HtmlElement]:
        return set(self._styles.elements_with(self._may_match_background, among=self._is_long))

    def suspects(
        self, body: html.HtmlElement, styled: list[html.HtmlElement]
    ) -> list[html.HtmlElement]:
        """The elements to check, in order; `styled`: those with a `style` attribute."""
        coloured = (font for font in body.iter("font") if font.get("color") is not None)
        others = {*coloured, *self._by_sheet, *self._by_colour}
        if others:
            others.update(styled)
            styled = [element for element in body.iter(etree.Element) if element in others]
        return styled[:_MOST_SUSPECTS]

    def contains(self, element: html.HtmlElement) -> bool:
        """Whether readers cannot see the element although it is rendered."""
        own = _own_style(element)
        hiding = unreadable(own)
        if self._hides(element, hiding):
            if not self._is_folded(element, hiding):
                return True
            own = _own_style(element)
        if element in self._by_sheet:
            hiding = self._hidden_by_sheet(element, own)
            if self._hides(element, hiding) and not self._is_folded(element, hiding):
                return True
        has_colour = "color" in dict(own) or element in self._by_colour or element.tag == "font"
        return has_colour and self._has_background_colour(element)

    def hides(self, element: html.HtmlElement) -> bool:
        """Whether readers cannot see the element, however short; ancestors do not count."""
        own = _own_style(element)
        if _is_not_rendered(element) or self._hides(element, unreadable(own)):
            return True
        hiding = self._hidden_by_sheet(element, own)
        return self._hides(element, hiding) or self._has_background_colour(element)

    def _hides(self, element: html.HtmlElement, properties: set[str]) -> bool:
        """Whether these properties hide it; font size 0 also removes gaps between inner boxes."""
        if "font-size" in properties and self._any_inside(element, {"font-size"}):
            properties = properties - {"font-size"}
        return bool(properties)

    def _hidden_by_sheet(self, element: html.HtmlElement, own: Declarations) -> set[str]:
        """Names of the properties that hide it in every state of the page."""
        style = self._style(element, own)
        hiding = not_rendered(style) | unreadable(style)
        if not self._styles.is_complete:
            hiding.discard("font-size")  # an external sheet may restore it
        for name, value in self._styles.conditional(element):
            other = frozenset({(name, value)})
            if name in hiding and not (not_rendered(other) or unreadable(other)):
                return set()
        return hiding

    def _is_folded(self, element: html.HtmlElement, hiding: set[str]) -> bool:
        if self.disclosures is None or not hiding <= FOLDING:
            return False
        return self.disclosures.show(element)

    def _style(self, element: html.HtmlElement, own: Declarations) -> Declarations:
        """The cascaded style: own declarations win against sheets, unless those are important."""
        names = {name for name, _ in own}
        cascaded = self._styles.cascaded(element).items()
        return own | {
            (name, value) for name, (value, important) in cascaded if important or name not in names
        }

    def _any_inside(self, element: html.HtmlElement, names: set[str]) -> bool:
        """Whether a descendant declares one of these properties itself."""
        return any(
            name in names
            for inner in element.iterdescendants(etree.Element)
            for name, _ in self._style(inner, _own_style(inner))
        )

    def _page_backgrounds(self, tree: html.HtmlElement) -> list[Colour]:
        """All background colours in the page; also white if there are no external sheets."""
        values = [value for rule in self._styles.rules for value in _BACKGROUND.findall(rule.body)]
        read = {parse_colour(value.strip().lower()) for value in [*values, *_BGCOLORS(tree)]}
        return [
            *(colour for colour in read if colour),
            *([_WHITE] if self._styles.is_complete else []),
        ]

    def _may_match_background(self, body: str) -> bool:
        for value in _COLOUR.findall(body):
            colour = parse_colour(value.strip().lower())
            if is_transparent(value.strip().lower()):
                return True
            if colour and any(are_indistinguishable(colour, known) for known in self._backgrounds):
                return True
        return False

    def _has_background_colour(self, element: html.HtmlElement) -> bool:
        style = dict(self._style(element, _own_style(element)))
        value = style.get("color") or (element.get("color") or "").strip().lower()
        clip = style.get("background-clip", "") + style.get("-webkit-background-clip", "")
        if not value or "text-shadow" in style or "text" in clip:
            return False
        if not is_transparent(value):
            colour, behind = parse_colour(value), self._background(element)
            if colour is None or behind is None or not are_indistinguishable(colour, behind):
                return False
        return not self._any_inside(element, _COLOURS)

    def _background(self, element: html.HtmlElement) -> Colour | None:
        """The colour behind the element's text; None if that is a picture or unknown."""
        ancestor = element
        while ancestor is not None:
            style = dict(self._style(ancestor, _own_style(ancestor)))
            if style.get("background-image", "none") != "none":
                return None
            bgcolor = (ancestor.get("bgcolor") or "").strip().lower()
            value = style.get("background-color") or style.get("background") or bgcolor
            if value not in _NO_BACKGROUND:
                return parse_colour(value)
            ancestor = ancestor.getparent()
        return _WHITE if self._styles.is_complete else None
