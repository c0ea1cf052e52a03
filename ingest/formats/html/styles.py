"""Which style does an element get from the style sheets inside of its page?

Sheets elsewhere are not fetched; `is_complete` says whether there are any.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from lxml import etree, html

from ingest.formats.html.css import (
    Compound,
    CssRule,
    Selector,
    is_for_screens,
    read_declarations,
    read_rules,
    read_selectors,
)

Declarations = frozenset[tuple[str, str]]
"""Names and values, lower-case."""

_LARGEST = 2 * 1024 * 1024  # characters of style sheets; more are not read
_MOST_RULES = 20_000
_MOST_TESTS = 200_000  # of an element against a selector; a page that needs more is an attack
_SHEETS = etree.XPath("//style[not(ancestor::noscript) and not(ancestor::svg)]")
_LINKS = etree.XPath("//link[@href]/@rel")
_NAMED = etree.XPath("//body/descendant-or-self::*[@class or @id]")
_PROPERTY = (
    r"(?:^|[;\s])(?:display|visibility|opacity|font-size|text-indent|position|left|top|right|bottom"
    r"|clip|clip-path|overflow|overflow-[xy]|(?:max-)?(?:width|height)|padding[\w-]*|color"
    r"|background|background-color|background-image)\s*:"
)
_RELEVANT = re.compile(_PROPERTY, re.IGNORECASE)

_Weight = tuple[bool, tuple[int, int, int], int]


class PageStyles:
    """The style sheets of one page, to be read before they are taken out of it."""

    def __init__(self, tree: html.HtmlElement) -> None:
        css = "\n".join(_text(sheet) for sheet in _SHEETS(tree))[:_LARGEST]
        self.is_complete = "@import" not in css and not any(
            "stylesheet" in rel.lower() for rel in _LINKS(tree)
        )
        self.rules = [rule for rule in read_rules(css) if _RELEVANT.search(rule.body)][:_MOST_RULES]
        self._tree = tree
        self._tests = _MOST_TESTS
        self._by_name: dict[str, list[tuple[CssRule, Selector]]] | None = None
        self._read: dict[int, dict[str, tuple[str, bool]]] = {}
        self._names: dict[html.HtmlElement, frozenset[str]] = {}
        self._elements: dict[str, list[html.HtmlElement]] | None = None

    def matched(
        self, is_wanted: Callable[[str], bool], *, among: Callable[[html.HtmlElement], bool]
    ) -> Iterator[html.HtmlElement]:
        """Elements for which a rule with such declarations holds, whatever others say of them."""
        for rule in self.rules:
            if is_wanted(rule.body):
                for selector in read_selectors(rule.prelude):
                    if not selector.is_conditional:
                        chosen = filter(among, self._with(selector.key))
                        yield from (found for found in chosen if self._holds(selector, found))
                    if self._tests <= 0:
                        return

    def winners(self, element: html.HtmlElement) -> dict[str, tuple[str, bool]]:
        """By name, the value that wins among the sheets and whether it is important."""
        best: dict[str, tuple[_Weight, str]] = {}
        for rule, selector in self._candidates(element):
            if selector.is_conditional or not self._holds(selector, element):
                continue
            for name, (value, important) in self._declarations(rule).items():
                weight = (important, selector.specificity, rule.order)
                if name not in best or weight >= best[name][0]:
                    best[name] = (weight, value)
        return {name: (value, weight[0]) for name, (weight, value) in best.items()}

    def elsewhere(self, element: html.HtmlElement) -> Iterator[tuple[str, str]]:
        """What the element would be if it, or what is around it, had more classes or was used."""
        for rule, selector in self._candidates(element):
            if selector.key.names and (
                selector.is_conditional or not self._holds(selector, element)
            ):
                for name, (value, _) in self._declarations(rule).items():
                    yield name, value

    def _with(self, key: Compound) -> Iterable[html.HtmlElement]:
        if not key.names:
            return [] if key.tag == "*" else self._tree.iter(key.tag)
        if self._elements is None:
            self._elements = defaultdict(list)
            for element in _NAMED(self._tree):
                for name in self._names_of(element):
                    self._elements[name].append(element)
        return min((self._elements.get(name, []) for name in key.names), key=len)

    def _candidates(self, element: html.HtmlElement) -> Iterator[tuple[CssRule, Selector]]:
        """Rules that are about this element or another of its classes, id or tag."""
        if self._by_name is None:
            self._by_name = defaultdict(list)
            for rule in self.rules:
                for selector in read_selectors(rule.prelude):
                    for name in selector.key.names or {selector.key.tag}:
                        self._by_name[name].append((rule, selector))
        seen: set[int] = set()
        for name in (element.tag, *self._names_of(element)):
            for rule, selector in self._by_name.get(name, []):
                self._tests -= 1
                if self._tests <= 0:
                    return
                if id(selector) not in seen:
                    seen.add(id(selector))
                    yield rule, selector

    def _is(self, element: html.HtmlElement, compound: Compound) -> bool:
        if compound.tag not in ("*", element.tag):
            return False
        return not compound.names or compound.names <= self._names_of(element)

    def _names_of(self, element: html.HtmlElement) -> frozenset[str]:
        """Classes and id. Asked for again and again: a proxy of lxml reads them each time."""
        names = self._names.get(element)
        if names is None:
            names = self._names[element] = _names(element)
        return names

    def _declarations(self, rule: CssRule) -> dict[str, tuple[str, bool]]:
        found = self._read.get(rule.order)
        if found is None:
            found = self._read[rule.order] = read_declarations(rule.body)
        return found

    def _holds(self, selector: Selector, element: html.HtmlElement) -> bool:
        self._tests -= 1
        if self._tests <= 0 or not self._is(element, selector.key):
            return False
        return self._is_inside(selector, element, len(selector.compounds) - 2)

    def _is_inside(self, selector: Selector, element: html.HtmlElement, index: int) -> bool:
        """Whether what is around the element fits the compounds up to `index`."""
        if index < 0:
            return True
        around = element.getparent()
        while around is not None and self._tests > 0:
            self._tests -= 1
            if self._is(around, selector.compounds[index]) and self._is_inside(
                selector, around, index - 1
            ):
                return True
            if selector.are_children[index]:
                return False
            around = around.getparent()
        return False


def _text(sheet: html.HtmlElement) -> str:
    kind = (sheet.get("type") or "text/css").lower()
    media = sheet.get("media") or "all"
    return (sheet.text or "") if kind == "text/css" and is_for_screens(media) else ""


def _names(element: html.HtmlElement) -> frozenset[str]:
    names = [f".{name}" for name in (element.get("class") or "").split()]
    identity = element.get("id")
    return frozenset([*names, f"#{identity}"] if identity else names)
