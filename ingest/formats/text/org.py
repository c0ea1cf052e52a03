"""Org: headings, listings, tables, links and notes; drawers and settings are left out."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from ingest.formats.common.markdown import plain, table
from ingest.formats.text.front_matter import known_metadata
from ingest.formats.text.org_inline import inline
from ingest.formats.text.reading import Reading, fenced, lines_of

_HEADING = re.compile(r"(\*+)[ \t]+(\S.*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*")
_STATES = re.compile(r"^#\+(?:seq_|typ_)?todo:[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_STATE = re.compile(r"([^\W\d_]{2,30})(?:\([^)]*\))?")
_PRIORITY = re.compile(r"\[#[A-Z0-9]{1,2}\][ \t]*")
_COOKIE = re.compile(r"[ \t]*\[(?:\d*/\d*|\d*%)\]")
_COMMENTED = re.compile(r"\*+[ \t]+(?:[A-Z]{2,20}[ \t]+)?COMMENT(?:[ \t].*)?")
_BEGIN = re.compile(r"[ \t]*#\+begin_([\w-]{1,40})(?:[ \t]+(.*))?", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_([\w-]{1,40})\b.*", re.IGNORECASE)
_CODE = frozenset({"src", "example"})
_UNREAD = frozenset({"comment", "export"})
_PROSE = frozenset({"quote", "center", "verse"})
_LANGUAGE = re.compile(r"[\w+-]+")
_QUOTED = re.compile(r"^([ \t]*),(?=[*,]|#\+)")
_FIXED = re.compile(r"[ \t]*:(?: (.*))?")
_DRAWER = re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK):[ \t]*", re.IGNORECASE)
_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*", re.IGNORECASE)
_NAMED_DRAWER = re.compile(r"[ \t]*:[\w-]{1,40}:[ \t]*")
_CLOCK = re.compile(r"[ \t]*CLOCK:[ \t].*")
_RULER = re.compile(r"[ \t]*-{5,}[ \t]*")
_ROW = re.compile(r"[ \t]*\|.*")
_RULE = re.compile(r"[ \t]*\|[-+|: \t]*")
_CAPTION = re.compile(r"[ \t]*#\+caption(?:\[[^\]\n]{0,200}\])?:[ \t]*(.*)", re.IGNORECASE)
_SETTING = re.compile(
    r"[ \t]*(?:#\+\w+(?:\[[^\]\n]{0,200}\])?(?::.*|[ \t].*)?"
    r"|#(?:[ \t].*)?)|[ \t]*#\+title:.*",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"([ \t]*[-+][ \t]+)(?:\[[ X-]\][ \t]+)?(\S[^\n]{0,200}?)[ \t]+::(?:[ \t]+(.*))?"
)
_MACRO = re.compile(r"^#\+macro:[ \t]*([\w-]{1,40})[ \t]+(.{1,500})$", re.IGNORECASE | re.MULTILINE)
_USED = re.compile(r"\{\{\{([\w-]{1,40})(?:\(([^{}\n]{0,300})\))?\}\}\}")
_NOTE = re.compile(r"^\[fn:([\w-]{1,40})\][ \t]+")
_MARKED = re.compile(r"\[fn:([\w-]{0,40}):((?:[^\[\]\n]|\[[^\[\]\n]{0,300}\]){1,1000})\]")
_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_METADATA = re.compile(
    r"^#\+(author|date|description|keywords|language):[ \t]*[<\[]?(\S.*?)[>\]]?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_METADATA_WITHIN = 20_000  # characters
_MOST_MACROS = 1000
_DEEPEST = 6


def read_org(text: str) -> Reading:
    """The text as Markdown; its title is stated, or the first heading."""
    reader = _Reader("\n".join(lines_of(text)))
    return Reading(text="\n".join(reader.read()), title=reader.title, metadata=reader.metadata)


class _Reader:
    def __init__(self, text: str) -> None:
        macros = zip(_MACRO.finditer(text), range(_MOST_MACROS), strict=False)
        self._macros = {found[1]: found[2] for found, _ in macros}
        if self._macros:
            text = _USED.sub(self._expanded, text)
        title = _TITLE.search(text)
        self.title = title[1].strip() if title else None
        stated = _METADATA.findall(text[:_METADATA_WITHIN])
        self.metadata = known_metadata({key.lower(): value for key, value in reversed(stated)})
        states = " ".join(_STATES.findall(text)).split()
        names = {found[1] for word in states if (found := _STATE.fullmatch(word))}
        self._states = {"TODO", "DONE"} | (names or {"NEXT", "WAITING", "CANCELLED", "CANCELED"})
        self._lines = text.split("\n")
        self._at = 0
        self._notes = 0
        self._drawer_ends: list[int] = []
        self._ends: dict[str, list[int]] = {}
        for at, line in enumerate(self._lines):
            if end := _END.fullmatch(line):
                self._ends.setdefault(end[1].lower(), []).append(at)
            elif _DRAWER_END.fullmatch(line):
                self._drawer_ends.append(at)

    def read(self) -> Iterator[str]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if begin := _BEGIN.fullmatch(line):
                yield from self._block(begin[1].lower(), begin[2] or "")
            elif _ROW.fullmatch(line):
                yield from ["", _table([line, *self._while(_ROW)]), ""]
            elif _FIXED.fullmatch(line):
                rows = [line, *self._while(_FIXED)]
                yield fenced("\n".join(_FIXED.sub(r"\1", row, count=1) for row in rows))
            elif _COMMENTED.fullmatch(line):
                self._skip_section(line)
            elif _DRAWER.fullmatch(line) and self._drawer_end() is not None:
                self._at = (self._drawer_end() or 0) + 1
            elif _NAMED_DRAWER.fullmatch(line) and (end := self._drawer_end()) is not None:
                self._lines[end] = ""
            else:
                yield from self._line(line)

    def _while(self, pattern: re.Pattern[str]) -> list[str]:
        begin = self._at
        while self._at < len(self._lines) and pattern.fullmatch(self._lines[self._at]):
            self._at += 1
        return self._lines[begin : self._at]

    def _block(self, kind: str, options: str) -> Iterator[str]:
        ends = self._ends.get(kind, [])
        following = bisect_left(ends, self._at)
        end = ends[following] if following < len(ends) else len(self._lines)
        if kind in _CODE:
            language = _LANGUAGE.match(options) if kind == "src" else None
            code = (_QUOTED.sub(r"\1", line) for line in self._lines[self._at : end])
            yield fenced("\n".join(code), language[0] if language else "")
            self._at = end + 1
        elif kind in _UNREAD and end < len(self._lines):
            self._at = end + 1
        elif kind not in _PROSE and kind not in _UNREAD:  # such as `warning`
            yield f"**{kind.capitalize()}**\n"

    def _drawer_end(self) -> int | None:
        following = bisect_left(self._drawer_ends, self._at)
        return self._drawer_ends[following] if following < len(self._drawer_ends) else None

    def _skip_section(self, line: str) -> None:
        """Leave out a commented heading with all that is below it."""
        depth = len(line) - len(line.lstrip("*"))
        while self._at < len(self._lines):
            heading = _HEADING.fullmatch(self._lines[self._at])
            if heading and len(heading[1]) <= depth:
                break
            self._at += 1

    def _line(self, line: str) -> Iterator[str]:
        if heading := _HEADING.fullmatch(line):
            name = self._name(heading[2])
            self.title = self.title or name
            yield f"{'#' * min(len(heading[1]), _DEEPEST)} {name}"
        elif caption := _CAPTION.fullmatch(line):
            yield inline(caption[1])
        elif _RULER.fullmatch(line):
            yield from ["", "-----", ""]
        elif not (_SETTING.fullmatch(line) or _CLOCK.fullmatch(line) or _END.fullmatch(line)):
            if term := _TERM.fullmatch(line):
                line = f"{term[1]}{term[2]}: {term[3] or ''}".rstrip()
            yield from self._noted(line)

    def _name(self, text: str) -> str:
        state, _, rest = text.partition(" ")
        text = rest if state in self._states and rest else text
        return inline(_COOKIE.sub("", _PRIORITY.sub("", text, count=1))).strip()

    def _noted(self, line: str) -> Iterator[str]:
        """The line, and below it the notes that it defines."""
        if "[fn:" not in line:
            yield plain(inline(line))
            return
        found: list[str] = []

        def marked(note: re.Match[str]) -> str:
            self._notes += 1
            name = note[1] or f"inline{self._notes}"
            found.append(f"[^{name}]: {inline(note[2].strip())}")
            return f"[^{name}]"

        yield plain(inline(_NOTE.sub(r"[^\1]: ", _MARKED.sub(marked, line))))
        if found:
            yield from ["", *found, ""]

    def _expanded(self, found: re.Match[str]) -> str:
        text = self._macros.get(found[1], found[0])
        for number, argument in enumerate((found[2] or "").split(","), start=1):
            text = text.replace(f"${number}", argument.strip())
        return text


def _table(lines: list[str]) -> str:
    rows = (line.strip().strip("|").split("|") for line in lines if not _RULE.fullmatch(line))
    return table([[inline(cell.strip()) for cell in row] for row in rows])
