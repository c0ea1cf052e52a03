"""Furniture of a site: blocks that repeat at the edges of its pages, such as menus and footers.

A block counts by what it says, not by its markup. Only what stands before or after the content of a
page is furniture: the inside of the content is never touched, whatever repeats there. A block that
a page has once more than the others is its content.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import zip_longest
from typing import Final

from ingest.model import Document
from ingest.web.page_blocks import Block, split_blocks

MEDIA_TYPES: Final = ("text/html", "text/markdown")
"""Of the documents that may have furniture."""
FEWEST_PAGES: Final = 8
"""With the block; what fewer pages share may be their content."""
_SHARE: Final = 0.5
"""Of the pages, for links, and for prose, which one page keeps."""
_SHARE_OF_DATA: Final = 0.9
"""The same for short text without links: `In stock` on most pages says something about each."""
_STAYS: Final = 0.5
"""Of these shares, for known furniture, so that a few pages do not turn the decision."""
_AT_EDGES: Final = 0.8
"""Of the pages with the block, the least share where it is at the edge: elsewhere it is content."""
_MOST_KEYS: Final = 500
_LEAST_LEFT: Final = 50
"""Bytes of a page's text besides headings. A page with less to say of its own stays whole."""
_COST_OF_HEADING: Final = 3
_DIGIT: Final = re.compile(r"\d")

Removed = tuple[tuple[int, str], ...]
"""Parts left out of a text: where, in what is left, and what; in order."""


@dataclass(frozen=True, slots=True)
class PageKeys:
    """The blocks of a page, as decide() compares them."""

    uri: str
    blocks: tuple[Block, ...]
    head: tuple[str, ...]
    """Per block: its key as part of the page's head."""
    tail: tuple[str, ...]
    """Per block: its key as part of the page's tail."""


def read_page(uri: str, text: str) -> PageKeys:
    """Split a page and name its blocks."""
    blocks = tuple(split_blocks(text))
    return PageKeys(
        uri=uri,
        blocks=blocks,
        head=tuple(_keys(blocks, "head")),
        tail=tuple(reversed(list(_keys(reversed(blocks), "tail")))),
    )


def _keys(blocks: Iterator[Block] | Sequence[Block], zone: str) -> Iterator[str]:
    """One key per block: what it says, and how many times that was said before, from its edge.

    All digits are equal, so that another date makes no other block.
    """
    seen: Counter[tuple[str, int, str]] = Counter()
    for block in blocks:
        words = _DIGIT.sub("0", block.words)
        identity = (block.kind, block.level if block.kind == "heading" else 0, words)
        seen[identity] += 1
        name = "\0".join((zone, *map(str, identity), str(seen[identity])))
        yield "" if block.is_content else blake2b(name.encode(), digest_size=8).hexdigest()


def decide(pages: Sequence[PageKeys], *, known: Collection[str] = ()) -> dict[str, str]:
    """The furniture of a site, from a sample of its pages; `known`: keys of the last decision.

    Keys of blocks, each with the uri of the page that keeps it: prose stays on one page, so that
    nothing that a site says is lost. Empty for the others, such as menus.
    """
    pages_with, variants = Counter[str](), Counter[tuple[str, str]]()
    needed = dict[str, float]()
    for page in pages:
        own = {key: block for key, block in _named(page) if key}
        pages_with.update(own.keys())
        variants.update((key, block.words) for key, block in own.items())
        for key, block in own.items():
            least = _SHARE if block.is_linked or block.is_prose else _SHARE_OF_DATA
            least *= _STAYS if key in known else 1
            # A menu does not link the page that it is on.
            needed[key] = min(needed.get(key, 1), least)

    def is_enough(key: str, count: int) -> bool:
        return count >= max(FEWEST_PAGES, needed[key] * len(pages))

    # The same digits too: prices at the foot of each page are content.
    frequent = {key: "" for (key, _), count in variants.items() if is_enough(key, count)}
    at_edges, keepers = Counter[str](), dict[str, str]()
    for page in pages:
        head, tail = _edges(page, frequent)
        for key, block in (
            *((page.head[index], page.blocks[index]) for index in head),
            *((page.tail[index], page.blocks[index]) for index in tail),
        ):
            at_edges[key] += 1
            if block.is_prose:
                best = keepers.get(key, page.uri)
                keepers[key] = min(best, page.uri, key=lambda uri: (len(uri), uri))
    found = [
        key
        for key, count in at_edges.items()
        if is_enough(key, count) and count >= _AT_EDGES * pages_with[key]
    ]
    found.sort(key=lambda key: (-at_edges[key], key))
    return {key: keepers.get(key, "") for key in found[:_MOST_KEYS]}


def _named(page: PageKeys) -> Iterator[tuple[str, Block]]:
    yield from zip(page.head, page.blocks, strict=True)
    yield from zip(page.tail, page.blocks, strict=True)


