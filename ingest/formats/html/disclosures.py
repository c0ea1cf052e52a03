"""Hidden parts of a page that readers open: answers below their question, tabs, notes at a mark.

A control that readers see must lead to them. Menus and dialogs are opened as well, but are not
part of the text.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from itertools import chain, islice, takewhile

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
_SETTINGS = word_set(
    "cookie cookies consent gdpr ccpa cmp onetrust didomi usercentrics modal popup lightbox"
    " offcanvas megamenu navbar filter filters facet facets"
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
_LABELS = ("a", "button", "label", "li")
_NEAR = 3  # elements beside and around tabs that may be their names
_MARKS = word_set("sup a label button abbr span")
_LEVELS = 8  # elements around a part that say what it is
_MOST_CONTROLS = 20  # of one part
_MOST_PARTS = 60  # pieces of a control that are looked at
FOLDING = frozenset({"display", "visibility", "opacity", "height", "max-height"})
"""Properties of what is opened; other ones hide it."""


class Disclosures:
    """Of one page, before anything hidden is removed from it."""

    def __init__(
        self, tree: html.HtmlElement, is_hidden: Callable[[html.HtmlElement], bool]
    ) -> None:
        """`is_hidden`: whether readers cannot see an element, whatever is around it."""
        self.has_shown_sentence = False
        self._tree = tree
        self._look = is_hidden
        self._seen: set[html.HtmlElement] = set()
        self._named: dict[html.HtmlElement, bool] = {}  # by what is around the tabs

    def show(self, element: html.HtmlElement) -> bool:
        """Whether readers can open the element; then it is no longer folded."""
        is_note = _is_note(element) and self._has_mark(element)
        if not (is_note or self._is_tab(element) or self._is_controlled(element)):
            return False
        self.has_shown_sentence |= _length(element) >= _SENTENCE
        element.attrib.pop("hidden", None)
        _unfold(element)
        if is_note:
            element.set("class", "footnote")
        elif (before := element.getprevious()) is not None:
            for button in before.iter("button"):
                button.set(OPENS, "")
        return True

    def _is_hidden(self, element: html.HtmlElement) -> bool:
        """Cached if it is not: nothing becomes hidden later."""
        if element not in self._seen:
            if self._look(element):
                return True
            self._seen.add(element)
        return False

    @cached_property
    def _controls(self) -> dict[str, list[html.HtmlElement]]:
        """Those that name what they open, by its id."""
        found: dict[str, list[html.HtmlElement]] = defaultdict(list)
        for control in _CONTROLS(self._tree):
            for name in _TARGETS:
                for target in control.get(name, "").replace("#", " ").split():
                    found[target].append(control)
        return found

    def _is_controlled(self, element: html.HtmlElement) -> bool:
        words = name_words(element)
        if not words.isdisjoint(_OVER_PAGE) or not _has_sentence(element):
            return False
        is_opened = self._follows_control(element, words) or self._has_target(element)
        return is_opened and not _AROUND(element) and not _is_in_settings(element)

    def _has_target(self, element: html.HtmlElement) -> bool:
        """Whether a control that readers see names it."""
        controls = self._controls.get(element.get("id") or "", ())
        return any(self._can_press(control, element) for control in controls[:_MOST_CONTROLS])

    def _can_press(self, control: html.HtmlElement, opened: html.HtmlElement) -> bool:
        if "disabled" in control.attrib or "inert" in control.attrib:
            return False
        if not self._seen_length(control) and next(control.iter("svg", "img", "i"), None) is None:
            return False
        common = set(opened.iterancestors())  # if it is hidden, so is what is opened
        around = takewhile(lambda one: one not in common, control.iterancestors())
        return not any(map(self._is_hidden, [control, *around]))

    def _follows_control(self, element: html.HtmlElement, words: frozenset[str]) -> bool:
        parent = element.getparent()
        names = words if parent is None else words | name_words(parent)
        is_folded = not names.isdisjoint(_FOLDED) or any(
            name in element.attrib for name in _FRAMEWORKS
        )
        before, behind = element.getprevious(), element.getnext()
        if is_folded and behind is not None and _PRESSED(behind) and self._is_short(behind):
            return True
        if before is None:
            return False
        opens = is_folded or _PRESSED(before) or not name_words(before).isdisjoint(_FOLDED)
        return (opens or _asks(before)) and self._is_short(before)

    def _is_short(self, control: html.HtmlElement) -> bool:
        """Whether readers see a few words of it."""
        return _SHORTEST_CONTROL <= self._seen_length(control) <= _LONGEST_CONTROL

    def _seen_length(self, control: html.HtmlElement) -> int:
        """Characters that readers see of it, if what is around it is seen."""
        length, stack = 0, [control]
        for _ in range(_MOST_PARTS):
            if not stack or length > _LONGEST_CONTROL:
                break
            part = stack.pop()
            if isinstance(part, str):
                length += len(" ".join(part.split()))
            elif isinstance(part.tag, str) and not self._is_hidden(part):
                inner = [part.text, *(one for child in part for one in (child, child.tail))]
                stack.extend(one for one in reversed(inner) if one is not None)
        return length

    def _is_tab(self, element: html.HtmlElement) -> bool:
        """Whether it is a tab that is not selected, beside one that is, below their names."""
        parent = element.getparent()
        if parent is None or not _is_named_tab(element):
            return False
        has_selected = any(
            _is_named_tab(other) and not self._is_hidden(other)
            for other in islice(parent.iterchildren(element.tag), _MOST_TABS)
            if other is not element
        )
        if not has_selected:
            return False
        if parent not in self._named:
            self._named[parent] = self._has_names(parent)
        return self._named[parent] or self._has_target(element)

    def _has_names(self, tabs: html.HtmlElement) -> bool:
        """Whether readers see what may be the names of the tabs, beside or above them."""
        beside = (child for child in tabs.iterchildren(etree.Element) if not _is_named_tab(child))
        above = (
            islice(around.itersiblings(etree.Element, preceding=True), _NEAR)
            for around in islice(chain([tabs], tabs.iterancestors()), _NEAR)
        )
        for names in chain(islice(beside, _NEAR), *above):
            seen = filter(self._seen_length, islice(names.iter(*_LABELS), _MOST_TABS))
            if len(list(islice(seen, 2))) == 2 and not self._is_hidden(names):
                return True
        return False

    def _has_mark(self, note: html.HtmlElement) -> bool:
        """Whether something that readers see stands for it in the sentence."""
        before, parent = note.getprevious(), note.getparent()
        while before is not None and before.tag == "input" and not (before.tail or "").strip():
            before = before.getprevious()
        if before is not None:
            is_mark = before.tag in _MARKS and not (before.tail or "").strip()
            return is_mark and not self._is_hidden(before)
        return parent is not None and parent.tag in INLINE and bool((parent.text or "").strip())


def _unfold(element: html.HtmlElement) -> None:
    """Remove what folds it from its style; what hides it in other ways stays."""
    kept = (
        one
        for one in element.attrib.pop("style", "").split(";")
        if one.partition(":")[0].strip().lower() not in FOLDING
    )
    if style := ";".join(kept):
        element.set("style", style)


def _asks(element: html.HtmlElement) -> bool:
    is_heading = element.tag in _HEADINGS
    return is_heading and element.text_content().rstrip().endswith(("?", "\uff1f", "؟"))


def _is_in_settings(element: html.HtmlElement) -> bool:
    """Whether it is part of a dialog, or of what filters a list."""
    around = islice(element.iterancestors("div", "section", "aside", "form", "ul"), _LEVELS)
    return any(not name_words(one).isdisjoint(_SETTINGS) for one in around)


def _length(element: html.HtmlElement) -> int:
    return sum(len(" ".join(text.split())) for text in element.itertext())


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
