"""Removes the boilerplate of a page. Everything else stays, and the removed text is counted."""

from collections.abc import Iterable
from dataclasses import dataclass

from lxml import html

from ingest.formats.html.boilerplate import find_boilerplate
from ingest.formats.html.own_content import own_content
from ingest.formats.html.secondary_content import ARTICLE, SecondaryContent
from ingest.formats.html.text_stats import PageStats, TextStats, measure

_MOST_DOUBTFUL = 0.3  # unlinked text of doubtful blocks, relative to the text left without them


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
    own = own_content(tree, described)
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
    if not elements:
        return
    stats = measure(tree)
    inside, page = _sum(map(stats.get, elements)), stats[tree]
    has_most = 2 * inside.text > page.text or (
        inside.prose >= ARTICLE and 2 * inside.prose > page.prose
    )
    for element in elements:
        if has_most:
            element.tag = "div"
        elif element.getparent() is not None:
            element.drop_tree()
