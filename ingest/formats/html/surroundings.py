"""What stands around the article of a page and leads to others: sidebars, related pages, teasers.

Pages without an article (front pages, listings, search results) have no surroundings: what leads
to other pages is their content.
"""

import re
from typing import Literal

from lxml import etree, html

from ingest.formats.html.furniture import (
    CONTENT,
    LISTS,
    holds_page,
    is_inside_article,
    is_site_footer,
)
from ingest.formats.html.furniture_names import names, words
from ingest.formats.html.text_weights import INLINE, Weight, Weights, weigh_article

Verdict = Literal["", "furniture", "doubt"]

_ARTICLE = 350  # bytes of prose, at least
_CLEAR_ARTICLE = 1500  # what follows so much in paragraphs does not bear on it
_UNITS = INLINE | (CONTENT - LISTS)  # never left out alone, only with what is around them
_MOST = 0.8  # of the article's prose is in its element
_NAMES = words(
    "sidebar aside rail related recommended recommendation recommendations popular mostread"
    " trending teaser teasers promo readmore upsell carousel widget widgets outbrain taboola"
    " relatedposts relatedarticles relatedcontent relatednews readnext recirc recirculation"
)
_COMMENTS = frozenset({"comment", "comments", "discussion", "answers", "thread", "replies"})
_RECENT = frozenset({"recent", "latest"})  # comments on other pages
_BESIDE = (
    _NAMES
    | _COMMENTS
    | words("footer menu navbar newsletter subscribe cookie cookies consent modal popup")
)
_HEADING = re.compile(
    r"(?:(?:our|the|see|view) )?(?:"
    r"you (?:may|might) also|(?:also |more )?related|recommended|trending|similar|latest|popular"
    r"|most (?:read|popular|viewed)|read (?:more|next|also)|also read|up next|don.t miss"
    r"|more (?:from|in|on|stories|news|articles|posts)|breaking news"
    r"|(?:featured|recent) (?:articles|posts|news)"
    r"|das könnte|mehr (?:zum|aus|von)|lesen sie|weitere (?:artikel|themen)|meistgelesen|ähnliche"
    r"|lire aussi|à lire|sur le même|articles? (?:liés|similaires)"
    r"|también te|te puede|lee también|leggi anche|potrebbe|veja também|leia (?:também|mais)"
    r"|lees ook|читайте|похожие)",
    re.IGNORECASE,
)
_HEADED = etree.XPath("boolean(.//h1[not(.//a) and not(ancestor::a)])")


