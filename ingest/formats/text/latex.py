"""LaTeX: sections, tables, code, notes and letters with accents; formulas stay as they are.

Commands that are not known here stay, too. Comments and the preamble, but for title and authors,
are left out.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import partial

from ingest.formats.common.markdown import plain, table
from ingest.formats.common.notes import end_sections
from ingest.formats.text.reading import Reading, fenced, lines_of

_GROUP = r"\{((?:[^{}\n]|\{[^{}\n]*\})*)\}"
_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_HEADING = re.compile(rf"[ \t]*\\({'|'.join(_LEVELS)})\*?(?:\[[^\]\n]*\])?{_GROUP}[ \t]*(.*)")
_STATED = re.compile(
    r"^[ \t]*\\(title|author)(?:\[[^\]\n]*\])?"
    r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]{0,200}\}){0,200}\}){1,600})\}",
    re.MULTILINE,
)
_BODY = re.compile(r"^[ \t]*\\begin\{document\}", re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_ENVIRONMENT = re.compile(r"[ \t]*\\(begin|end)\{([a-zA-Z]{1,30}\*?)\}(.*)")
_END = re.compile(r"\\end\{([a-zA-Z]{1,30}\*?)\}")
_CODE = frozenset({"verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment"})
_TABLES = frozenset({"tabular", "tabular*", "tabularx", "tabulary", "longtable"})
_BARE = frozenset(
    {"document", "itemize", "enumerate", "description", "center", "figure", "figure*", "table"}
    | {"table*", "quote", "quotation", "abstract", "flushleft", "flushright", "minipage"}
)
_LANGUAGE = re.compile(r"(?:language=|\{)([A-Za-z+#]{1,20})")
_OPTIONS = re.compile(r"(?:\[[^\]\n]*\]|\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\})*")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot"
    r"|c(?:mid)?(?:line|rule)(?:\([^)\n]*\))?\{[^{}\n]*\})"
)
_ROW_END = re.compile(r"\\\\(?:\[[^\]\n]{0,20}\])?|\\tabularnewline")
_CELL_END = re.compile(r"(?<!\\)&")
_WIDE = re.compile(r"\\multicolumn\{(\d{1,2})\}\{[^{}\n]*\}" + _GROUP)
_MATH = re.compile(
    r"((?<!\\)\$\$[^$\n]{1,2000}\$\$|(?<!\\)\$(?:[^$\\\n]|\\.){1,1000}\$"
    r"|\\\([^\n]{1,500}?\\\)|\\\[[^\n]{1,500}?\\\])"
)
_ACCENT = re.compile(
    r"\\(?:(['`^\"~=.])\s?|([uvHckr])(?=[ {\\]) ?)"
    r"(?:\{\\?([A-Za-z])\}|\\([ij])(?![A-Za-z]) ?|([A-Za-z]))"
)
_ACCENTS = dict(
    zip(
        "'`^\"~=.uvHckr",
        "\u0301\u0300\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a",
        strict=True,
    )
)
_SIGN = re.compile(
    r"\{?\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|dots|ldots|LaTeX|TeX|textbackslash|textasciitilde"
    r"|textendash|textemdash|S|P|copyright|pounds|euro|textdegree|quad|qquad)(?![A-Za-z])"
    r"(?:\{\}|\}| )?"
)
_SIGNS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø",
    "O": "Ø", "l": "ł", "L": "Ł", "dots": "…", "ldots": "…", "textbackslash": "\\",
    "textasciitilde": "~", "textendash": "\u2013", "textemdash": "—", "S": "§", "P": "¶",
    "copyright": "©", "pounds": "£", "euro": "€", "textdegree": "°", "quad": " ", "qquad": " ",
}  # fmt: skip
_STYLED = re.compile(
    r"\\(?:text(?:bf|it|tt|sc|sf|sl|rm|up|normal)|emph|underline|mbox|uline|textsuperscript"
    r"|caption\*?|footnotesize|centerline|texorpdfstring\{[^{}\n]*\})(?:\[[^\]\n]*\])?\{([^{}\n]*)\}"
    r"|\{\\(?:em|bf|it|tt|sc|sl|rm|small|large|Large|bfseries|itshape|ttfamily)\s+([^{}\n]*)\}"
    r"|(?<![\\\w}\]])\{([\w ,.:;-]{0,80})\}"
)
_LINK = re.compile(r"\\href\{([^{}\n]*)\}\{([^{}\n]*)\}")
_ADDRESS = re.compile(r"\\(?:url|nolinkurl|path)\{([^{}\n]*)\}")
_REFERENCE = re.compile(
    r"~?\\(cite[a-z]{0,8}\*?|[a-zA-Z]{0,5}ref|label|index|includegraphics|bibliographystyle"
    r"|vspace|hspace)\*?(?:\[[^\]\n]*\])*\{([^{}\n]*)\}"
)
_NOTE = re.compile(r"\\(?:footnote|thanks)(?:\[[^\]\n]*\])?" + _GROUP)
_ITEM = re.compile(r"^([ \t]*)\\item(?:\[([^\]\n]*)\])?[ \t]*")
_SILENT = re.compile(
    r"\\(?:maketitle|tableofcontents|noindent|centering|newpage|clearpage|bigskip|medskip|smallskip"
    r"|par|small|footnotesize|large|Large|hfill|vfill|appendix|protect|raggedright)(?![A-Za-z])"
    r"(?:\{\})? ?|\\(?:begin|end)\{(?:figure|table|center|minipage|document|itemize)\*?\}"
)
_ESCAPED = re.compile(r"\\([%&$#_{}])")
_SPACE = re.compile(r"(?<!\\)~|\\[, ;:!/@](?!\w*\{)")
_MOST_NESTED = 5


def read_latex(text: str) -> Reading:
    """The text as Markdown; its title is that of `\\title`."""
    stated = dict(reversed([(found[1], found[2]) for found in _STATED.finditer(text)]))
    title, authors = (
        " ".join(_inline(_uncommented(stated[name])).replace(r"\and", ",").split()).replace(
            " ,", ","
        )
        if name in stated
        else None
        for name in ("title", "author")
    )
    begin = _BODY.search(text)
    head = []
    if begin is not None:
        head = [f"Authors: {plain(authors)}", ""] if authors else []
        text = text[begin.end() :]
    used = [level for level in _LEVELS if f"\\{level}" in text]
    notes: dict[int, str] = {}
    blocks = list(_blocks(lines_of(text), used, notes))
    placed = end_sections(blocks, notes)
    lines = [f"\n{line}\n" if line.startswith("[^") and ": " in line else line for line in placed]
    body = "\n".join(lines).strip("\n")
    return Reading(text="\n".join([*head, body]).strip("\n") or text, title=title or None)


def _blocks(lines: list[str], used: list[str], notes: dict[int, str]) -> Iterator[str]:
    ends: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        for end in _END.findall(line):
            ends.setdefault(end, []).append(at)
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        found = _ENVIRONMENT.fullmatch(line)
        kind = found[2] if found else ""
        if found and found[1] == "begin" and (kind in _CODE or kind in _TABLES):
            following = ends.get(kind, [])
            if (next_end := bisect_left(following, at)) < len(following):
                end = following[next_end]
                inside, at = lines[at:end], end + 1
                yield from _listing(kind, found[3], inside) if kind in _CODE else _table(inside)
                continue
        if found and kind in _BARE:
            line = found[3] if found[1] == "end" else _OPTIONS.sub("", found[3], count=1)
            if kind == "abstract" and found[1] == "begin":
                yield "**Abstract**\n"
            if not line.strip():
                continue
        if shown := _line(line, used, notes):
            yield from shown


def _listing(kind: str, options: str, lines: list[str]) -> Iterator[str]:
    if kind != "comment":
        language = _LANGUAGE.search(options)
        yield fenced("\n".join(lines), language[1].lower() if language else "")


def _table(lines: list[str]) -> Iterator[str]:
    body = _RULES.sub("", " ".join(map(_uncommented, lines)))
    rows = []
    for row in _ROW_END.split(body):
        cells: list[str] = []
        for cell in _CELL_END.split(row):
            wide = _WIDE.search(cell)
            text = _inline(wide[2] if wide else cell).strip()
            cells += [text] * (int(wide[1]) if wide else 1)
        if any(cells):
            rows.append(cells)
    if made := table(rows):
        yield f"\n{made}\n"


def _line(line: str, used: list[str], notes: dict[int, str]) -> list[str]:
    """The line as Markdown; none if it is a comment or only says how to set the text."""
    heading = _HEADING.fullmatch(_uncommented(line))
    if heading is not None:
        level = min(used.index(heading[1]) + 1, 6) if heading[1] in used else 1
        after = _inline(heading[3]).strip()
        title = " ".join(_inline(heading[2]).split())
        return [f"{'#' * level} {title}", *([plain(after)] if after else [])]
    bare = _uncommented(line)
    if not bare.strip() and line.strip():
        return []
    item = _ITEM.match(bare)
    rest = bare[item.end() :] if item else bare
    text = _inline(_NOTE.sub(partial(_noted, notes), rest))
    if item is not None:
        label = f"{_inline(item[2])}: " if item[2] else ""
        return [f"{item[1]}- {label}{text}"]
    if not text.strip() and line.strip():
        return []
    return [plain(text)]


def _uncommented(line: str) -> str:
    return _COMMENT.sub(r"\1", line) if "%" in line else line


def _noted(notes: dict[int, str], note: re.Match[str]) -> str:
    number = len(notes) + 1
    notes[number] = " ".join(_inline(note[1]).split())
    return f"[^{number}]"


def _inline(text: str) -> str:
    """Commands of running text written out, outside of formulas."""
    if not any(mark in text for mark in "\\{~`-'"):
        return text
    pieces = _MATH.split(text)
    pieces[::2] = map(_written, pieces[::2])
    return "".join(pieces)


def _written(text: str) -> str:
    text = _ACCENT.sub(_accented, text)
    text = _SIGN.sub(lambda sign: _SIGNS.get(sign[1], sign[1]), text)
    text = _LINK.sub(r"[\2](\1)", text)
    text = _ADDRESS.sub(r"\1", text)
    text = _REFERENCE.sub(_referred, text)
    for _ in range(_MOST_NESTED):
        text, count = _STYLED.subn(lambda found: found[1] or found[2] or found[3] or "", text)
        if not count:
            break
    text = _SILENT.sub("", text)
    text = _SPACE.sub(" ", text).replace("---", "—").replace("--", "\u2013")
    text = _ROW_END.sub("\n", text)
    text = text.replace("``", "“").replace("''", "”")
    return _ESCAPED.sub(r"\1", text)


def _accented(found: re.Match[str]) -> str:
    letter = found[3] or found[4] or found[5]
    return unicodedata.normalize("NFC", letter + _ACCENTS[found[1] or found[2]])


def _referred(found: re.Match[str]) -> str:
    name = found[1]
    before = " " if found[0].startswith("~") else ""
    if name.startswith("cite"):
        return f"{before}[{', '.join(key.strip() for key in found[2].split(','))}]"
    return before + found[2] if name.endswith("ref") else ""
