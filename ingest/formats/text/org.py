"""Org: headings, listings, tables, links and notes; drawers and settings are left out."""

import re
from bisect import bisect_left
from collections.abc import Callable

from ingest.formats.common.markdown import plain, table
from ingest.formats.text.reading import Reading, lines_of

_HEADING = re.compile(r"(\*{1,6})[ \t]+(?:(?:TODO|DONE)[ \t]+)?(\S.*?)(?:[ \t]+:[\w@:]+:)?[ \t]*")
_BLOCK = re.compile(r"[ \t]*#\+begin_(?:src|example)\b[ \t]*([\w+-]*).*", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_(?:src|example)\b.*", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK):[ \t]*", re.IGNORECASE)
_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*", re.IGNORECASE)
_ROW = re.compile(r"[ \t]*\|.*")
_RULE = re.compile(r"[ \t]*\|[-+|: \t]*")
_CAPTION = re.compile(r"[ \t]*#\+caption:[ \t]*(.*)", re.IGNORECASE)
_SETTING = re.compile(
    r"[ \t]*(?:#\+(?!(?:title|author|date|description)\b)\w+(?::.*|[ \t].*)?|#(?:[ \t].*)?)"
    r"|[ \t]*#\+title:.*",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[([^\]\n]{1,500})\](?:\[([^\]\n]{1,300})\])?\]")
_NOTE = re.compile(r"^\[fn:([\w-]{1,40})\][ \t]+")
_MARK = re.compile(r"\[fn:([\w-]{1,40})\]")
_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)

_DEEPEST = 6


def read_org(text: str) -> Reading:
    """The text as Markdown; its title is stated, or the first heading."""
    title = _TITLE.search(text)
    reader = _Reader(lines_of(text), title[1].strip() if title else None)
    return Reading(text="\n".join(reader.read()), title=reader.title)


class _Reader:
    def __init__(self, lines: list[str], title: str | None) -> None:
        self._lines = lines
        self._drawer_ends = [at for at, line in enumerate(lines) if _DRAWER_END.fullmatch(line)]
        self.title = title

    def read(self) -> list[str]:
        out: list[str] = []
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if block := _BLOCK.fullmatch(line):
                end = self._while(at + 1, lambda inner: not _END.fullmatch(inner))
                out += [f"```{block[1]}", *self._lines[at + 1 : end], "```"]
                at = end + 1
            elif _ROW.fullmatch(line):
                end = self._while(at, lambda row: _ROW.fullmatch(row) is not None)
                out += ["", _table(self._lines[at:end]), ""]
                at = end
            elif _DRAWER.fullmatch(line) and (after := self._after_drawer(at)) is not None:
                at = after
            else:
                out += self._line(line)
                at += 1
        return out

    def _while(self, at: int, holds: Callable[[str], bool]) -> int:
        while at < len(self._lines) and holds(self._lines[at]):
            at += 1
        return at

    def _after_drawer(self, at: int) -> int | None:
        following = bisect_left(self._drawer_ends, at)
        if following == len(self._drawer_ends):
            return None
        return self._drawer_ends[following] + 1

    def _line(self, line: str) -> list[str]:
        if heading := _HEADING.fullmatch(line):
            self.title = self.title or heading[2]
            return [f"{'#' * min(len(heading[1]), _DEEPEST)} {_inline(heading[2])}"]
        if caption := _CAPTION.fullmatch(line):
            return [_inline(caption[1])]
        return [] if _SETTING.fullmatch(line) else [plain(_inline(line))]


def _table(lines: list[str]) -> str:
    rows = (line.strip().strip("|").split("|") for line in lines if not _RULE.fullmatch(line))
    return table([[_inline(cell.strip()) for cell in row] for row in rows])


def _inline(text: str) -> str:
    text = _NOTE.sub(r"[^\1]: ", text)
    text = _MARK.sub(r"[^\1]", text)
    return _LINK.sub(lambda link: f"[{link[2]}]({link[1]})" if link[2] else link[1], text)
