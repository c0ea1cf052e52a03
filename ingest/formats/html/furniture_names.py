"""Words in the classes and ids of elements: what their authors call them."""

import re
from functools import lru_cache

from lxml import html

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[^a-zA-Z]+")
_LONGEST = 500  # characters; more is no name


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def names(element: html.HtmlElement) -> frozenset[str]:
    """`<div id="siteHeader" class="nav-bar">`: site, header, nav, bar."""
    return _split(element.get("class") or "") | _split(element.get("id") or "")


@lru_cache(4096)
def _cached(value: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.split(value) if word)


def _split(value: str) -> frozenset[str]:
    return _cached(value) if 0 < len(value) <= _LONGEST else frozenset()
