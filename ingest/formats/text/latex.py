"""LaTeX: sections, tables, code, notes and letters with accents; formulas stay as they are.

Simple macros of the file are expanded. Commands that are not known show their arguments. Comments
and the preamble, but for title and authors, are left out.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from ingest.formats.common.markdown import plain, table
from ingest.formats.common.notes import end_sections
from ingest.formats.text.latex_commands import NAMED_ENVIRONMENTS
from ingest.formats.text.latex_inline import Inline, arguments, closing_braces
from ingest.formats.text.latex_source import CODE, own_environments, own_macros, prepared
from ingest.formats.text.reading import Reading, fenced, lines_of

_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_HEADING = re.compile(rf"[ \t]*\\({'|'.join(_LEVELS)}|frametitle)(?![A-Za-z])\*?")
_SETTING = re.compile(
    r"\\(?:begin|end)\{(?:center|minipage|tabular|flushleft)\}(?:\{[^{}\n]{0,60}\})?"
)
_STATED = re.compile(r"^[ \t]*\\(title|author)(?![A-Za-z])", re.MULTILINE)
_BODY = re.compile(r"^[ \t]*\\begin\{document\}", re.MULTILINE)
_ENVIRONMENT = re.compile(r"[ \t]*\\(begin|end)\{([a-zA-Z]{1,30}\*?)\}(.*)")
_STRUCTURE = re.compile(
    rf"[ \t]*\\(?:begin|end|item|bibitem|frametitle|{'|'.join(_LEVELS)})(?![A-Za-z])"
)
_TABLES = frozenset({"tabular", "tabularx", "tabulary", "longtable", "tabu", "supertabular"})
_APART = re.compile(rf"[ \t]*\\begin\{{(?:{'|'.join(sorted(_TABLES | CODE))})\*?\}}")
"""Ends a paragraph also within braces, as in `{\\small \\begin{tabular}…`."""
_FORMULAS = frozenset(
    {"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "flalign"}
    | {"alignat", "dmath"}
)
_BOXES = frozenset({"block", "alertblock", "exampleblock", "frame", "tcolorbox"})
"""Their argument is a title."""
_LANGUAGE = re.compile(r"(?:language=|\{)([A-Za-z+#]{1,20})")
_OPTIONS = re.compile(r"(?:[ \t]*(?:\[[^\]\n]*\]|\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}))*")
_OPTION = re.compile(r"[ \t]*\[([^\]\n]{1,200})\]")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot"
    r"|c(?:mid)?(?:line|rule)(?:\([^)\n]*\))?\{[^{}\n]*\})"
)
_ROW_END = re.compile(r"(?<!\\)\\\\\*?(?:\[[^\]\n]{0,20}\])?|\\tabularnewline")
_CELL_END = re.compile(r"(?<!\\)&")
_WIDE = re.compile(r"[ \t]*\\multicolumn\{(\d{1,2})\}")
_CAPTION = re.compile(r"[ \t]*\\caption(?![A-Za-z])\*?")
_LABEL = re.compile(r"\\(?:label\{[^{}\n]*\}|nonumber|notag)")
_ITEM = re.compile(r"([ \t]*)\\item(?![A-Za-z])(?:[ \t]*<[^>\n]*>)?(?:[ \t]*\[([^\]\n]*)\])?[ \t]*")
_ENTRY = re.compile(r"([ \t]*)\\bibitem(?![A-Za-z])(?:\[[^\]\n]*\])?[ \t]*\{([^{}\n]*)\}[ \t]*")
_MOST_LINES = 500  # of a paragraph
_MOST_BLANK = 20  # lines in front of which an open brace continues a paragraph


def read_latex(text: str) -> Reading:
    """The text as Markdown; its title is that of `\\title`."""
    text = prepared("\n".join(lines_of(text)))
    reader = _Reader(text)
    title, authors = reader.stated(text, "title"), reader.stated(text, "author")
    begin = _BODY.search(text)
    head = []
    if begin is not None:
        head = [f"Authors: {plain(authors)}", ""] if authors else []
    body_lines = (text[begin.end() :] if begin else text).split("\n")
    blocks = list(reader.read(body_lines))
    placed = end_sections(blocks, reader.notes)
    lines = [f"\n{line}\n" if line.startswith("[^") and ": " in line else line for line in placed]
    body = "\n".join(lines).strip("\n")
    return Reading(text="\n".join([*head, body]).strip("\n") or text, title=title)


class _Reader:
    def __init__(self, text: str) -> None:
        self._inline = Inline(own_macros(text))
        self._names = NAMED_ENVIRONMENTS | own_environments(text)
        self._used = [level for level in _LEVELS if f"\\{level}" in text]
        self.notes = self._inline.notes

    def stated(self, text: str, name: str) -> str | None:
        """The argument of `\\title` or `\\author` on one line."""
        found = next((one for one in _STATED.finditer(text) if one[1] == name), None)
        if found is None:
            return None
        rest = text[found.end() : found.end() + 5000]
        given = arguments(rest, 0, closing_braces(rest), 1)[0]
        shown = " ".join(Inline({}).write(_SETTING.sub(" ", given[0])).split()) if given else ""
        return re.sub(r"\[\^\d+\]", "", shown).replace(" ,", ",") or None

    def read(self, lines: list[str]) -> Iterator[str]:
        ends: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            if (found := _ENVIRONMENT.fullmatch(line)) and found[1] == "end":
                ends.setdefault(found[2], []).append(at)
        at = 0
        while at < len(lines):
            line = lines[at]
            found = _ENVIRONMENT.fullmatch(line)
            if found is None:
                end = _paragraph_end(lines, at)
                yield from self._paragraph(lines[at:end])
                at = end
                continue
            at += 1
            kind = found[2].rstrip("*")
            following = ends.get(found[2], [])
            next_end = bisect_left(following, at)
            if found[1] == "begin" and next_end < len(following) and (
                kind in CODE or kind in _TABLES or kind in _FORMULAS
            ):  # fmt: skip
                end = following[next_end]
                yield from self._verbatim(kind, found[3], lines[at:end])
                lines[end] = lines[end].partition("}")[2]
                at = end if lines[end].strip() else end + 1
            elif found[1] == "begin":
                yield from self._opened(kind, found[3])
            elif found[3].strip():
                yield from self._paragraph([found[3]])

    def _verbatim(self, kind: str, rest: str, lines: list[str]) -> Iterator[str]:
        if kind in CODE:
            if kind != "comment":
                language = _LANGUAGE.search(rest)
                yield fenced("\n".join(lines), language[1].lower() if language else "")
        elif kind in _TABLES:
            options = _OPTIONS.match(rest)
            yield from self._table([rest[options.end() :] if options else rest, *lines])
        else:
            formula = _LABEL.sub("", "\n".join([rest, *lines])).strip()
            yield f"$$\n{formula}\n$$"

    def _opened(self, kind: str, rest: str) -> Iterator[str]:
        """What the begin of an environment shows: its name or title."""
        if kind == "thebibliography":
            return
        options = _OPTIONS.match(rest)
        stated, rest = (rest[: options.end()], rest[options.end() :]) if options else ("", rest)
        given, _ = arguments(stated, 0, closing_braces(stated), None)
        shown = next((text for text in map(self._inline.write, given) if text.strip()), "")
        if kind in _BOXES and shown:
            yield (
                f"{'#' * min(len(self._used) + 1, 6)} {shown}"
                if kind == "frame"
                else f"**{shown}**\n"
            )
        elif kind in self._names:
            title = _OPTION.match(stated)
            about = f" ({self._inline.write(title[1])})" if title else ""
            yield f"**{self._names[kind]}{about}**\n"
        if rest.strip():
            yield from self._paragraph([rest])

    def _table(self, lines: list[str]) -> Iterator[str]:
        body = _RULES.sub("", " ".join(lines))
        rows = []
        for part in _ROW_END.split(body):
            row = part
            if caption := _CAPTION.match(row):
                given, end = arguments(row, caption.end(), closing_braces(row), 1)
                yield from map(self._inline.write, given)
                row = row[end:]
            cells: list[str] = []
            for cell in _CELL_END.split(row):
                wide = _WIDE.match(cell)
                text = " ".join(self._inline.write(cell).split())
                cells += [text] * (int(wide[1]) if wide else 1)
            if any(cells):
                rows.append(cells)
        if made := table(rows):
            yield f"\n{made}\n"

    def _paragraph(self, lines: list[str]) -> Iterator[str]:
        """A paragraph, item or heading; empty if it only says how to set the text."""
        text = "\n".join(lines)
        if heading := _HEADING.match(text):
            given, end = arguments(text, heading.end(), closing_braces(text), 1)
            if given:
                yield f"{'#' * self._level(heading[1])} {self._title(given[0])}"
                if text[end:].strip():
                    yield from self._paragraph(text[end:].strip().split("\n"))
                return
        item = _ITEM.match(text) or _ENTRY.match(text)
        shown = self._inline.write(text[item.end() :] if item else text)
        if item is not None:
            label = f"{self._inline.write(item[2])}: " if item[2] else ""
            yield f"{item[1]}- {label}{shown}"
        elif shown.strip() or not text.strip():
            kept = [line for line in shown.split("\n") if line.strip()]
            yield plain("\n".join(kept))

    def _level(self, name: str) -> int:
        level = self._used.index(name) if name in self._used else len(self._used)
        return min(level + 1, 6)

    def _title(self, text: str) -> str:
        return " ".join(self._inline.write(text).split())


def _paragraph_end(lines: list[str], begin: int) -> int:
    """Where the paragraph ends: at a blank line or structure outside of braces."""
    depth, blank, end = 0, 0, None
    for at in range(begin, min(begin + _MOST_LINES, len(lines))):
        line = lines[at]
        if at > begin and _APART.match(line):
            return at
        if at > begin and (_STRUCTURE.match(line) or not line.strip()):
            end = at if end is None else end
            blank += 1
            if depth <= 0 or blank > _MOST_BLANK:
                return at if depth <= 0 else end
        depth += line.count("{") - line.count("}") - line.count("\\{") + line.count("\\}")
        if at == begin and not line.strip():
            return at + 1
    reached = min(begin + _MOST_LINES, len(lines))
    return reached if depth <= 0 or end is None else end
