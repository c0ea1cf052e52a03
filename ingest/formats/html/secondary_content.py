"""Finds what stands beside the article of a page: sidebars, related pages, teasers.

Pages without an article (front pages, listings, search results) have no secondary content: there,
links to other pages are the content.
"""

import re
from collections.abc import Container
from typing import Literal

from lxml import etree, html

from ingest.formats.html.boilerplate import (
    CONTENT,
    LISTS,
    NOTES,
    holds_title,
    is_in_article,
    is_site_footer,
    name_words,
)
from ingest.formats.html.text_stats import INLINE, PageStats, TextStats, measure_article, word_set

Verdict = Literal["", "boilerplate", "doubt"]

ARTICLE = 350
"""Bytes of prose that make an article."""
_CLEAR_ARTICLE = 1500  # bytes of prose that make a certain article
_UNITS = INLINE | (CONTENT - LISTS)  # never removed alone, only with their parent
_MOST = 0.8  # minimum share of the article's prose in its element
_NAMES = word_set(
    "sidebar aside rail related recommended recommendation recommendations popular mostread"
    " trending teaser teasers promo readmore upsell carousel widget widgets outbrain taboola"
    " relatedposts relatedarticles relatedcontent relatednews readnext recirc recirculation"
)
_COMMENTS = frozenset(
    {"comment", "comments", "discussion", "answers", "thread", "replies", "message"}
)
_KEPT = _COMMENTS | NOTES
_RECENT = frozenset({"recent", "latest"})  # comments on other pages
_BESIDE = (
    _NAMES
    | _COMMENTS
    | word_set("footer menu navbar newsletter subscribe cookie cookies consent modal popup")
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
_HAS_UNLINKED_TITLE = etree.XPath("boolean(.//h1[not(.//a) and not(ancestor::a)])")


class SecondaryContent:
    """`boilerplate` and `doubtful` elements beside the article; empty if there is no article."""

    def __init__(
        self,
        tree: html.HtmlElement,
        stats: PageStats,
        known: set[html.HtmlElement],
        own: Container[html.HtmlElement] = (),
    ) -> None:
        """`known`: the boilerplate found so far; `own`: what contains the page's own content."""
        self.boilerplate: list[html.HtmlElement] = []
        self.doubtful: list[html.HtmlElement] = []
        self._stats = stats
        self._page = stats[tree]
        self._known = known
        self._own = own
        self._comment_ancestors = self._find_comments()
        self._is_clear = True
        measure_article(stats, self._is_beside)
        if self._page.article < _CLEAR_ARTICLE:
            self._is_clear = False
            measure_article(stats, self._is_beside)
        self._path = self._path_to_article(tree)
        self._on_path = {element.getparent(): element for element in self._path[1:]}
        self._is_after = False
        if self._page.article >= ARTICLE and not self._has_other_main(tree):
            self._scan(tree)

    def _find_comments(self) -> set[html.HtmlElement]:
        """Ancestors of readers' comments; comments are kept."""
        found: set[html.HtmlElement] = set()
        for element, own in self._stats.items():
            words = name_words(element) if own.prose and element not in found else frozenset()
            if words & _COMMENTS and not words & _RECENT and element.tag not in INLINE:
                found.update(element.iterancestors())
        return found

    def _is_beside(self, element: html.HtmlElement) -> bool:
        if element in self._known:
            return True
        if element in self._own:
            return False
        stats = self._stats[element]
        if self._is_clear and _is_teasers(element, stats) and not holds_title(element):
            return True
        if stats.prose >= _most_prose(element) * self._page.prose:
            return False
        is_marked = element.tag in ("footer", "aside") or bool(name_words(element) & _BESIDE)
        return is_marked and not (stats.running >= ARTICLE and holds_title(element))

    def _path_to_article(self, tree: html.HtmlElement) -> list[html.HtmlElement]:
        """Elements from the page down to the innermost one that contains most of the article."""
        path = [tree]
        enough = _MOST * self._page.article
        while children := [child for child in path[-1] if not self._is_beside(child)]:
            best = max(children, key=lambda child: self._stats[child].article)
            if self._stats[best].article < enough or best.tag in CONTENT - {"body", "main"}:
                break
            if _is_section(best):
                break
            path.append(best)
        return path

    def _has_other_main(self, tree: html.HtmlElement) -> bool:
        """Whether `main` is elsewhere: then the article is only the preface of a list."""
        path, article = set(self._path), self._path[-1]
        return any(
            main not in path
            and self._stats[main].text > 0.3 * self._page.article
            and article not in main.iterancestors()
            for main in tree.iter("main")
        )

    def _scan(self, tree: html.HtmlElement) -> None:
        path, article = set(self._path), self._path[-1]
        stack = [(tree, False)]
        while stack:
            element, is_inside = stack.pop()
            if element in path:
                is_inside = element is article
                self._is_after |= is_inside
            elif element in self._known or name_words(element) & _KEPT:
                continue
            elif self._is_peer(element):
                is_inside = True
            elif verdict := self._verdict(element, is_inside=is_inside):
                (self.boilerplate if verdict == "boilerplate" else self.doubtful).append(element)
                continue
            elif element.tag in CONTENT - LISTS:
                continue
            stack.extend((child, is_inside) for child in reversed(element))

    def _is_peer(self, element: html.HtmlElement) -> bool:
        """Whether it is a section of the same kind beside the one that holds the article."""
        stats, parent = self._stats[element], element.getparent()
        if element.tag not in ("div", "section") or 2 * stats.linked > stats.text:
            return False
        name = element.get("class")
        if name is None and element.tag == "div":
            return False
        other = self._on_path.get(parent)
        if other is None or other.tag != element.tag or other.get("class") != name:
            return False
        return _has_own_heading(other) and _has_own_heading(element)

    def _verdict(self, element: html.HtmlElement, *, is_inside: bool) -> Verdict:
        stats, page = self._stats[element], self._page
        if element.tag in _UNITS or not stats.links or stats.text > 0.8 * page.text:
            return ""
        if element in self._comment_ancestors or element in self._own:
            return ""
        if not is_inside and is_site_footer(element):
            return "boilerplate"
        is_before = not is_inside and not self._is_after
        if is_before and stats.unlinked > stats.linked and _HAS_UNLINKED_TITLE(element):
            return ""  # the title, and often the summary below it
        is_apart = self._is_clear and not is_inside
        if not is_apart and stats.prose >= _most_prose(element) * page.prose:
            return ""
        if stats.article > 0.1 * page.article and not (is_apart and _is_teasers(element, stats)):
            return ""
        if self._is_marked(element, stats, is_inside=is_inside):
            return "boilerplate"
        verdict = "" if is_inside or _HAS_UNLINKED_TITLE(element) else _leads_away(stats)
        return "boilerplate" if verdict and self._is_clear and self._is_after else verdict

    def _is_marked(self, element: html.HtmlElement, stats: TextStats, *, is_inside: bool) -> bool:
        """Whether its tag, its name, or the heading above its links marks it as secondary."""
        per_link = stats.text / stats.links
        words = name_words(element)
        if element.tag == "aside" or words & _NAMES:
            is_listing = stats.prose <= 0.5 * stats.text
            return is_listing or per_link < 400 or (stats.links > 1 and not is_inside)
        if stats.links == 1 or per_link > 300:
            return False
        if not is_inside and (element.tag == "header" or "header" in words):
            return per_link < 200 and not is_in_article(element)
        return _HEADING.match(_first_text(element)) is not None


def _most_prose(element: html.HtmlElement) -> float:
    """Highest share of the page's prose that an element beside the article may have."""
    return 0.7 if _is_sidebar(element) else 0.5


def _is_sidebar(element: html.HtmlElement) -> bool:
    return element.tag == "aside" or "sidebar" in name_words(element)


def _is_teasers(element: html.HtmlElement, stats: TextStats) -> bool:
    """Whether it consists of links to other pages with short summaries, and little running text."""
    most = 400 if _is_sidebar(element) else 250
    if stats.links <= 4 or stats.text >= most * stats.links or stats.linked < 0.15 * stats.text:
        return False
    return stats.running < min(0.3 * stats.prose, _CLEAR_ARTICLE) or not stats.prose


def _is_section(element: html.HtmlElement) -> bool:
    """Whether it is a section of the article with its own heading."""
    is_part = element.tag == "section" or "section" in name_words(element)
    return is_part and len(element) > 0 and element[0].tag in ("h2", "h3", "h4", "h5", "h6")


def _has_own_heading(section: html.HtmlElement) -> bool:
    """Whether it begins with a heading that leads nowhere, unlike those of teasers."""
    heading = next(section.iter("h1", "h2", "h3", "h4", "h5", "h6"), None)
    if heading is None:
        return False
    said = " ".join(heading.itertext()).strip()
    if not said or not said.startswith(_first_text(section)) or _HEADING.match(said):
        return False
    return all((link.get("href") or "#").startswith("#") for link in heading.iter("a"))


def _first_text(element: html.HtmlElement) -> str:
    texts = (text.strip() for text in element.itertext())
    return next((text for text in texts if text), "")


def _leads_away(stats: TextStats) -> Verdict:
    """Whether it mostly links to other pages; a product list has prices beside its links."""
    if stats.links > 4 and stats.linked >= 0.7 * stats.text and stats.prose < 0.1 * stats.text:
        return "boilerplate"
    if stats.linked >= 0.5 * stats.text and stats.prose <= 0.5 * stats.text:
        return "doubt"
    data = stats.unlinked - stats.prose
    is_running = stats.running >= 0.9 * stats.prose >= 0.6 * stats.text or (
        stats.running >= max(ARTICLE, 0.7 * stats.prose) and stats.linked < 0.1 * stats.text
    )
    is_teasers = stats.links > 2 and stats.text < 250 * stats.links and not is_running
    return "doubt" if is_teasers and data < 0.45 * stats.text else ""
