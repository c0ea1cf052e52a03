"""reStructuredText: titles, code, tables, notes, links and roles; other directives stay as text.

Comments and targets, which readers do not see, are left out.
"""

import re
from itertools import pairwise
from textwrap import dedent

from ingest.formats.common.markdown import plain, table
from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.text.reading import Reading, fenced, lines_of

_DEEPEST = 6
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_DIRECTIVE = re.compile(r"([ \t]*)\.\. (?:\|[^|\n]{1,80}\| )?([\w:-]{1,40})::[ \t]*(.*)")
_NOTE = re.compile(r"[ \t]*\.\. \[#?([\w.-]{1,40})\][ \t]+(.*)")
_TARGET = re.compile(r"[ \t]*(?:\.\. _[^\n]{1,200}|__[ \t].*)")
_COMMENT = re.compile(r"([ \t]*)\.\.(?:[ \t].*)?")
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):[ \t]*(.*)")
_CODE = frozenset({"code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "math"})
_ADMONITIONS = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error"}
    | {"seealso"}
)
_SILENT = frozenset(
    {"meta", "title", "include", "toctree", "index", "highlight", "contents", "default-role"}
    | {"currentmodule", "sectnum"}
)
_SIMPLE = re.compile(r"[ \t]*={2,}(?:[ \t]+={2,})+[ \t]*")
_GRID = re.compile(r"[ \t]*\+(?:[-=]{2,}\+)+[ \t]*")
_ITEM = re.compile(r"([ \t]*)(\*[ \t]+)?-(?:[ \t]+(.*))?$")
_ROLE = re.compile(r"(?<![\w:]):([a-zA-Z][\w:+.-]{0,40}):`([^`\n]{1,300})`")
_LABELLED = re.compile(r"!?~?(.*?)\s*<[^<>]{1,300}>")
_LINK = re.compile(r"`([^`<\n]{1,300}?)\s*<(https?://[^`>\s]{1,500}|mailto:[^`>\s]{1,200})>`__?")
_INNER_LINK = re.compile(
    r"(?<![\w`])`([^`<\n]{1,200}?)(?: <[^`>\n]{1,200}>)?`__?(?!\w)"
    r"|(?<![\w`.\]:])([A-Za-z0-9][\w.-]{0,80}?)_(?![\w`])"
)
_TARGETS = re.compile(r"^[ ]*\.\. _`?([^:`\n]{1,200})`?: *(https?://\S+|mailto:\S+)", re.MULTILINE)
_MARK = re.compile(r"\[#?([\w.-]{1,40})\]_(?!\w)")
_LITERAL = re.compile(r"(``[^`\n]+``)")
_NULL_SPACE = re.compile(r"\\ ")


def read_restructured(text: str) -> Reading:
    """The text as Markdown.

    The order in which title styles first appear gives their heading levels; a title has an
    underline, and perhaps an overline.
    """
    reader = _Reader([*(line.expandtabs(8) for line in lines_of(text)), "", ""])
    return Reading(text="\n".join(reader.read()), title=reader.title)


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._out: list[str] = []
        self._styles: list[tuple[str, bool]] = []
        urls = _TARGETS.findall("\n".join(lines))
        self._urls = {" ".join(name.lower().split()): url for name, url in urls}
        self._no_table = 0  # before this line, no table begins
        self.title: str | None = None

    def read(self) -> list[str]:
        while self._at < len(self._lines) - 2:
            if not (self._heading() or self._table() or self._explicit()):
                self._text()
        pairs = zip(["", *self._out], self._out, strict=False)
        return [line for before, line in pairs if before.strip() or line.strip()]

    def _heading(self) -> bool:
        first, second, third = self._lines[self._at : self._at + 3]
        overlined = _is_rule(first, second) and third.strip() == first.strip()
        name, under = (second, third) if overlined else (first, second)
        begins = not self._out or not self._out[-1].strip()
        if not (begins and _is_rule(under, name) and (overlined or name[:1].strip())):
            return False
        style = (under[0], overlined)
        if style not in self._styles:
            self._styles.append(style)
        name = self._inline(name.strip())
        level = min(self._styles.index(style) + 1, _DEEPEST)
        self._out += [f"{'#' * level} {name}", ""]
        self.title = self.title or name
        self._at += 3 if overlined else 2
        return True

    def _text(self) -> None:
        line = self._lines[self._at]
        self._at += 1
        if line.rstrip().endswith("::"):
            code = self._indented(line)
            if code:
                before = line.rstrip()[:-1] if line.strip() != "::" else ""
                before = before[:-1].rstrip() if before.endswith(" :") else before
                self._out += [plain(self._inline(before)), "", fenced(code), ""]
                return
        self._out.append(plain(self._inline(line)))

    def _explicit(self) -> bool:
        """Directives, notes, comments."""
        line = self._lines[self._at]
        if not line.lstrip().startswith((".. ", "__ ")) and line.strip() != "..":
            return False
        if note := _NOTE.fullmatch(line):
            self._at += 1
            rest = " ".join(self._indented(line).split())
            self._out.append(f"[^{note[1]}]: {self._inline(f'{note[2]} {rest}'.strip())}")
            return True
        if found := _DIRECTIVE.fullmatch(line):
            return self._directive(line, found[2], found[3])
        self._at += 1
        if not _TARGET.fullmatch(line) and _COMMENT.fullmatch(line):
            self._indented(line)
        return True

    def _directive(self, line: str, name: str, argument: str) -> bool:
        if name in _CODE:
            self._at += 1
            options, body = _options(self._indented(line))
            if name == "math":
                self._out += [f"{argument}\n{body}".strip(), ""]
            elif body:
                language = argument if "code" in name else ""
                self._out += [*filter(None, [options.get("caption")]), fenced(body, language), ""]
        elif name in ("image", "figure"):
            self._at += 1
            options, body = _options(self._indented(line))
            shown = [options.get("alt", ""), *map(self._inline, body.split("\n"))]
            self._out += [*(plain(text) for text in shown if text.strip()), ""]
        elif name == "list-table":
            return self._listed(line, argument)
        elif name in _ADMONITIONS:
            self._at += 1
            self._out.append(f"{name.capitalize()}: {self._inline(argument)}".rstrip())
        elif name in _SILENT:
            self._at += 1
            self._indented(line)
        else:
            self._at += 1
            self._out.append(plain(line))
        return True

    def _listed(self, line: str, caption: str) -> bool:
        begin = self._at
        self._at += 1
        rows: list[list[str]] = []
        for item in _options(self._indented(line))[1].split("\n"):
            found = _ITEM.fullmatch(item)
            if found and found[2]:
                rows.append([found[3] or ""])
            elif found and rows:
                rows[-1].append(found[3] or "")
            elif rows:
                rows[-1][-1] += f" {item.strip()}"
        if not rows:
            self._at = begin
            return False
        made = table([list(map(self._inline, row)) for row in rows])
        self._out += [*filter(None, [self._inline(caption)]), "", made, ""]
        return True

    def _indented(self, above: str) -> str:
        """The block below that is indented more than `above`; moves behind it."""
        margin = len(above) - len(above.lstrip())
        end = self._at
        for at in range(self._at, len(self._lines)):
            line = self._lines[at]
            if line.strip():
                if len(line) - len(line.lstrip()) <= margin:
                    break
                end = at + 1
        found, self._at = self._lines[self._at : end], max(self._at, end)
        return dedent("\n".join(found)).strip("\n")

    def _table(self) -> bool:
        line = self._lines[self._at]
        is_grid = _GRID.fullmatch(line) is not None
        if self._at < self._no_table or (not is_grid and not _SIMPLE.fullmatch(line)):
            return False
        end = self._at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        lines = self._lines[self._at : end]
        rows = _grid(lines) if is_grid else _simple(lines)
        if not rows:
            self._no_table = end
            return False
        self._out += ["", table([list(map(self._inline, row)) for row in rows]), ""]
        self._at = end
        return True

    def _inline(self, text: str) -> str:
        if "`" not in text and "_" not in text and "\\" not in text:
            return text
        pieces = _LITERAL.split(text)
        pieces[1::2] = [f"`{piece[2:-2]}`" for piece in pieces[1::2]]
        pieces[::2] = map(self._written, pieces[::2])
        return written_out("".join(pieces))

    def _written(self, text: str) -> str:
        text = _ROLE.sub(_role, text)
        text = _LINK.sub(r"[\1](\2)", text)
        text = _INNER_LINK.sub(self._linked, text)
        text = _MARK.sub(r"[^\1]", text)
        return _NULL_SPACE.sub("", text)

    def _linked(self, found: re.Match[str]) -> str:
        """A link by its name: with its address, if that is stated elsewhere."""
        name = found[1] or found[2]
        url = self._urls.get(" ".join(name.lower().split()))
        return f"[{name}]({url})" if url else name if found[1] else found[0]


def _is_rule(line: str, title: str) -> bool:
    """Whether `line` is the underline or overline of `title`."""
    long_enough = len(line.rstrip()) >= len(title.strip())
    return (
        long_enough
        and bool(title.strip())
        and not _RULE.fullmatch(title)
        and (_RULE.fullmatch(line) is not None)
    )


def _options(block: str) -> tuple[dict[str, str], str]:
    """The options at the start of a directive's block, and the rest."""
    options = {}
    lines = block.split("\n")
    while lines and (found := _OPTION.fullmatch(lines[0])):
        options[found[1]] = found[2]
        del lines[0]
    return options, "\n".join(lines).strip("\n")


def _simple(lines: list[str]) -> list[list[str]]:
    """Rows of a simple table; none if it is not closed."""
    if len(lines) < 3 or not _SIMPLE.fullmatch(lines[-1]):
        return []
    starts = [found.start() for found in re.finditer(r"=+", lines[0])]
    ends = [*starts[1:], None]
    rows: list[list[str]] = []
    for line in lines:
        if _SIMPLE.fullmatch(line) or _RULE.fullmatch(line.replace(" ", "")):
            continue
        cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if rows and not cells[0]:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows


def _grid(lines: list[str]) -> list[list[str]]:
    """Rows of a grid table; none if cells are merged."""
    borders = [found.start() for found in re.finditer(r"\+", lines[0])]
    rows: list[list[str]] = []
    is_new = True
    for line in lines:
        if _GRID.fullmatch(line):
            if len(line.rstrip()) - 1 != borders[-1]:
                return []
            is_new = True
            continue
        if len(line) <= borders[-1] or any(line[at] != "|" for at in borders):
            return []
        cells = [line[a + 1 : b].strip() for a, b in pairwise(borders)]
        if is_new:
            rows.append(cells)
        else:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        is_new = False
    return rows


def _role(found: re.Match[str]) -> str:
    name, text = found[1].rpartition(":")[2], found[2]
    if name in ("sub", "subscript"):
        return lowered(text)
    if name in ("sup", "superscript"):
        return raised(text)
    labelled = _LABELLED.fullmatch(text)
    shown = labelled[1] if labelled and labelled[1] else text.lstrip("!")
    return shown.rpartition(".")[2] if shown.startswith("~") else shown
