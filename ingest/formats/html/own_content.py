"""Finds what a page itself calls its content: the text that its description quotes, and the element
that its markup names as the article's body. Neither is boilerplate, nor what contains it, whatever
their names are: the summary above an article is often called `teaser` and stands in its `header`.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from lxml import etree, html

from ingest.formats.html.boilerplate import holds_title, name_words
from ingest.formats.html.text_stats import word_set

_DESCRIPTIONS = etree.XPath(
    "//meta[@name='description' or @property='og:description' or @name='twitter:description']"
    "/@content",
    smart_strings=False,
)
_TEXTS = etree.XPath("//body//text()")
_QUOTED = 40  # characters without spaces that the page must have in common with its description
_MOST_PLACES = 5
_BESIDE = word_set("a nav footer aside button script style template noscript select")
_NOTICES = word_set(
    "cookie cookies consent gdpr ccpa cmp onetrust didomi modal popup newsletter newsletters"
)
"""Content systems describe a page by its first text, which may be that of a notice."""
_BODIES = word_set(
    "entry-content post-content article-content article-body articlebody story-body post-body"
)
_MARKED = etree.XPath("//body//*[@itemprop='articleBody' or @class]")


def descriptions(tree: html.HtmlElement) -> list[str]:
    """The summaries of the page in its head."""
    return list(_DESCRIPTIONS(tree)[:_MOST_PLACES])


def own_content(tree: html.HtmlElement, described: Iterable[str]) -> set[html.HtmlElement]:
    """These elements and all that contain them. `described`: descriptions() of the page."""
    found: set[html.HtmlElement] = set()
    for element in (*_summaries(tree, described), *_body_of_article(tree)):
        found.add(element)
        found.update(element.iterancestors())
    return found


def _summaries(tree: html.HtmlElement, described: Iterable[str]) -> list[html.HtmlElement]:
    """For each description, the first element outside links that starts with its words."""
    quoted = {_folded(text)[:_QUOTED] for text in described}
    quoted = {start for start in quoted if len(start) == _QUOTED}
    if not quoted:
        return []
    texts = _TEXTS(tree)
    folded = [_folded(text) for text in texts]
    starts = [0, *accumulate(map(len, folded))]
    page = "".join(folded)
    found = []
    for start in quoted:
        place = -1
        for _ in range(_MOST_PLACES):
            place = page.find(start, place + 1)
            if place < 0:
                break
            text = texts[bisect_right(starts, place) - 1]
            element = text.getparent().getparent() if text.is_tail else text.getparent()
            if not any(map(_is_beside, (element, *element.iterancestors()))):
                found.append(element)
                break
    return found


def _is_beside(element: html.HtmlElement) -> bool:
    if element.tag in _BESIDE:
        return True
    return not _NOTICES.isdisjoint(name_words(element)) and not (
        element.tag in ("body", "html") or holds_title(element)
    )


def _body_of_article(tree: html.HtmlElement) -> list[html.HtmlElement]:
    """The only element with such a name; lists of articles have several."""
    found = [
        element
        for element in _MARKED(tree)
        if element.get("itemprop") == "articleBody"
        or not _BODIES.isdisjoint(element.get("class", "").lower().split())
    ]
    # In document order, an element inside the first one follows it.
    if found and all(found[0] in other.iterancestors() for other in found[1:_MOST_PLACES]):
        return found[:1] if len(found) <= _MOST_PLACES else []
    return []


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()
