"""AsciiDoc: titles, listings, tables, admonitions, notes, links, attributes; emphasis stays."""

import re
from collections.abc import Iterator

from ingest.formats.common.markdown import plain
from ingest.formats.common.notes import end_sections
from ingest.formats.html.fragment import whole_markdown
from ingest.formats.text.asciidoc_inline import Inline
from ingest.formats.text.asciidoc_tables import TABLE, table_text
from ingest.formats.text.reading import Reading, lines_of

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_UNDERLINE = re.compile(r"(=+|-+|~+|\^+|\++)[ \t]*")
_LEVELS = "=-~^+"
_SOURCE = re.compile(r"\[(?:source|,)(?:[%#.][\w.%-]*)?,\s*([\w+-]+).*\]|\[,\s*([\w+-]+).*\]")
_BLOCK = re.compile(r"-{4,}|\.{4,}|/{4,}|`{3,}(\w*)|\+{4,}")
_CONTAINER = re.compile(r"={4,}|\*{4,}|_{4,}|--")
_ATTRIBUTE = re.compile(r":!?([\w-]{1,60})!?:(?:[ \t]+(.*))?")
_STATED_ON_CONDITION = re.compile(r"ifn?def::[^\[\n]{1,200}\[:!?([\w-]{1,60})!?:(?:[ \t]+(.*))?\]")
_SILENT = re.compile(
    r"//(?!/).*|\[\[[^\]\n]{1,200}\]\]|\[[\w%#.,=\"' :*<>^|/{}-]{0,300}\]|include::.*|'{3}"
    r"|<<<|toc::.*"
    r"|(?:ifdef|ifndef|endif|ifeval)::[^\[\n]{0,200}\[[^\]\n]{0,200}\]"
)
_CONDITIONAL = re.compile(r"ifn?def::[^\[\n]{1,200}\[(\S[^\n]*)\]")
_ADMONITION = re.compile(r"\[(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b.*\]")
_ADMONITION_TEXT = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+(?=\S)")
_QUOTED = re.compile(r"\[(?:quote|verse)[^,\]]{0,60},[ \t]*([^\]\n]{1,200})\]")
_TITLE = re.compile(r"\.(?![. \t])(\S.*)")
_ITEM = re.compile(r"[ \t]*(?:(\*{1,5}|-)|(\.{1,5})|<(?:\d{1,3}|\.)>)[ \t]+(?=\S)")
_TERM = re.compile(r"[ \t]*(\S[^\n]{0,200}?)(?::{2,4}|;;)(?:[ \t]+(.*))?")
_ANCHOR = re.compile(
    r"\[\[([\w:.-]{1,100})(?:,[^\]\n]{0,200})?\]\]|\[#([\w:.-]{1,100})[^\]\n]{0,200}\]"
)
_REVISION = re.compile(r"v?\d[\w.]*(?:,.*)?")
_MOST_INDENTED = 5


