"""How much text, linked text and prose each element of a page holds, in bytes of UTF-8.

Bytes, because a sentence in Chinese has a third of the characters of one in English.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from lxml import etree, html

from ingest.formats.html.furniture_names import words

INLINE = words(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q s"
    " samp small span strike strong sub sup time tt u var wbr"
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”\u2019»)\]]*(?:\s|$)|[。\uff01\uff1f।؟\u06d4]")
_SENTENCE = 50  # a dozen short words
_TEASER = 300  # the summary of another page is no longer than this
_PER_LINK = 400  # with less text around each link, a block is a card that leads to another page
_RUNNING = 3  # so many paragraphs beside one another are running text, whatever links are around


@dataclass(slots=True)
class Weight:
    """Sums over an element and everything inside it."""

    text: int = 0
    linked: int = 0
    links: int = 0
    prose: int = 0
    """Unlinked text of the blocks that hold a sentence."""
    article: int = 0
    """Prose that neither summarises another page nor stands beside the article."""
    running: int = 0
    """Prose of paragraphs beside one another: whatever links are around, it is running text."""
    own_prose: int = 0
    """Prose of this block alone, unless it starts with a link to what it tells of."""
    paragraphs: int = 0
    """Children that are blocks of prose."""
    _pending: int = 0
    _sentences: int = 0
    _in_paragraphs: int = 0

    @property
    def unlinked(self) -> int:
        """Text outside of links."""
        return self.text - self.linked

    def read(self, text: str | None) -> None:
        """Add text that stands directly in the element."""
        if text and (stripped := text.strip()):
            size = len(stripped.encode())
            self.text += size
            self._pending += size
            self._sentences += len(_SENTENCE_END.findall(stripped))

    def close(self, element: html.HtmlElement) -> None:
        """Settle the element after everything inside it: text of inline elements is its block's."""
        if element.tag == "a" and element.get("href") is not None:
            self.linked, self.links, self.prose = self.text, 1, 0
        elif element.tag in INLINE:
            return
        elif self._sentences and self._pending >= _SENTENCE:
            self.own_prose = 0 if _starts_with_link(element) else self._pending
            self.prose += self._pending
        if self.paragraphs >= _RUNNING:
            self.running += self._in_paragraphs
        self._pending = self._sentences = 0

    def add(self, child: "Weight") -> None:
        """Take over the sums of a child."""
        self.text += child.text
        self.linked += child.linked
        self.links += child.links
        self.running += child.running
        self.prose += child.prose
        self.paragraphs += child.own_prose > 0
        self._in_paragraphs += child.own_prose
        self._pending += child._pending
        self._sentences += child._sentences


def _starts_with_link(block: html.HtmlElement) -> bool:
    first = next(iter(block), None)
    return first is not None and first.tag == "a" and not (block.text or "").strip()


Weights = dict[html.HtmlElement, Weight]
"""By element, in document order."""


def weigh(tree: html.HtmlElement) -> Weights:
    """Weigh every element in one pass over the page; `article` stays zero."""
    weights = {element: Weight() for element in tree.iter(etree.Element)}
    for element in reversed(weights):
        weight = weights[element]
        weight.read(element.text)
        weight.close(element)
        if element is not tree:
            around = weights[element.getparent()]
            around.add(weight)
            around.read(element.tail)
    return weights


def weigh_article(weights: Weights, is_beside: Callable[[html.HtmlElement], bool]) -> None:
    """Fill in `article`; what is beside the article counts for itself, not for what is around."""
    for weight in weights.values():
        weight.article = 0
    for element in reversed(weights):
        weight = weights[element]
        around = weights.get(element.getparent())
        if weight.own_prose and not (around and _is_teaser(weight, around)):
            weight.article += weight.own_prose
        if around and weight.article and element.tag != "a" and not is_beside(element):
            around.article += weight.article


def _is_teaser(block: Weight, around: Weight) -> bool:
    return (
        block.own_prose < _TEASER
        and around.paragraphs < _RUNNING
        and around.text < _PER_LINK * around.links
    )
