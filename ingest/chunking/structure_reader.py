"""Reads the structure of Markdown in one pass over the lines, in linear time.

Not a Markdown parser: syntax that it does not know is text. It also gets texts that are not
Markdown, so it is conservative: a false heading does more harm than a missed one.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ingest.analysis.heading_title import plain_title
from ingest.chunking.structure import Block, Heading, Range, Structure

_MARKED_LINE = re.compile(
    r"""[ ]{0,3}(?:
            (?P<fence>`{3,}+(?=[^`]*$)|~{3,}+)
          | (?P<atx>\#{1,6})(?:[ \t]|$)
          | (?P<underline>=++|-{3,}+)[ \t]*$
          | (?P<delimiter>(?=[-: \t]*\|)\|?[ \t]*+:?-++:?[ \t]*+
                (?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?$)
          | (?P<rule>(?:(?:\*[ \t]*+){3,}+|(?:-[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$)
          | (?P<row>\|)
          | <(?P<html>!--|(?i:pre|script|style|textarea)(?![\w-]))
        )
      | [ \t]*(?P<item>(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))
    """,
    re.VERBOSE,
)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+$")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_MARKS = frozenset("`~#=-|*+_:<0123456789 \t")
_CODE_INDENTS = ("    ", "\t")
_NESTED = 2  # columns of extra indent that make an item nested
_LONGEST_TITLE = 200
_RULERS = "-=*_~# "
_STEP = 1 << 20


def read_structure(text: str) -> Structure:
    """Headings, tables, lists and code of the text.

    The contents of fenced code and HTML comments are not parsed; if unclosed, they extend to the
    end of the text, as in CommonMark.
    """
    reader = _StructureReader()
    for line in _lines(text):
        reader.read(line)
    reader.finish()
    return reader.structure


def _lines(text: str) -> Iterator[str]:
    """The lines without line ends; not all at once, which would double the memory."""
    start = 0
    while (end := text.find("\n", start + _STEP)) >= 0:
        yield from text[start:end].split("\n")
        start = end + 1
    yield from text[start:].split("\n")


@dataclass(slots=True)
class _Paragraph:
    start: int
    first_line: str
    last_start: int
    last_line: str


class _StructureReader:
    def __init__(self) -> None:
        self.structure = Structure()
        self._position = 0
        self._next = 0
        self._block: Block | None = None
        """The open block; its end is not known yet."""
        self._end_mark = ""
        """The text that closes the open verbatim block; empty outside of one."""
        self._second_line = 0
        """Where the second line of that block starts."""
        self._open_items: list[tuple[int, int]] = []
        """Indent and row of the last list item and of the items that contain it."""
        self._gap: int | None = None
        """Start of the blank lines after a list that may still continue."""
        self._paragraph: _Paragraph | None = None
        self._in_front_matter = False
        self._comment_end = -1
        """Where the last line ends that a `#` began."""

    def read(self, line: str) -> None:
        self._position, self._next = self._next, self._next + len(line) + 1
        if self._end_mark:
            self._read_verbatim(line)
        elif line[:1] in _MARKS and (match := _MARKED_LINE.match(line)) and match.lastgroup:
            _READ[match.lastgroup](self, line, match)
        elif self._block:
            self._read_beside(self._block, line)
        else:
            self._read_text(line)

    def finish(self) -> None:
        self._close(self._next)

    def _close(self, end: int) -> None:
        """End the open block or paragraph at `end`, or at the blank lines before it."""
        if self._block:
            end = end if self._gap is None else self._gap
            self._end_items(end)
            self.structure.blocks.append(replace(self._block, end=end))
            self._block = self._gap = None
            self._end_mark = ""
        self._paragraph = None

    def _open(
        self, kind: Literal["table", "list", "verbatim"], start: int, header: Range | None = None
    ) -> None:
        """Continue an open block of the same kind; otherwise close it and open a new one."""
        if self._block is None or self._block.kind != kind:
            self._close(start)
            self._block = Block(kind=kind, start=start, end=start, repeated_header=header)
        self._gap = None

    def _end_items(self, end: int, indent: int = 0) -> None:
        """End the open items that cannot contain an item with this indent."""
        last_row = len(self.structure.rows) - 1
        while self._open_items and indent < self._open_items[-1][0] + _NESTED:
            _, row = self._open_items.pop()
            if row != last_row:
                self.structure.row_ends[row] = end

    def _read_text(self, line: str) -> None:
        if not line or line.isspace():
            self._paragraph = None
        elif self._paragraph:
            self._paragraph.last_start, self._paragraph.last_line = self._position, line
        else:
            self._paragraph = _Paragraph(self._position, line, self._position, line)

    def _read_beside(self, block: Block, line: str) -> None:
        """Read a line without Markdown marks while a table or list is open."""
        is_blank = not line or line.isspace()
        if block.kind == "list" and is_blank:
            self._gap = self._position if self._gap is None else self._gap
        elif block.kind == "list" and (self._gap is None or line.startswith(("  ", "\t"))):
            self._gap = None
        elif block.repeated_header and "|" in line:
            self.structure.rows.append(self._position)
        else:
            self._close(self._position)
            self._read_text(line)

    def _read_verbatim(self, line: str) -> None:
        if self._end_mark in line and self._ends_verbatim(line):
            self._close(self._next)
        elif line and self._position != self._second_line and not line.isspace():
            self.structure.rows.append(self._position)

    def _ends_verbatim(self, line: str) -> bool:
        is_fence = self._end_mark[0] in "`~"
        if is_fence and line.startswith(_CODE_INDENTS):
            return False
        return not is_fence or not line.strip(" \t").strip(self._end_mark[0])

    def _open_verbatim(self, end_mark: str, header: Range | None) -> None:
        self._close(self._position)
        self._open("verbatim", self._position, header)
        self.structure.rows.append(self._position)
        self._end_mark = end_mark
        self._second_line = self._next

    def _read_fence(self, _: str, match: re.Match[str]) -> None:
        self._open_verbatim(match["fence"], header=(self._position, self._next))

    def _read_html(self, line: str, match: re.Match[str]) -> None:
        end_mark = "-->" if match["html"] == "!--" else f"</{match['html']}>"
        if end_mark in line:
            self._close(self._position)
        else:
            self._open_verbatim(end_mark, header=None)

    def _read_rule(self, _line: str, _match: re.Match[str]) -> None:
        self._close(self._position)

    def _read_row(self, _line: str, _match: re.Match[str]) -> None:
        self._open("table", self._position)
        self.structure.rows.append(self._position)

    def _read_delimiter(self, line: str, match: re.Match[str]) -> None:
        above = self._paragraph
        if self._block and self._block.kind == "table" and not self._block.repeated_header:
            self._block = replace(
                self._block, repeated_header=(self.structure.rows[-1], self._next)
            )
        elif above and "|" in above.last_line and _cells(above.last_line) == _cells(line):
            start = above.last_start
            self._open("table", start, header=(start, self._next))
            self.structure.rows.append(start)
        elif match["delimiter"].startswith("|") or (self._block and self._block.kind == "table"):
            self._read_row(line, match)
        elif self._block:
            self._read_beside(self._block, line)
        else:
            self._read_text(line)

    def _read_item(self, line: str, match: re.Match[str]) -> None:
        if self._paragraph and not _interrupts(match["item"], line[match.end() :]):
            self._read_text(line)
            return
        self._open("list", self._position)
        indent = match.start("item")
        if "\t" in line[:indent]:
            indent = len(line[:indent].expandtabs(4))
        self._end_items(self._position, indent)
        row = len(self.structure.rows)
        if self._open_items:
            self.structure.row_parents[row] = self._open_items[-1][1]
        self._open_items.append((indent, row))
        self.structure.rows.append(self._position)

    def _read_atx(self, line: str, match: re.Match[str]) -> None:
        level = len(match["atx"])
        if level == 1 and self._is_comment():
            return
        title = line.strip(" ")[level : 2 * _LONGEST_TITLE].strip()
        if title and not title.strip(_RULERS):
            self._close(self._position)
            return
        self._add_heading(level, self._position, _CLOSING_MARKS.sub("", title))

    def _is_comment(self) -> bool:
        """Whether the line continues `#` lines: comments of a script or a licence, no headings."""
        last = self.structure.headings[-1] if self.structure.headings else None
        if last and last.level == 1 and last.end + 1 == self._position == self._comment_end:
            self.structure.headings.pop()
        was_comment, self._comment_end = self._comment_end == self._position, self._next
        return was_comment

    def _read_underline(self, line: str, match: re.Match[str]) -> None:
        above = self._paragraph
        if above and not self._in_front_matter and _is_title(above):
            level = 1 if match["underline"].startswith("=") else 2
            self._add_heading(level, above.start, above.first_line)
            return
        self._close(self._position)
        self._in_front_matter = self._position == 0

    def _add_heading(self, level: int, start: int, title: str) -> None:
        self._close(self._position)
        self._in_front_matter = False
        title = plain_title(title[: 2 * _LONGEST_TITLE]).strip()[:_LONGEST_TITLE]
        heading = Heading(start=start, end=self._next - 1, level=level, title=title)
        self.structure.headings.append(heading)


_READ: dict[str, Callable[[_StructureReader, str, re.Match[str]], None]] = {
    "fence": _StructureReader._read_fence,
    "atx": _StructureReader._read_atx,
    "underline": _StructureReader._read_underline,
    "delimiter": _StructureReader._read_delimiter,
    "rule": _StructureReader._read_rule,
    "row": _StructureReader._read_row,
    "html": _StructureReader._read_html,
    "item": _StructureReader._read_item,
}


def _cells(line: str) -> int:
    row = line.strip().removeprefix("|").removesuffix("|")
    return len(_CELL_BORDER.findall(row)) + 1


def _interrupts(mark: str, content: str) -> bool:
    """Whether an item may interrupt a paragraph: "1984." at a line start is usually a year."""
    return bool(content.strip()) and (not mark[0].isdigit() or int(mark[:-1]) == 1)


def _is_title(above: _Paragraph) -> bool:
    """Whether the line above can be a title: a single short line, not code.

    Otherwise the mark is more likely a rule than an underline.
    """
    return (
        above.start == above.last_start
        and any(map(str.isalnum, above.first_line))
        and len(above.first_line) <= _LONGEST_TITLE
        and not above.first_line.startswith(_CODE_INDENTS)
    )
