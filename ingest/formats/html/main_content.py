"""Removes the boilerplate of a page. Everything else stays, and the removed text is counted.

What the page itself calls its content is no boilerplate, nor what contains it, whatever the names
of these elements are: the text that its description quotes, because the summary above an article
is often called `teaser` and stands in its `header`; and the only element named as its body.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree, html

from ingest.formats.html.boilerplate import find_boilerplate, holds_title, name_words
from ingest.formats.html.secondary_content import ARTICLE, SecondaryContent
from ingest.formats.html.text_stats import PageStats, TextStats, measure, word_set
from ingest.optional_steps import improve

_MOST_DOUBTFUL = 0.3  # unlinked text of doubtful blocks, relative to the text left without them
_DESCRIPTIONS = etree.XPath(
    "//meta[@name='description' or @property='og:description' or @name='twitter:description']"
    "/@content",
    smart_strings=False,
)
_TEXTS = etree.XPath("//body//text()")
_QUOTED = 40  # characters without spaces that the page must have in common with its description
_MOST_PLACES = 5
_LENGTH = etree.XPath("string-length(normalize-space(.))")
_MOST_BYTES = 4  # of a character
_CLEARLY = 2 * _MOST_BYTES  # times as many characters: at least twice the bytes
_BESIDE = word_set("a nav footer aside button script style template noscript select")
_NOTICES = word_set(
    "cookie cookies consent gdpr ccpa cmp onetrust didomi modal popup newsletter newsletters"
)
"""Content systems describe a page by its first text, which may be that of a notice."""
_BODIES = word_set(
    "entry-content post-content article-content article-body articlebody story-body post-body"
)
_MARKED = etree.XPath(
    "//body//*[@itemprop='articleBody' or contains(@class, 'ontent') or contains(@class, 'ody')"
    " or contains(@class, 'ONTENT') or contains(@class, 'ODY')]"
)
"""Elements that may be named so."""
_CLASSES = etree.XPath("//body//@class", smart_strings=False)
_PROPERTIES = etree.XPath("//body//@itemprop", smart_strings=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """How much text was removed from a page."""

    text: int = 0
    """Bytes of UTF-8."""
    share: float = 0.0
    """Of all text of the page."""
    is_unsure: bool = False
    """Too much was doubtful, so only certain boilerplate was removed."""


def drop_boilerplate(tree: html.HtmlElement, described: Iterable[str] = ()) -> LeftOut:
    """Change the page in place; a page with text always keeps some.

    `described`: descriptions() of the page, which it quotes in its content.
    """
    _resolve_noscript(tree)
    stats = measure(tree)
    own = improve(
        "main_content", lambda: _own_content(tree, described), otherwise=set[html.HtmlElement]
    )
    known = set(find_boilerplate(tree, stats, own))
    secondary = SecondaryContent(tree, stats, known, own)
    certain = _outermost(known.union(secondary.boilerplate), stats)
    everything = _outermost({*certain, *secondary.doubtful}, stats)
    page = stats[tree].text
    least, most = _sum(map(stats.get, certain)), _sum(map(stats.get, everything))
    if most.text >= page:
        return LeftOut(is_unsure=page > 0)
    is_unsure = most.unlinked - least.unlinked > _MOST_DOUBTFUL * (page - most.text)
    for element in certain if is_unsure else everything:
        element.drop_tree()
    text = (least if is_unsure else most).text
    return LeftOut(text=text, share=round(text / page, 3), is_unsure=is_unsure)


def _outermost(chosen: set[html.HtmlElement], stats: PageStats) -> list[html.HtmlElement]:
    """The chosen elements, in order, without those inside another one."""
    found = []
    # Whether an ancestor, or one above it, is chosen: many elements may share a long way up.
    known: dict[html.HtmlElement, bool] = {}
    for element in stats:
        if element in chosen:
            path, is_inside = [], False
            for ancestor in element.iterancestors():
                if (is_inside := known.get(ancestor, ancestor in chosen)) or ancestor in known:
                    break
                path.append(ancestor)
            known.update(dict.fromkeys(path, is_inside))
            if not is_inside:
                found.append(element)
    return found


def _sum(stats: Iterable[TextStats | None]) -> TextStats:
    total = TextStats()
    for own in stats:
        if own is not None:
            total.text += own.text
            total.linked += own.linked
            total.prose += own.prose
    return total


def _resolve_noscript(tree: html.HtmlElement) -> None:
    """Keep `noscript` if it holds most of the text or of the prose: scripts would load the page's
    content, beside a navigation that may be long."""
    elements = list(tree.iter("noscript"))
    has_most = _may_have_most(tree, elements) and _have_most(elements, measure(tree), tree)
    for element in elements:
        if has_most:
            element.tag = "div"
        elif element.getparent() is not None:
            element.drop_tree()


def _may_have_most(tree: html.HtmlElement, elements: Iterable[html.HtmlElement]) -> bool:
    """Whether it is worth while to measure the page; mostly, they hold a picture that counts."""
    inside = sum(int(_LENGTH(element)) for element in elements)
    return _MOST_BYTES * inside >= ARTICLE or _CLEARLY * inside > int(_LENGTH(tree))


def _have_most(
    elements: Iterable[html.HtmlElement], stats: PageStats, tree: html.HtmlElement
) -> bool:
    inside, page = _sum(map(stats.get, elements)), stats[tree]
    return 2 * inside.text > page.text or (
        inside.prose >= ARTICLE and 2 * inside.prose > page.prose
    )


def descriptions(tree: html.HtmlElement) -> list[str]:
    """The summaries of the page in its head."""
    return list(_DESCRIPTIONS(tree)[:_MOST_PLACES])


def _own_content(tree: html.HtmlElement, described: Iterable[str]) -> set[html.HtmlElement]:
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
    page = _folded("".join(texts))
    if not any(start in page for start in quoted):
        return []
    starts = [0]  # in `page`, of the texts up to where it has been looked at
    found = []
    for start in quoted:
        place = -1
        for _ in range(_MOST_PLACES):
            place = page.find(start, place + 1)
            if place < 0:
                break
            while starts[-1] <= place:
                starts.append(starts[-1] + len(_folded(texts[len(starts) - 1])))
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
    used = "\n".join(_CLASSES(tree)).lower()
    if not any(name in used for name in _BODIES) and "articleBody" not in _PROPERTIES(tree):
        return []
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
