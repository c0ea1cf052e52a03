"""AsciiDoc: titles, listings, tables, notes, links, attributes; emphasis stays as it is."""

import re
from collections.abc import Iterator

from ingest.formats.common.markdown import plain, table
from ingest.formats.common.notes import end_sections
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.text.reading import Reading, lines_of

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_SOURCE = re.compile(r"\[source(?:%\w+)?,\s*([\w+-]+).*\]")
_BLOCK = re.compile(r"-{4,}|\.{4,}|/{4,}|`{3,}")
_CONTAINER = re.compile(r"={4,}|\*{4,}|_{4,}|--")
_TABLE = re.compile(r"[|,:!]={3,}")
_ATTRIBUTE = re.compile(r":!?([\w-]{1,60})!?:(?:[ \t]+(.*))?")
_SILENT = re.compile(r"//(?!/).*|\[\[[^\]\n]{1,200}\]\]|\[[\w%#.,=\"' -]{1,200}\]|include::.*|'''")
_TITLE = re.compile(r"\.(?![. \t])(\S.*)")
_IMAGE = re.compile(
    r"(?:image|video|audio)::?[^\[\s]{1,300}\[\"?([^\],\"\n]{0,300})[^\]\n]{0,300}\]"
)
_NOTE = re.compile(r"\s?footnote(?:ref)?:[\w-]{0,60}\[([^\]\n]{1,1000})\]")
_LINK = re.compile(
    r"(?:link:)?((?:https?|mailto):[^\s\[\]<>]{1,500})\[([^\]\n,^]{1,300})[^\]\n]{0,100}\]"
)
_REFERENCE = re.compile(
    r"<<[^,<>\n]{1,200},\s*([^<>\n]{1,200})>>|xref:[^\[\s]{1,200}\[([^\]\n]{1,200})\]"
)
_RAISED = re.compile(r"(?<=\w)(\^|~)([^\s^~]{1,12})\1")
_NAMED = re.compile(r"\{([\w-]{1,60})\}")
_CELLS = re.compile(r"(?:(?<=[ \t])|^)(?:\d{1,2}\+|[<^>.]{0,3}[aehlmsd]?)?\|")


def read_asciidoc(text: str) -> Reading:
    """The text as Markdown; comments, anchors and options of blocks are left out."""
    reader = _Reader()
    blocks = list(reader.read(lines_of(text)))
    placed = end_sections(blocks, reader.notes)
    lines = [f"\n{line}\n" if line.startswith("[^") and "]: " in line else line for line in placed]
    return Reading(text="\n".join(lines), title=reader.title)


class _Reader:
    def __init__(self) -> None:
        self.title: str | None = None
        self.notes: dict[int, str] = {}
        self._attributes: dict[str, str] = {}

    def read(self, lines: list[str]) -> Iterator[str]:
        block, language = "", ""
        rows: list[str] = []
        for line in lines:
            mark = line.rstrip()
            if block:
                if mark == block:
                    yield from self._ended(block, rows)
                    block, rows = "", []
                elif _TABLE.fullmatch(block):
                    rows.append(line)
                elif not block.startswith("/"):
                    yield line
            elif _BLOCK.fullmatch(mark) or _TABLE.fullmatch(mark):
                block = mark
                if not block.startswith("/") and not _TABLE.fullmatch(block):
                    yield f"```{language}"
            else:
                yield from self._line(line)
            source = _SOURCE.fullmatch(mark)
            language = source[1] if source else ""
        if block:  # that nothing ends
            yield from self._ended(block, rows)

    def _ended(self, block: str, rows: list[str]) -> Iterator[str]:
        if _TABLE.fullmatch(block):
            made = self._table(rows) if block.startswith("|") else ""
            yield from ["", made, ""] if made else map(plain, rows)
        elif not block.startswith("/"):
            yield "```"

    def _line(self, line: str) -> Iterator[str]:
        mark = line.rstrip()
        if heading := _HEADING.fullmatch(line):
            name = self._inline(heading[2])
            self.title = self.title or name
            yield f"{'#' * len(heading[1])} {name}"
        elif stated := _ATTRIBUTE.fullmatch(mark):
            self._attributes[stated[1]] = stated[2] or ""
        elif title := _TITLE.fullmatch(mark):
            yield f"**{self._inline(title[1])}**\n"
        elif not (_SILENT.fullmatch(mark) or _CONTAINER.fullmatch(mark)):
            yield plain(self._inline("" if mark == "+" else line))

    def _table(self, lines: list[str]) -> str:
        """Rows by the cells of the first line, or by lines that hold several."""
        cells = [_CELLS.split(line)[1:] or [line] for line in lines if line.strip()]
        width = len(cells[0]) if cells else 0
        found: list[str] = []
        for line, parts in zip((line for line in lines if line.strip()), cells, strict=True):
            if not _CELLS.search(line) and found:
                found[-1] += f" {line.strip()}"
            else:
                found += [part.strip() for part in parts]
        texts = list(map(self._inline, found))
        rows = [texts[at : at + width] for at in range(0, len(texts), max(width, 1))]
        return table(rows)

    def _inline(self, text: str) -> str:
        text = _NAMED.sub(lambda found: self._attributes.get(found[1]) or found[0], text)
        text = _IMAGE.sub(lambda found: found[1], text)
        text = _NOTE.sub(self._noted, text)
        text = _LINK.sub(r"[\2](\1)", text)
        text = _REFERENCE.sub(lambda found: found[1] or found[2], text)
        return written_out(_RAISED.sub(_moved, text))

    def _noted(self, found: re.Match[str]) -> str:
        number = len(self.notes) + 1
        self.notes[number] = found[1]
        return f"[^{number}]"


def _moved(found: re.Match[str]) -> str:
    return raised(found[2]) if found[1] == "^" else lowered(found[2])