class Surroundings:
    """Looks for the article of a page; `furniture` and `doubtful` are empty if there is none."""

    def __init__(
        self, tree: html.HtmlElement, weights: Weights, known: set[html.HtmlElement]
    ) -> None:
        """`known`: what is furniture anyway."""
        self.furniture: list[html.HtmlElement] = []
        self.doubtful: list[html.HtmlElement] = []
        self._weights = weights
        self._page = weights[tree]
        self._known = known
        self._around_comments = self._find_comments()
        self._is_clear = True
        weigh_article(weights, self._is_beside)
        if self._page.article < _CLEAR_ARTICLE:
            self._is_clear = False
            weigh_article(weights, self._is_beside)
        self._path = self._way_to_article(tree)
        self._is_after = False
        if self._page.article >= _ARTICLE and not self._is_elsewhere(tree):
            self._look(tree)

    def _find_comments(self) -> set[html.HtmlElement]:
        """All that is around the comments of readers, which are kept."""
        found: set[html.HtmlElement] = set()
        for element, weight in self._weights.items():
            called = names(element) if weight.prose and element not in found else frozenset()
            if called & _COMMENTS and not called & _RECENT and element.tag not in INLINE:
                found.update(element.iterancestors())
        return found

    def _is_beside(self, element: html.HtmlElement) -> bool:
        if element in self._known:
            return True
        weight = self._weights[element]
        if self._is_clear and _is_teasers(element, weight) and not holds_page(element):
            return True
        if weight.prose >= _largest(element) * self._page.prose:
            return False
        says_so = element.tag in ("footer", "aside") or bool(names(element) & _BESIDE)
        return says_so and not (weight.running >= _ARTICLE and holds_page(element))

    def _way_to_article(self, tree: html.HtmlElement) -> list[html.HtmlElement]:
        """From the page to the innermost element that holds most of the article."""
        path = [tree]
        enough = _MOST * self._page.article
        while children := [child for child in path[-1] if not self._is_beside(child)]:
            best = max(children, key=lambda child: self._weights[child].article)
            if self._weights[best].article < enough or best.tag in CONTENT - {"body", "main"}:
                break
            if _is_section(best):
                break
            path.append(best)
        return path

    def _is_elsewhere(self, tree: html.HtmlElement) -> bool:
        """Whether the page says that something else is its main content: a list with a preface."""
        way, article = set(self._path), self._path[-1]
        return any(
            main not in way
            and self._weights[main].text > 0.3 * self._page.article
            and article not in main.iterancestors()
            for main in tree.iter("main")
        )

    def _look(self, tree: html.HtmlElement) -> None:
        way, article = set(self._path), self._path[-1]
        stack = [(tree, False)]
        while stack:
            element, is_inside = stack.pop()
            if element in way:
                is_inside = element is article
                self._is_after |= is_inside
            elif element in self._known or names(element) & _COMMENTS:
                continue
            elif verdict := self._verdict(element, is_inside=is_inside):
                (self.furniture if verdict == "furniture" else self.doubtful).append(element)
                continue
            elif element.tag in CONTENT - LISTS:
                continue
            stack.extend((child, is_inside) for child in reversed(element))

    def _verdict(self, element: html.HtmlElement, *, is_inside: bool) -> Verdict:
        weight, page = self._weights[element], self._page
        if element.tag in _UNITS or not weight.links or weight.text > 0.8 * page.text:
            return ""
        if element in self._around_comments:
            return ""
        if not is_inside and is_site_footer(element):
            return "furniture"
        is_apart = self._is_clear and not is_inside
        if not is_apart and weight.prose >= _largest(element) * page.prose:
            return ""
        if weight.article > 0.1 * page.article and not (is_apart and _is_teasers(element, weight)):
            return ""
        if self._is_called_so(element, weight, is_inside=is_inside):
            return "furniture"
        verdict = "" if is_inside or _HEADED(element) else _leads_away(weight)
        return "furniture" if verdict and self._is_clear and self._is_after else verdict

    def _is_called_so(self, element: html.HtmlElement, weight: Weight, *, is_inside: bool) -> bool:
        """By its name, or by the heading of its links."""
        per_link = weight.text / weight.links
        called = names(element)
        if element.tag == "aside" or called & _NAMES:
            is_listing = weight.prose <= 0.5 * weight.text
            return is_listing or per_link < 400 or (weight.links > 1 and not is_inside)
        if weight.links == 1 or per_link > 300:
            return False
        if not is_inside and (element.tag == "header" or "header" in called):
            return per_link < 200 and not is_inside_article(element)
        return _HEADING.match(_first_text(element)) is not None


def _largest(element: html.HtmlElement) -> float:
    """Share of the page's prose that an element beside the article may have, at most."""
    return 0.7 if _is_sidebar(element) else 0.5


def _is_sidebar(element: html.HtmlElement) -> bool:
    return element.tag == "aside" or "sidebar" in names(element)


def _is_teasers(element: html.HtmlElement, weight: Weight) -> bool:
    """Links to other pages, with what stands there in short instead of running text."""
    most = 400 if _is_sidebar(element) else 250
    if (
        weight.links <= 4
        or weight.text >= most * weight.links
        or weight.linked < 0.15 * weight.text
    ):
        return False
    return weight.running < min(0.3 * weight.prose, _CLEAR_ARTICLE) or not weight.prose


def _is_section(element: html.HtmlElement) -> bool:
    """Whether it is a part of the article under a heading of its own."""
    is_part = element.tag == "section" or "section" in names(element)
    return is_part and len(element) > 0 and element[0].tag in ("h2", "h3", "h4", "h5", "h6")


def _first_text(element: html.HtmlElement) -> str:
    texts = (text.strip() for text in element.itertext())
    return next((text for text in texts if text), "")


def _leads_away(weight: Weight) -> Verdict:
    """By the share of links. Prices and figures beside them tell a list of goods from teasers."""
    if weight.links > 4 and weight.linked >= 0.7 * weight.text and weight.prose < 0.1 * weight.text:
        return "furniture"
    if weight.linked >= 0.5 * weight.text and weight.prose <= 0.5 * weight.text:
        return "doubt"
    data = weight.unlinked - weight.prose
    is_teasers = weight.links > 2 and weight.text < 250 * weight.links
    return "doubt" if is_teasers and data < 0.45 * weight.text else ""
