"""Hidden parts of a page that readers open: answers below their question, tabs, notes at a mark.

A control that readers see must lead to them. Menus and dialogs are opened as well, but are not
part of the text.
"""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import islice

from lxml import etree, html

from ingest.formats.html.boilerplate import OPENS, name_words
from ingest.formats.html.text_stats import INLINE, word_set

_CONTROLS = etree.XPath(
    "//body//*[self::button or @aria-expanded or @data-toggle or @data-bs-toggle"
    " or @role='button' or @role='tab' or @data-definition]"
)
_TARGETS = ("aria-controls", "href", "data-target", "data-bs-target", "data-definition")
_AROUND = etree.XPath(
    "boolean(ancestor-or-self::*[self::nav or self::header or self::footer or self::dialog"
    " or @role='navigation' or @role='menu' or @role='dialog' or @role='search'"
    " or @role='listbox'])"
)
_OVER_PAGE = word_set(
    "modal popup lightbox offcanvas dropdown menu submenu tooltip popover overlay dialog cookie"
    " cookies consent nav navbar"
)
_FOLDED = word_set(
    "accordion accordions collapse collapsible collapsed expand expandable expander faq faqs"
    " question answer toggle toggler togglable spoiler disclosure readmore more"
)
_FRAMEWORKS = ("x-show", "v-show", "ng-show", "x-collapse")
_PRESSED = etree.XPath(
    "boolean(descendant-or-self::*[self::button or self::summary or self::label"
    " or @role='button' or @aria-expanded])"
)
_HEADINGS = word_set("h1 h2 h3 h4 h5 h6 dt")
_TABS = word_set("tabpanel tabpane tabcontent")
_NOTE = re.compile(r"\b(?:foot|side|margin|end)-?note", re.IGNORECASE)
_LONGEST_NAME = 500  # characters
_LONGEST_CONTROL = 200  # characters
_SHORTEST_CONTROL = 3
_SENTENCE = 40  # characters outside links
_MOST_TEXTS, _FEW = 200, 5  # pieces of text that are looked at; of a link
_MOST_TABS = 50


class Disclosures:
    """Of one page, before anything hidden is removed from it."""

    def __init__(
        self, tree: html.HtmlElement, is_hidden: Callable[[html.HtmlElement], bool]
    ) -> None:
        self._tree = tree
        self._is_hidden = is_hidden

    def show(self, element: html.HtmlElement) -> bool:
        """Whether readers can open the element; then it is no longer hidden."""
        is_note = _is_note(element)
        if not (is_note or self._is_tab(element) or self._is_controlled(element)):
            return False
        element.attrib.pop("hidden", None)
        element.attrib.pop("style", None)
        if is_note:
            element.set("class", "footnote")
        elif (before := element.getprevious()) is not None:
            for button in before.iter("button"):
                button.set(OPENS, "")
        return True

    @cached_property
    def _targets(self) -> frozenset[str]:
        values = (control.get(name, "") for control in _CONTROLS(self._tree) for name in _TARGETS)
        return frozenset(name for value in values for name in value.replace("#", " ").split())

    def _is_controlled(self, element: html.HtmlElement) -> bool:
        words = name_words(element)
        if not words.isdisjoint(_OVER_PAGE):
            return False
        is_opened = element.get("id", "") in self._targets or self._follows_control(element, words)
        return is_opened and not _AROUND(element) and _has_sentence(element)

    def _follows_control(self, element: html.HtmlElement, words: frozenset[str]) -> bool:
        parent = element.getparent()
        names = words if parent is None else words | name_words(parent)
        is_folded = not names.isdisjoint(_FOLDED) or any(
            name in element.attrib for name in _FRAMEWORKS
        )
        before, behind = element.getprevious(), element.getnext()
        if is_folded and behind is not None and self._is_short(behind) and _PRESSED(behind):
            return True
        if before is None or not self._is_short(before):
            return False
        if _PRESSED(before) or is_folded or not name_words(before).isdisjoint(_FOLDED):
            return True
        is_heading = before.tag in _HEADINGS
        return is_heading and before.text_content().rstrip().endswith(("?", "\uff1f", "؟"))

    def _is_short(self, control: html.HtmlElement) -> bool:
        """Whether readers see it, with a few words."""
        if self._is_hidden(control):
            return False
        length = 0
        for text in control.itertext():
            length += len(" ".join(text.split()))
            if length > _LONGEST_CONTROL:
                return False
        return length >= _SHORTEST_CONTROL

    def _is_tab(self, element: html.HtmlElement) -> bool:
        """Whether it is a tab that is not selected, beside one that is."""
        parent = element.getparent()
        if parent is None or not _is_named_tab(element):
            return False
        return any(
            _is_named_tab(other) and not self._is_hidden(other)
            for other in islice(parent.iterchildren(element.tag), _MOST_TABS)
            if other is not element
        )


def _has_sentence(element: html.HtmlElement) -> bool:
    """Whether it begins with more than links."""
    texts = islice(element.itertext(), _MOST_TEXTS)
    links = islice(element.iter("a"), _MOST_TEXTS)
    linked = sum(len(text.strip()) for link in links for text in islice(link.itertext(), _FEW))
    return sum(len(text.strip()) for text in texts) - linked >= max(_SENTENCE, linked)


def _is_named_tab(element: html.HtmlElement) -> bool:
    words = name_words(element)
    is_pane = "tab" in words and not words.isdisjoint({"pane", "content", "panel"})
    return element.get("role") == "tabpanel" or is_pane or not words.isdisjoint(_TABS)


def _is_note(element: html.HtmlElement) -> bool:
    """Whether it is a note in its sentence."""
    names = (element.get("class") or "")[:_LONGEST_NAME]
    return element.tag in INLINE and _NOTE.search(names) is not None
