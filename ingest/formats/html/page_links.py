"""What a page tells crawlers: its links, canonical URL and robots rules."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml import html

from ingest.model import MOST_LINKS, WebPage
from ingest.web.urls import join

_AGENT = "rag-ingest"
_MOST_ELEMENTS = 10 * MOST_LINKS  # elements read: bounds the time for broken pages
_SEPARATORS = re.compile(r"[\s,]+")


def web_page(tree: html.HtmlElement, url: str) -> WebPage:
    """Read the page at `url`. Call it before hidden elements are removed from the tree."""
    base = _base(tree, url)
    rules = _robots(tree)
    links, is_cut = _links(tree, base)
    return WebPage(
        links=links,
        canonical=_canonical(tree, base),
        index=not rules & {"noindex", "none"},
        follow=not rules & {"nofollow", "none"},
        is_cut=is_cut,
    )


def _base(tree: html.HtmlElement, url: str) -> str:
    """The URL that relative links are resolved against."""
    for reference in tree.xpath("//base/@href"):
        return _joined(url, reference) or url
    return url


def _links(tree: html.HtmlElement, base: str) -> tuple[tuple[str, ...], bool]:
    """The first links, and whether there are more."""
    found: dict[str, None] = {}
    references = _references(tree)
    for reference in islice(references, _MOST_ELEMENTS):
        link = _joined(base, reference)
        if link is None or link in found:
            continue
        if len(found) == MOST_LINKS:
            return tuple(found), True
        found[link] = None
    return tuple(found), next(references, None) is not None


def _references(tree: html.HtmlElement) -> Iterator[str]:
    for element in tree.iter("a", "area", "frame"):
        reference = element.get("src" if element.tag == "frame" else "href")
        if reference and "nofollow" not in _words(element.get("rel")):
            yield reference


def _canonical(tree: html.HtmlElement, base: str) -> str | None:
    declared = {
        _joined(base, element.get("href"))
        for element in tree.iter("link")
        if element.get("href") and "canonical" in _words(element.get("rel"))
    }
    return declared.pop() if len(declared) == 1 else None


def _robots(tree: html.HtmlElement) -> set[str]:
    """The robots rules for all crawlers and for this crawler; both apply."""
    rules: set[str] = set()
    for element in tree.iter("meta"):
        if (element.get("name") or "").strip().lower() in ("robots", _AGENT):
            rules |= _words(element.get("content"))
    return rules


def _words(value: str | None) -> set[str]:
    return set(_SEPARATORS.split((value or "").lower()))


def _joined(base: str, reference: str) -> str | None:
    try:
        return join(base, reference)
    except ValueError:
        return None
