"""The blocks of a web page's Markdown, with what makes two of them the same block.

A block is a heading, a list item, a table, a fenced code block or a paragraph, with the blank lines
after it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

BlockKind = Literal["heading", "item", "table", "code", "paragraph"]

_LONGEST: Final = 2_000
"""Characters; a longer block is content."""
_CONTINUED: Final = {("table", "table"), ("paragraph", "paragraph"), ("item", "paragraph")}
"""Kinds of a line and of the next one, if both are of the same block."""
_SENTENCE: Final = 50
"""Bytes of unlinked text, about a dozen short words."""
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:[ \t]+\"[^\"\n]*\")?\)")
_MARKS: Final = re.compile(r"[\\*_`#|\[\]]+")
_BULLET: Final = re.compile(r"\A\s*(?:[-*+]|\d{1,9}[.)])(?=\s)")
_SENTENCE_END: Final = re.compile(r"[.!?…](?:\W*(?:\s|$))|[。\uff01\uff1f।؟\u06d4]")


@dataclass(frozen=True, slots=True)
class Block:
    """A range of the page's text."""

    start: int
    end: int
    kind: BlockKind
    level: int
    """Of a heading 1 to 6; of a list item its indentation in characters; else 0."""
    words: str
    """What it says, however it is marked up and wherever its links lead. Empty for a long one."""
    is_prose: bool
    """Whether it has a sentence of unlinked text."""
    is_linked: bool
    """Whether most of it are links."""

    @property
    def is_content(self) -> bool:
        """Whether it is content wherever it stands, however many pages have it."""
        return self.kind == "code" or not self.words


def split_blocks(text: str) -> list[Block]:
    """The blocks in order; together they are the whole text. A blank text has none."""
    starts = list(_starts(text))
    ends = [*(start for start, _, _ in starts), len(text)][1:]
    return [
        _block(text, start, end, kind, level)
        for (start, kind, level), end in zip(starts, ends, strict=True)
    ]


def _starts(text: str) -> Iterator[tuple[int, BlockKind, int]]:
    """Where blocks begin, with kind and level; the first one begins at 0."""
    position, fence, is_first = 0, "", True
    before: BlockKind | None = None
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if fence:
            if _closes(line, fence):
                fence, before = "", None
            continue
        if not line.strip():
            before = None
            continue
        kind, level = _kind_of(line)
        if (before, kind) in _CONTINUED:
            continue
        if found := _FENCE.match(line):
            fence = found.group(1)
        before = kind
        yield (0 if is_first else start), kind, level
        is_first = False


def _closes(line: str, fence: str) -> bool:
    return line.strip().startswith(fence) and not line.strip().strip(fence[0])


def _kind_of(line: str) -> tuple[BlockKind, int]:
    if _FENCE.match(line):
        return "code", 0
    if found := _HEADING.match(line):
        return "heading", len(found.group(1))
    if found := _ITEM.match(line):
        return "item", len(found.group(1).expandtabs(4))
    return ("table" if line.lstrip().startswith("|") else "paragraph"), 0


def _block(text: str, start: int, end: int, kind: BlockKind, level: int) -> Block:
    if kind == "code" or end - start > _LONGEST:
        return Block(start, end, kind, level, "", is_prose=True, is_linked=False)
    own = text[start:end]
    words, unlinked = _words(_LINK.sub(r"\1", own)), _words(_LINK.sub(" ", own))
    is_sentence = len(unlinked.encode()) >= _SENTENCE and bool(_SENTENCE_END.search(unlinked))
    is_linked = 2 * len(unlinked) <= len(words)
    return Block(start, end, kind, level, words, is_prose=is_sentence, is_linked=is_linked)


def _words(text: str) -> str:
    plain = _MARKS.sub("", _BULLET.sub("", text, count=1))
    return " ".join(plain.split()).casefold()
