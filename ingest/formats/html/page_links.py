"""What a page says to crawlers: its links, its canonical address and its robots rules."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml import html

from ingest.model import MOST_LINKS, WebPage
from ingest.web.urls import join

_AGENT = "rag-ingest"
_MOST_LOOKED_AT = 10 * MOST_LINKS  # elements; a page of broken links shall not take minutes
_SEPARATORS = re.compile(r"[\s,]+")


def web_page(tree: html.HtmlElement, url: str) -> WebPage:
    """The page that was found at `url`; takes the tree before hidden elements are removed."""
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
    """What relative addresses of the page are relative to."""
    for reference in tree.xpath("//base/@href"):
        return _joined(url, reference) or url
    return url


def _links(tree: html.HtmlElement, base: str) -> tuple[tuple[str, ...], bool]:
    """The links that are kept, and whether there are more."""
    found: dict[str, None] = {}
    references = _references(tree)
    for reference in islice(references, _MOST_LOOKED_AT):
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
    stated = {
        _joined(base, element.get("href"))
        for element in tree.iter("link")
        if element.get("href") and "canonical" in _words(element.get("rel"))
    }
    return stated.pop() if len(stated) == 1 else None


def _robots(tree: html.HtmlElement) -> set[str]:
    """The rules for all robots and for ours; where both speak, both hold."""
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