def read_asciidoc(text: str) -> Reading:
    """The text as Markdown; comments, anchors and options of blocks are left out.

    Conditional text is kept, whatever its condition.
    """
    lines = lines_of(text)
    reader = _Reader(lines)
    blocks = list(reader.read())
    placed = end_sections(blocks, reader.notes)
    made = [f"\n{line}\n" if line.startswith("[^") and "]: " in line else line for line in placed]
    return Reading(text="\n".join(made), title=reader.title)


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._inline = Inline(_sections(lines))
        self.title: str | None = None
        self.notes = self._inline.notes
        self._language = ""
        self._options = ""
        """The last line of options, until the block that they belong to."""
        self._literal_end = -1
        """The line below the last one of a literal paragraph, which is indented."""
        self._source = ""
        """Whom the open quotation names."""

    def read(self) -> Iterator[str]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            mark = line.rstrip()
            if block := _BLOCK.fullmatch(mark):
                yield from self._literal(mark, block[1] or self._language)
            elif TABLE.fullmatch(mark):
                yield from self._table(mark)
            else:
                yield from self._line(line, mark)
                source = _SOURCE.fullmatch(mark)
                self._language = (source[1] or source[2]) if source else ""
                continue
            self._language = self._options = ""

    def _until(self, mark: str) -> list[str]:
        begin = self._at
        while self._at < len(self._lines) and self._lines[self._at].rstrip() != mark:
            self._at += 1
        self._at += 1
        return self._lines[begin : self._at - 1]

    def _literal(self, mark: str, language: str) -> Iterator[str]:
        inside = self._until("```" if mark.startswith("`") else mark)
        if mark.startswith("+"):
            yield whole_markdown("\n".join(inside))[0]
        elif not mark.startswith("/"):
            yield from [f"```{language}", *inside, "```"]

    def _table(self, mark: str) -> Iterator[str]:
        inside = [line for line in self._until(mark) if not line.startswith("include::")]
        yield from ["", table_text(inside, mark, self._options, self._inline.write), ""]

    def _line(self, line: str, mark: str) -> Iterator[str]:
        below = self._lines[self._at].rstrip() if self._at < len(self._lines) else ""
        if heading := _HEADING.fullmatch(line):
            yield self._heading(len(heading[1]), heading[2])
        elif _is_underlined(mark, below):
            self._at += 1
            yield self._heading(_LEVELS.index(below[0]) + 1, mark)
        elif stated := _ATTRIBUTE.fullmatch(mark) or _STATED_ON_CONDITION.fullmatch(mark):
            self._inline.attributes[stated[1]] = stated[2] or ""
        elif title := _TITLE.fullmatch(mark):
            yield f"**{self._inline.write(title[1])}**\n"
        elif found := _ADMONITION.fullmatch(mark):
            yield f"{found[1].capitalize()}:\n"
        elif found := _QUOTED.fullmatch(mark):
            self._source = found[1].replace('"', "")
        elif found := _CONDITIONAL.fullmatch(mark):
            yield plain(self._inline.write(found[1]))
        elif _SILENT.fullmatch(mark):
            self._options = mark if mark.startswith("[") else self._options
        elif _CONTAINER.fullmatch(mark):
            yield from self._ended(mark)
        else:
            yield self._text(line)

    def _heading(self, level: int, text: str) -> str:
        name = self._inline.write(text)
        if self.title is None and level == 1:
            self._author_lines()
        self.title = self.title or name
        return f"{'#' * level} {name}"

    def _author_lines(self) -> None:
        """Pass by the line of the revision below the title; that of the authors is text."""
        author, revision = [*self._lines[self._at : self._at + 2], "", ""][:2]
        if "<" in author and _REVISION.fullmatch(revision.strip()):
            del self._lines[self._at + 1]

    def _ended(self, mark: str) -> Iterator[str]:
        """A quotation is followed by whom it quotes."""
        if self._source and mark.startswith("_"):
            if self._source.startswith("\n"):
                yield f"\n— {self._source[1:]}\n"
                self._source = ""
            else:
                self._source = f"\n{self._source}"
        yield ""

    def _text(self, line: str) -> str:
        if line.strip() == "+":
            return ""
        item = _ITEM.match(line)
        if line.strip() and (self._literal_end == self._at - 1 or self._is_literal(line, item)):
            self._literal_end = self._at
            return plain(line)
        if item:
            depth = min(len(item[1] or item[2] or "*"), _MOST_INDENTED) - 1
            sign = "1." if item[2] else "-"
            return f"{'   ' * depth}{sign} {self._inline.write(line[item.end() :])}"
        if found := _ADMONITION_TEXT.match(line):
            return f"{found[1].capitalize()}: {self._inline.write(line[found.end() :])}"
        if (term := _TERM.fullmatch(line)) and "://" not in term[1]:
            return plain(
                f"{self._inline.write(term[1])}: {self._inline.write(term[2] or '')}".rstrip()
            )
        return plain(self._inline.write(line))

    def _is_literal(self, line: str, item: re.Match[str] | None) -> bool:
        before, above = ["", "", *self._lines[max(self._at - 3, 0) : self._at - 1]][-2:]
        is_term = before.rstrip().endswith("::")
        return line[:1] in (" ", "\t") and item is None and not above.strip() and not is_term


def _is_underlined(mark: str, below: str) -> bool:
    """Whether `below` is the underline of the title `mark`, as in old files."""
    return (
        bool(mark)
        and bool(_UNDERLINE.fullmatch(below))
        and abs(len(mark) - len(below)) <= 1
        and len(below) > 2
        and mark[0].isalnum()
    )


def _sections(lines: list[str]) -> dict[str, str]:
    """Titles by the anchors above them."""
    found: dict[str, str] = {}
    anchor = ""
    for line in lines:
        if heading := _HEADING.fullmatch(line):
            if anchor:
                found[anchor] = heading[2]
            anchor = ""
        elif stated := _ANCHOR.fullmatch(line.rstrip()):
            anchor = stated[1] or stated[2]
        elif line.strip() and not line.startswith("["):
            anchor = ""
    return found
