"""Blocks of Markdown from text documents: paragraphs, tables and items of lists."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from ingest.formats.common.markdown import plain

DEEP = 20
"""Nested tables, lists and frames; deeper nesting is never made by hand."""
SENTENCE = 40
"""Characters; hidden marks and index entries are shorter, hidden instructions are not."""
_LIST_MARK = re.compile(r"^ *(?:-|\d+\.) ", re.MULTILINE)


class Block(NamedTuple):
    """A block, or an item of a list."""

    text: str
    level: int | None = None
    """Of an item in its list; a larger number is nested deeper."""


@dataclass(slots=True)
class HiddenText:
    """Counts the visible and the hidden characters of a document."""

    has_sentence: bool = False
    """Whether a hidden or faint passage is as long as a sentence."""
    visible: int = 0
    faint: int = 0
    """Characters of white or tiny passages that are as long as a sentence."""

    @property
    def is_mostly_faint(self) -> bool:
        """Whether most text is white or tiny: then the page cannot be white."""
        return self.faint > self.visible

    def count(self, *, visible: int = 0, faint: int = 0, hidden: int = 0) -> None:
        """Add one paragraph's character counts; faint text counts only if as long as a sentence."""
        self.visible += visible
        self.faint += faint if faint >= SENTENCE else 0
        self.has_sentence |= max(faint, hidden) >= SENTENCE


def join_items(blocks: Iterable[Block]) -> list[str]:
    """The Markdown of the blocks; consecutive items become one list, indented by their levels."""
    joined: list[list[str]] = []
    levels: list[int] = []  # of the enclosing items, outermost first
    was_item = False
    for text, level in blocks:
        while levels and (level is None or levels[-1] >= level):
            levels.pop()
        if level is not None and was_item:
            joined[-1].append(f"{'   ' * len(levels)}{text}")
        else:
            joined.append([text])
        was_item = level is not None
        if level is not None:
            levels.append(level)
    return ["\n".join(lines) for lines in joined]


def cell_text(blocks: Iterable[str]) -> str:
    """The blocks of a table cell on one line, without list marks.

    Rows of a table in it are separated by semicolons.
    """
    return one_line(" ".join(map(_unmarked, blocks)))


def comment_text(author: str | None, text: str) -> str:
    """`Comment by author: text`, or empty without text."""
    who = f" by {author}" if author else ""
    return plain(f"Comment{who}: {text}") if text else ""


def child_texts(root: etree._Element | None, names: dict[str, str]) -> dict[str, str]:
    """Texts of children of `root` that are not blank; `names`: our key by local name."""
    found = {}
    for theirs, ours in names.items():
        item = None if root is None else next(root.iterchildren("{*}" + theirs), None)
        if item is not None and item.text and item.text.strip():
            found[ours] = item.text.strip()
    return found


def one_line(text: str) -> str:
    """The text with all white space folded to single spaces."""
    return " ".join(text.split())


def _unmarked(block: str) -> str:
    if not block.startswith("| "):
        return _LIST_MARK.sub("", block)
    lines = block.split("\n")
    rows = (line.strip("| ").replace(" | ", " ") for line in [lines[0], *lines[2:]])
    return "; ".join(filter(None, rows))