def leave_out(text: str, furniture: Mapping[str, str], uri: str) -> tuple[str, Removed]:
    """The text of the page at `uri` without the furniture at its edges, and what was removed.

    `furniture` as decide() returns it. A page that would have next to nothing left stays whole.
    """
    if not furniture:
        return text, ()
    page = read_page(uri, text)
    head, tail = _edges(page, furniture)
    removed = head | tail
    kept = [block for index, block in enumerate(page.blocks) if index not in removed]
    left = sum(len(block.words.encode()) for block in kept if block.kind != "heading")
    if left < _LEAST_LEFT and not any(block.is_content for block in kept):
        return text, ()
    return _cut(text, [page.blocks[index] for index in sorted(removed)])


def _edges(page: PageKeys, furniture: Mapping[str, str]) -> tuple[set[int], set[int]]:
    """Indices of the blocks to remove, at the head and at the tail of a page."""
    last, own = len(page.blocks) - 1, {page.uri} - {""}
    head = set(_edge(page.blocks, page.head, furniture))
    tail = {last - index for index in _edge(page.blocks[::-1], page.tail[::-1], furniture)}
    head = {index for index in head if furniture[page.head[index]] not in own}
    tail = {index for index in tail if furniture[page.tail[index]] not in own}
    return (
        _without_parents(page.blocks, head, whole_sections=False),
        _without_parents(page.blocks, tail, whole_sections=True),
    )


def _edge(blocks: Sequence[Block], keys: Sequence[str], wanted: Collection[str]) -> list[int]:
    """Indices of the blocks with wanted keys before the content begins.

    Short blocks between them, such as the name of the page, do not end the edge while the wanted
    ones outnumber them. A paragraph, table or code block does.
    """
    score = best = length = 0
    for index, (block, key) in enumerate(zip(blocks, keys, strict=True)):
        if key in wanted:
            score += 1
        elif block.is_content or block.is_prose or block.kind == "table":
            break
        else:
            score -= _COST_OF_HEADING if block.kind == "heading" and index else 1
        if score > best:
            best, length = score, index + 1
    return [index for index in range(length) if keys[index] in wanted]


def _without_parents(
    blocks: Sequence[Block], chosen: set[int], *, whole_sections: bool
) -> set[int]:
    """Those of `chosen` that nothing needs: a heading above text that stays, and an item above
    sub-items that stay, are needed. `whole_sections`: so is a heading above one that stays.
    """
    removed, staying = set[int](), _Staying()
    for index in range(len(blocks) - 1, -1, -1):
        block = blocks[index]
        stays = index not in chosen or staying.below(block, whole_sections=whole_sections)
        staying.pass_over(block, stays=stays)
        if not stays:
            removed.add(index)
    return removed


@dataclass(slots=True)
class _Staying:
    """What stays below a place, from the bottom up."""

    has_text: bool = False
    """Before the next heading."""
    headings: list[int] = field(default_factory=list)
    """Levels of the headings below that stay, down to one of the same or a higher level."""
    items: list[int] = field(default_factory=list)
    """The same for the items of a list."""

    def below(self, block: Block, *, whole_sections: bool) -> bool:
        if block.kind == "heading":
            has_sections = whole_sections and any(level > block.level for level in self.headings)
            return self.has_text or has_sections
        return block.kind == "item" and any(level > block.level for level in self.items)

    def pass_over(self, block: Block, *, stays: bool) -> None:
        if block.kind == "heading":
            self.headings = [level for level in self.headings if level <= block.level]
            self.headings += [block.level] * stays
            self.has_text, self.items = False, []
            return
        self.has_text |= stays
        outer = [level for level in self.items if level <= block.level]
        self.items = outer + [block.level] * stays if block.kind == "item" else []


def _cut(text: str, blocks: Sequence[Block]) -> tuple[str, Removed]:
    kept, removed = list[str](), list[tuple[int, str]]()
    position = length = 0
    is_open = False  # what is kept has no blank line after it
    for block, following in zip_longest(blocks, blocks[1:]):
        own = text[position : block.start]
        kept.append(own)
        length += len(own)
        is_open = not own.endswith("\n\n") if own else is_open
        position = block.end
        if is_open and (following is None or following.start > block.end):
            # The blank line after this block has to end the one before, an item for instance.
            words = text[block.start : block.end].rstrip()
            position = min(block.start + len(words) + 1, block.end)
        removed.append((length, text[block.start : position]))
    kept.append(text[position:])
    return "".join(kept), tuple(removed)


def put_back(text: str, removed: Sequence[tuple[int, str]]) -> str:
    """The text with the removed parts at their places."""
    parts, position = list[str](), 0
    for start, part in removed:
        parts += (text[position:start], part)
        position = start
    return "".join((*parts, text[position:]))


def without_furniture(document: Document, furniture: Mapping[str, str], uri: str) -> Document:
    """The document of the page at `uri`; only web pages and Markdown have furniture."""
    if document.media_type not in MEDIA_TYPES:
        return document
    text, left_out = leave_out(document.text, furniture, uri)
    return replace(document, text=text, left_out=left_out)


def whole_text(document: Document) -> str:
    """The text as it was extracted."""
    return put_back(document.text, document.left_out)
