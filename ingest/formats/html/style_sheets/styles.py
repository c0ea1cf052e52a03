"""The style that the embedded style sheets of a page give to an element (the CSS cascade)."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from lxml import etree, html

from ingest.formats.html.style_sheets.css import (
    Compound,
    CssRule,
    Selector,
    is_for_screens,
    parse_declarations,
    parse_rules,
    parse_selectors,
)

Declarations = frozenset[tuple[str, str]]
"""Property names and values, lower-case."""

_LARGEST = 2 * 1024 * 1024  # characters of style sheets; the rest is ignored
_MOST_RULES = 20_000
_MOST_TESTS = 200_000  # of an element against a selector; only attacks need more
_SHEETS = etree.XPath("//style[not(ancestor::noscript) and not(ancestor::svg)]")
_LINKS = etree.XPath("//link[@href]/@rel")
_NAMED = etree.XPath("//body/descendant-or-self::*[@class or @id]")
_PROPERTY = (
    r"(?:^|[;\s])(?:display|visibility|opacity|font-size|text-indent|position|left|top|right|bottom"
    r"|clip|clip-path|overflow|overflow-[xy]|(?:max-)?(?:width|height)|padding[\w-]*|color"
    r"|background|background-color|background-image)\s*:"
)
_CAN_HIDE = re.compile(_PROPERTY, re.IGNORECASE)

_Precedence = tuple[bool, tuple[int, int, int], int]


class PageStyles:
    """The embedded style sheets of one page. Build it before `style` elements are removed.

    Rules whose bodies do not match `relevant` are skipped; by default, those that cannot hide text.
    """

    def __init__(self, tree: html.HtmlElement, *, relevant: re.Pattern[str] = _CAN_HIDE) -> None:
        css = "\n".join(_text(sheet) for sheet in _SHEETS(tree))[:_LARGEST]
        # External sheets are not fetched.
        self.is_complete = "@import" not in css and not any(
            "stylesheet" in rel.lower() for rel in _LINKS(tree)
        )
        found = [rule for rule in parse_rules(css) if relevant.search(rule.body)]
        self.rules = found[:_MOST_RULES]
        self._tree = tree
        self._tests_left = _MOST_TESTS
        self._rules_by_key: dict[str, list[tuple[CssRule, Selector]]] | None = None
        self._selectors_of: dict[int, tuple[Selector, ...]] = {}
        self._declarations_of: dict[int, dict[str, tuple[str, bool]]] = {}
        self._selectable_names: dict[html.HtmlElement, frozenset[str]] = {}
        self._elements_by_name: dict[str, list[html.HtmlElement]] | None = None

    def elements_with(
        self, is_wanted: Callable[[str], bool], *, among: Callable[[html.HtmlElement], bool]
    ) -> Iterator[html.HtmlElement]:
        """Elements that match a rule with such declarations, even if another rule overrides it."""
        for rule in self.rules:
            if is_wanted(rule.body):
                for selector in self._selectors(rule):
                    if not selector.is_conditional:
                        chosen = filter(among, self._candidates(selector.key))
                        yield from (found for found in chosen if self._matches(selector, found))
                    if self._tests_left <= 0:
                        return

    def cascaded(self, element: html.HtmlElement) -> dict[str, tuple[str, bool]]:
        """For each property, the value that wins in the sheets, and whether it is `!important`."""
        best: dict[str, tuple[_Precedence, str]] = {}
        for rule, selector in self._possible_rules(element):
            if selector.is_conditional or not self._matches(selector, element):
                continue
            for name, (value, important) in self._declarations(rule).items():
                precedence = (important, selector.specificity, rule.order)
                if name not in best or precedence >= best[name][0]:
                    best[name] = (precedence, value)
        return {name: (value, precedence[0]) for name, (precedence, value) in best.items()}

    def conditional(self, element: html.HtmlElement) -> Iterator[tuple[str, str]]:
        """Declarations that would apply in another state: on hover, or with more classes."""
        for rule, selector in self._possible_rules(element):
            if selector.key.names and (
                selector.is_conditional or not self._matches(selector, element)
            ):
                for name, (value, _) in self._declarations(rule).items():
                    yield name, value

    def _candidates(self, key: Compound) -> Iterable[html.HtmlElement]:
        if not key.names:
            return [] if key.tag == "*" else self._tree.iter(key.tag)
        if self._elements_by_name is None:
            self._elements_by_name = defaultdict(list)
            for element in _NAMED(self._tree):
                for name in self._names_of(element):
                    self._elements_by_name[name].append(element)
        return min((self._elements_by_name.get(name, []) for name in key.names), key=len)

    def _possible_rules(self, element: html.HtmlElement) -> Iterator[tuple[CssRule, Selector]]:
        """Rules whose last compound names a class, the id or the tag of the element."""
        if self._rules_by_key is None:
            self._rules_by_key = defaultdict(list)
            for rule in self.rules:
                for selector in self._selectors(rule):
                    for name in selector.key.names or {selector.key.tag}:
                        self._rules_by_key[name].append((rule, selector))
        seen: set[int] = set()
        for name in (element.tag, *self._names_of(element)):
            for rule, selector in self._rules_by_key.get(name, []):
                self._tests_left -= 1
                if self._tests_left <= 0:
                    return
                if id(selector) not in seen:
                    seen.add(id(selector))
                    yield rule, selector

    def _matches_compound(self, element: html.HtmlElement, compound: Compound) -> bool:
        if compound.tag not in ("*", element.tag):
            return False
        return not compound.names or compound.names <= self._names_of(element)

    def _names_of(self, element: html.HtmlElement) -> frozenset[str]:
        """Classes and id, cached: lxml reads attributes anew on each access."""
        names = self._selectable_names.get(element)
        if names is None:
            names = self._selectable_names[element] = _names(element)
        return names

    def _selectors(self, rule: CssRule) -> tuple[Selector, ...]:
        found = self._selectors_of.get(rule.order)
        if found is None:
            found = self._selectors_of[rule.order] = parse_selectors(rule.prelude)
        return found

    def _declarations(self, rule: CssRule) -> dict[str, tuple[str, bool]]:
        found = self._declarations_of.get(rule.order)
        if found is None:
            found = self._declarations_of[rule.order] = parse_declarations(rule.body)
        return found

    def _matches(self, selector: Selector, element: html.HtmlElement) -> bool:
        self._tests_left -= 1
        if self._tests_left <= 0 or not self._matches_compound(element, selector.key):
            return False
        return self._matches_ancestors(selector, element, len(selector.compounds) - 2)

    def _matches_ancestors(self, selector: Selector, element: html.HtmlElement, index: int) -> bool:
        """Whether ancestors of the element match the compounds up to `index`."""
        if index < 0:
            return True
        ancestor = element.getparent()
        while ancestor is not None and self._tests_left > 0:
            self._tests_left -= 1
            is_match = self._matches_compound(ancestor, selector.compounds[index])
            if is_match and self._matches_ancestors(selector, ancestor, index - 1):
                return True
            if selector.are_children[index]:
                return False
            ancestor = ancestor.getparent()
        return False


def _text(sheet: html.HtmlElement) -> str:
    kind = (sheet.get("type") or "text/css").lower()
    media = sheet.get("media") or "all"
    return (sheet.text or "") if kind == "text/css" and is_for_screens(media) else ""


def _names(element: html.HtmlElement) -> frozenset[str]:
    names = [f".{name}" for name in (element.get("class") or "").split()]
    identity = element.get("id")
    return frozenset([*names, f"#{identity}"] if identity else names)
