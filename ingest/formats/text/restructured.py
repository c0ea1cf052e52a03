"""reStructuredText: titles, code, tables, notes, links, roles, and what directives show.

Comments, targets, substitution definitions and options of directives, which readers do not see,
are left out.
"""

import re
from textwrap import dedent

from ingest.formats.common.markdown import plain, table
from ingest.formats.html.fragment import whole_markdown
from ingest.formats.text import restructured_tables as tables
from ingest.formats.text.reading import Reading, fenced, lines_of
from ingest.formats.text.restructured_inline import Inline

_DEEPEST = 6
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_DIRECTIVE = re.compile(r"([ \t]*)\.\. (\|[^|\n]{1,80}\| )?([\w:.+-]{1,40})::(?:[ \t]+(.*))?")
_NOTE = re.compile(r"[ \t]*\.\. \[(#(?=\])|\*|#?[\w.-]{1,40})\][ \t]+(.*)")
_TARGET = re.compile(r"[ \t]*(?:\.\. _[^\n]{1,200}|__[ \t].*)")
_COMMENT = re.compile(r"([ \t]*)\.\.(?:[ \t].*)?")
_OPTION = re.compile(r"[ \t]*:([\w-]{1,40}):(?:[ \t]+(.*))?")
_FIELD = re.compile(r"([ \t]*):([^\s:`][^:`\n]{0,100}):(?:[ \t]+(.*))?")
_TYPED = re.compile(r"(?:param|parameter|arg|argument|key|keyword|kwarg|var|ivar|cvar) +(.*)")
_OF_FIELD = {
    "return": "Returns", "returns": "Returns", "rtype": "Return type", "raise": "Raises",
    "raises": "Raises", "except": "Raises", "exception": "Raises", "type": "Type of",
}  # fmt: skip
_CODE = {
    "code-block": None, "code": None, "sourcecode": None, "literalinclude": None, "prompt": None,
    "parsed-literal": "", "doctest": "python", "testcode": "python", "testoutput": "",
    "ipython": "python", "jupyter-execute": "python", "graphviz": "dot", "mermaid": "mermaid",
    "uml": "", "plantuml": "", "productionlist": "",
}  # fmt: skip
"""The language of what is shown as code; None: the argument says it."""
_ADMONITIONS = frozenset(
    {"note", "warning", "tip", "hint", "important", "caution", "danger", "attention", "error"}
    | {"seealso", "todo"}
)
_VERSIONS = {
    "versionadded": "Added in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
    "deprecated-removed": "Deprecated since version",
}  # fmt: skip
_SILENT = frozenset(
    {"meta", "title", "include", "toctree", "index", "highlight", "contents", "default-role"}
    | {"currentmodule", "sectnum", "module", "moduleauthor", "sectionauthor", "codeauthor", "role"}
    | {"testsetup", "testcleanup", "header", "footer", "target-notes", "replace", "unicode", "date"}
    | {"tabularcolumns", "program", "namespace", "highlightlang"}
)
"""Their content is left out, too."""
_NAMELESS = frozenset(
    {"only", "container", "compound", "rst-class", "cssclass", "grid", "tabs", "tab-set"}
    | {"glossary", "epigraph", "highlights", "pull-quote", "hlist"}
)
"""Their arguments are no text."""
_SHOWN_OPTIONS = frozenset({"type", "value", "default", "synopsis"})
_LONG_RULE = 4  # characters; such a rule may be shorter than its title
_MOST_LINES = 500  # of a paragraph
_HEADED = frozenset({"rubric", "admonition", "topic", "sidebar", "centered", "tab", "group-tab"})


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
        self._inline = Inline("\n".join(lines))
        self._noted = {"#": 0, "*": 0}
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
        name = self._inline.write(name.strip())
        level = min(self._styles.index(style) + 1, _DEEPEST)
        self._out += [f"{'#' * level} {name}", ""]
        self.title = self.title or name
        self._at += 3 if overlined else 2
        return True

    def _text(self) -> None:
        first = self._lines[self._at]
        if field := _FIELD.fullmatch(first):
            self._at += 1
            self._out.append(
                f"{field[1]}- {_label(field[2])}: {self._inline.write(field[3] or '')}"
            )
            return
        lines = self._paragraph()
        if lines[-1].rstrip().endswith("::"):
            code = self._indented(lines[-1])
            if code:
                last = lines[-1].rstrip()[:-1] if lines[-1].strip() != "::" else ""
                lines[-1] = last[:-1].rstrip() if last.endswith(" :") else last
                self._out += [plain(self._inline.write("\n".join(lines))), "", fenced(code), ""]
                return
        self._out.append(plain(self._inline.write("\n".join(lines))))

    def _paragraph(self) -> list[str]:
        """Lines that belong together, since links and roles may be broken over them."""
        begin = self._at
        self._at += 1
        while (
            self._at - begin < _MOST_LINES
            and self._lines[self._at - 1].strip()
            and not self._lines[self._at - 1].rstrip().endswith("::")
            and _is_text(self._lines[self._at])
        ):
            self._at += 1
        return self._lines[begin : self._at]

    def _explicit(self) -> bool:
        """Directives, notes, comments."""
        line = self._lines[self._at]
        if not line.lstrip().startswith((".. ", "__ ")) and line.strip() != "..":
            return False
        if note := _NOTE.fullmatch(line):
            self._at += 1
            rest = " ".join(self._indented(line).split())
            name = note[1].removeprefix("#")
            if note[1] in ("#", "*"):
                self._noted[note[1]] += 1
                name = f"{'auto' if note[1] == '#' else 'sign'}{self._noted[note[1]]}"
            self._out.append(f"[^{name}]: {self._inline.write(f'{note[2]} {rest}'.strip())}")
            return True
        if found := _DIRECTIVE.fullmatch(line):
            self._directive(found, found[3].lower(), (found[4] or "").strip())
            return True
        self._at += 1
        is_empty = line.strip() == ".." and not self._lines[self._at].strip()
        if not is_empty and not _TARGET.fullmatch(line) and _COMMENT.fullmatch(line):
            self._indented(line)
        return True

    def _directive(self, found: re.Match[str], name: str, argument: str) -> None:
        line = found[0]
        self._at += 1
        short = name.rpartition(":")[2]
        if found[2] or short in _SILENT:  # a substitution is shown where it is used
            self._indented(line)
        elif name in _CODE or name in ("math", "raw"):
            self._literal(name, argument, line)
        elif name in ("image", "figure"):
            options, body = _options(self._indented(line))
            shown = [options.get("alt", ""), *map(self._inline.write, body.split("\n"))]
            self._out += [*(plain(text) for text in shown if text.strip()), ""]
        elif name in ("list-table", "csv-table"):
            self._listed(name, argument, line)
        else:
            self._titled(found, name, argument)

    def _literal(self, name: str, argument: str, line: str) -> None:
        options, body = _options(self._indented(line))
        if name == "math":
            self._out += [f"{argument}\n{body}".strip(), ""]
        elif name == "raw":
            self._out += [whole_markdown(body)[0], ""] if argument == "html" else []
        elif body:
            language = _CODE[name]
            code = fenced(body, argument if language is None else language)
            self._out += [*filter(None, [options.get("caption")]), code, ""]

    def _titled(self, found: re.Match[str], name: str, argument: str) -> None:
        """What a directive shows in front of its content, which is read like other text."""
        shown = []
        while option := _OPTION.fullmatch(self._lines[self._at]):
            self._at += 1
            if option[1] in _SHOWN_OPTIONS and option[2]:
                shown.append(f"{found[1]}- {option[1].capitalize()}: {option[2]}")
        argument = self._inline.write(argument)
        if name in _ADMONITIONS:
            self._out.append(f"{found[1]}{name.capitalize()}: {argument}".rstrip())
        elif name in _VERSIONS:
            version, _, text = argument.partition(" ")
            self._out.append(f"{found[1]}{_VERSIONS[name]} {version}{': ' if text else ''}{text}")
        elif name in _HEADED and argument:
            self._out.append(f"{found[1]}**{argument}**\n")
        elif argument and name not in _NAMELESS and not argument.isdecimal():
            self._out.append(f"{found[1]}{argument}")
        self._out += ["", *shown, ""]

    def _listed(self, name: str, caption: str, line: str) -> None:
        options, body = _options(self._indented(line))
        lines = body.split("\n")
        if name == "list-table":
            rows = tables.listed_rows(lines)
        else:
            separator = {"tab": "\t", "space": " "}.get(
                options.get("delim", ""), options.get("delim")
            )
            rows = tables.separated_rows(
                options.get("header", ""), lines, separator=(separator or ",")[:1]
            )
        made = table([list(map(self._inline.write, row)) for row in rows])
        self._out += [*filter(None, [self._inline.write(caption)]), "", made or plain(body), ""]

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
        is_grid = tables.GRID.fullmatch(line) is not None
        if self._at < self._no_table or (not is_grid and not tables.SIMPLE.fullmatch(line)):
            return False
        end = self._at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        lines = self._lines[self._at : end]
        rows = tables.grid_rows(lines) if is_grid else tables.simple_rows(lines)
        if not rows:
            self._no_table = end
            return False
        self._out += ["", table([list(map(self._inline.write, row)) for row in rows]), ""]
        self._at = end
        return True


def _is_text(line: str) -> bool:
    """Whether a line below one of text belongs to its paragraph."""
    stripped = line.strip()
    return bool(
        stripped
        and stripped != ".."
        and not stripped.startswith((".. ", "__ ", ":"))
        and not tables.GRID.fullmatch(line)
        and not tables.SIMPLE.fullmatch(line)
    )


def _label(field: str) -> str:
    """The name of a field as Sphinx shows it: `param str path` is `path (str)`."""
    if typed := _TYPED.fullmatch(field):
        kind, _, name = typed[1].rpartition(" ")
        return f"{name} ({kind.strip()})" if kind.strip() else name
    kind, _, name = field.partition(" ")
    return f"{_OF_FIELD.get(kind, kind)} {name}".rstrip()


def _is_rule(line: str, title: str) -> bool:
    """Whether `line` is the underline or overline of `title`."""
    long_enough = len(line.rstrip()) >= min(len(title.strip()), _LONG_RULE)
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
        options[found[1]] = found[2] or ""
        del lines[0]
    return options, "\n".join(lines).strip("\n")
