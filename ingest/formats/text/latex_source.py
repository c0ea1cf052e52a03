"""The source of a LaTeX file, prepared for reading by lines: no comments, structure apart."""

import re
from bisect import bisect_left

from ingest.formats.text.latex_inline import Macros, arguments, closing_braces

CODE = frozenset({"verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment"})
"""Environments whose content is no LaTeX."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_EDGE = re.compile(r"\\(begin|end)\{([a-zA-Z]{1,30})\*?\}")
_BREAK = re.compile(
    r"(?<=\S)(?:[ \t]+|(?<!\\))(?=\\(?:begin|end)\{[a-zA-Z]{1,30}\*?\}"
    r"|\\(?:chapter|(?:sub){0,2}section)\*?[\[{]|\\(?:item|frametitle|bibitem)(?![A-Za-z]))"
)
_TRAILING = re.compile(r"(\\end\{[a-zA-Z]{1,30}\*?\})(?=[ \t]*\S)")
_CELL_TABLE = re.compile(
    r"\\begin\{tabular\}(?:\[[a-z]\])?\{(?:@\{\})?[lcr](?:@\{\})?\}([^&\n]{0,1000}?)\\end\{tabular\}"
)
"""A table of one column on one line breaks the lines of a cell."""
_SCALED = re.compile(
    r"\\(?:resizebox\*?\{[^{}\n]{0,80}\}\{[^{}\n]{0,80}\}|(?:scalebox|adjustbox)\{[^{}\n]{0,80}\})"
    r"[ \t]?\{\s{0,9}(?=\\begin\{tab)"
)
_SCALED_END = re.compile(r"(\\end\{tab[a-z]{2,6}\*?\})\s{0,9}\}")
_UNREAD = re.compile(r"\\iffalse(?![A-Za-z])|\\fi(?![A-Za-z])")
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|DeclareMathOperator)\*?"
    r"[ \t]*(?:\{\\([A-Za-z]{1,40})\}|\\([A-Za-z]{1,40}))[ \t]*(?:\[([1-9])\])?"
    r"|\\def[ \t]*\\([A-Za-z]{1,40})((?:#[1-9]){0,9})(?=\{)"
)
_NEW_ENVIRONMENT = re.compile(
    r"\\newtheorem\*?\{([A-Za-z]{1,30})\}(?:\[[^\]\n]{0,40}\])?\{([^{}\\\n]{1,60})\}"
)
_LONGEST_MACRO = 500  # characters
_MOST_MACROS = 1000


def prepared(text: str) -> str:
    """The text without comments, each part of the structure on its line."""
    lines: list[str] = []
    inside = ""
    skipped = 0
    for raw in text.split("\n"):
        if inside:
            lines.append(raw)
            inside = "" if f"\\end{{{inside}" in raw else inside
            continue
        line = _COMMENT.sub(r"\1", raw) if "%" in raw and "\\verb" not in raw else raw
        if "\\iffalse" in line or (skipped and "\\fi" in line):
            marks = [mark[0] for mark in _UNREAD.finditer(line)]
            begins, ends = marks.count("\\iffalse"), marks.count("\\fi")
            skipped = max(0, skipped + begins - ends)
            line = "" if begins else line.rpartition("\\fi")[2]
        elif skipped:
            continue
        if not line.strip() and raw.strip():
            continue
        opened = [edge[2] for edge in _EDGE.finditer(line) if edge[1] == "begin"]
        code = next((name for name in opened if name in CODE), "")
        if code and f"\\end{{{code}" not in line:
            inside = code
            before, mark, rest = line.partition(f"\\begin{{{code}")
            lines += [*(_on_lines(before) if before.strip() else []), mark + rest]
        else:
            lines += _on_lines(line)
    return _without_scaling("\n".join(lines))


def _without_scaling(text: str) -> str:
    """The text with tables out of the braces that scale them, such as those of `\\resizebox`."""
    ends = [(end.end(1), end.end()) for end in _SCALED_END.finditer(text)]
    pieces: list[str] = []
    at = 0
    for begin in _SCALED.finditer(text):
        following = bisect_left(ends, (begin.end(), 0))
        if begin.start() >= at and following < len(ends):
            pieces += [text[at : begin.start()], text[begin.end() : ends[following][0]]]
            at = ends[following][1]
    return "".join([*pieces, text[at:]])


def _on_lines(line: str) -> list[str]:
    if "\\begin{tabular}" in line:
        line = _CELL_TABLE.sub(lambda cell: cell[1].replace("\\\\", " "), line)
    if "\\" not in line:
        return [line] if line.strip() else [""]
    return _TRAILING.sub(r"\1\n", _BREAK.sub("\n", line)).split("\n")


def own_macros(text: str) -> Macros:
    """The commands that the file defines, if their text is short."""
    found: dict[str, tuple[int, str]] = {}
    for defined, _ in zip(_DEFINED.finditer(text), range(_MOST_MACROS), strict=False):
        rest = text[defined.end() : defined.end() + _LONGEST_MACRO]
        given, _end = arguments(rest, 0, closing_braces(rest), 1)
        name = defined[1] or defined[2] or defined[4]
        if given and not rest.lstrip().startswith("["):  # an optional argument has a default
            count = int(defined[3] or 0) or len(defined[5] or "") // 2
            found[name] = (count, given[0])
    return found


def own_environments(text: str) -> dict[str, str]:
    """The names that readers see of theorem-like environments, by the names in the file."""
    names = zip(_NEW_ENVIRONMENT.finditer(text), range(_MOST_MACROS), strict=False)
    return {found[1]: found[2] for found, _ in names}
