"""How much text, linked text and prose each element of a page contains, in bytes of UTF-8.

Bytes, because a Chinese sentence has a third of the characters of an English one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from lxml import etree, html


def word_set(text: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(text.split())


INLINE = word_set(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark"
    " q s samp small span strike strong sub sup time tt u var wbr"
)
_SENTENCE_END = re.compile(r"[.!?…][\"'”\u2019»)\]]*(?:\s|$)|[。\uff01\uff1f।؟\u06d4]")
_SENTENCE = 50  # bytes, about a dozen short words
_TEASER = 300  # bytes; the summary of another page is shorter
_PER_LINK = 400  # bytes; a block with less text per link is a card that links to another page
_RUNNING = 3  # paragraphs; with so many siblings, they are running text despite links around them


@dataclass(slots=True)
class TextStats:
    """Sums over an element and its descendants."""

    text: int = 0
    linked: int = 0
    links: int = 0
    prose: int = 0
    """Unlinked text of blocks that contain a sentence."""
    article: int = 0
    """Prose without teasers for other pages and without what stands beside the article."""
    running: int = 0
    """Prose of sibling paragraphs: running text, whatever links are around it."""
    own_prose: int = 0
    """Prose of this block alone; 0 if it starts with a link to the page it describes."""
    paragraphs: int = 0
    """Number of children that are blocks of prose."""
    _pending: int = 0
    _has_sentence: bool = False
    _in_paragraphs: int = 0

    @property
    def unlinked(self) -> int:
        """Text outside links."""
        return self.text - self.linked

    def read(self, text: str | None) -> None:
        """Add text directly inside the element."""
        if text and (stripped := text.strip()):
            size = len(stripped) if stripped.isascii() else len(stripped.encode())
            self.text += size
            self._pending += size
            if not self._has_sentence:
                self._has_sentence = _SENTENCE_END.search(stripped) is not None

    def close(self, element: html.HtmlElement) -> None:
        """Finish the element after its descendants; inline elements leave text to their block."""
        tag = element.tag
        if tag == "a" and element.get("href") is not None:
            if _is_annotation(element):
                return
            self.linked, self.links, self.prose = self.text, 1, 0
        elif tag in INLINE:
            return
        elif self._has_sentence and self._pending >= _SENTENCE:
            self.own_prose = 0 if _starts_with_link(element) else self._pending
            self.prose += self._pending
        if self.paragraphs >= _RUNNING:
            self.running += self._in_paragraphs
        self._pending, self._has_sentence = 0, False

    def add(self, child: "TextStats") -> None:
        """Add the sums of a child."""
        if not child.text and not child.links:
            return
        self.text += child.text
        self.linked += child.linked
        self.links += child.links
        self.running += child.running
        self.prose += child.prose
        self.paragraphs += child.own_prose > 0
        self._in_paragraphs += child.own_prose
        self._pending += child._pending
        self._has_sentence |= child._has_sentence


def _is_annotation(link: html.HtmlElement) -> bool:
    """Whether it is lines of a text, as of verses, that lead to a note on them."""
    line_break = link.find("br") if len(link) else None
    if line_break is None or "#" not in link.get("href", ""):
        return False
    return bool((line_break.tail or "").strip() and (link.text or "").strip())


def _starts_with_link(block: html.HtmlElement) -> bool:
    first = next(iter(block), None)
    return first is not None and first.tag == "a" and not (block.text or "").strip()


PageStats = dict[html.HtmlElement, TextStats]
"""By element, in document order."""


def measure(tree: html.HtmlElement) -> PageStats:
    """Measure every element in one pass; `article` stays zero."""
    stats = {element: TextStats() for element in tree.iter(etree.Element)}
    for element, own in reversed(stats.items()):
        own.read(element.text)
        own.close(element)
        if element is not tree:
            parent = stats[element.getparent()]
            parent.add(own)
            parent.read(element.tail)
    return stats


def measure_article(stats: PageStats, is_beside: Callable[[html.HtmlElement], bool]) -> None:
    """Set `article`; an element beside the article does not count for its ancestors."""
    for own in stats.values():
        own.article = 0
    for element, own in reversed(stats.items()):
        if not own.own_prose and not own.article:
            continue
        parent = stats.get(element.getparent())
        if own.own_prose and not (parent and _is_teaser(own, parent)):
            own.article += own.own_prose
        if parent and own.article and element.tag != "a" and not is_beside(element):
            parent.article += own.article


def _is_teaser(block: TextStats, parent: TextStats) -> bool:
    return (
        block.own_prose < _TEASER
        and parent.paragraphs < _RUNNING
        and parent.text < _PER_LINK * parent.links
    )
