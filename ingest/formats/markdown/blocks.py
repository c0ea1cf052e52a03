"""Blocks that dialects of Markdown add, as CommonMark: admonitions, tabs, callouts, shortcodes.

GitHub, Obsidian, Docusaurus, MkDocs, MyST, Quarto, R Markdown, Hugo, Jekyll, GitBook. Their titles
become bold lines and their settings are left out. Code stays as it is.
"""

import re
from collections.abc import Iterator

from ingest.formats.html.fragment import whole_markdown
from ingest.formats.markdown.inline import as_text
from ingest.optional_steps import improve

_PREFIX = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*")
_FENCE = re.compile(r"(?:[-*+]|\d{1,9}[.)])?[ \t]*(?P<marks>`{3,}+(?=[^`]*$)|~{3,}+)(?P<info>.*)")
_CELL = re.compile(
    r"[ \t]*\{(?:(?P<directive>code-block|code-cell|code|sourcecode)\}[ \t]*)?"
    r"\.?(?P<name>[\w+#-]{0,30})[^`]*"
)
_CELL_OPTION = re.compile(r"[ \t]*(?:#\||:[\w-]{1,40}:)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING_ATTRIBUTES = re.compile(
    r"(?P<heading>[ ]{0,3}#{1,6}[ \t].*?|.*?\S)[ \t]*\{:?[ \t]*[#.][\w.:# =\"'-]{0,200}\}[ \t#]*"
)
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{2,})[ \t\r]*")
_CALLOUT = re.compile(r"\\?\[!(?P<name>[\w -]{1,40})(?:\|[^\]]{0,80})?\][+-]?[ \t]*(?P<title>.*)")
_COLONS = re.compile(r"[ \t]*:{3,}[ \t]*(?P<rest>.*?):*[ \t\r]*")
_SLASHES = re.compile(r"/{3,}(?:[ \t]+(?P<name>[\w-]{1,40})[ \t]*(?:\|[ \t]*(?P<title>.*))?)?")
_INDENTED = re.compile(
    r"(?P<indent>[ ]*)(?:(?:!{3}|\?{3}\+?)[ \t]+(?P<name>[\w-]{1,40})|={3}[+!]{0,2})"
    r"(?P<classes>(?:[ \t]+[\w-]{1,40})*)(?:[ \t]+\"(?P<title>[^\"]*)\")?[ \t\r]*"
)
_DIRECTIVE = re.compile(
    r"\{?(?:\.?callout-|\.)?(?P<name>[\w:-]{1,60})\}?(?:\[(?P<inside>.*)\])?[ \t]*(?P<title>.*)"
)
_ATTRIBUTES = re.compile(r"\{[^{}]*\}?|[\w-]{1,40}=(?:\"[^\"]*\"|'[^']*'|\S*)|[.#][\w-]+\}?|\}")
_TITLED = re.compile(r"\b(?:title|label|name|caption|alt|summary|header)=([\"'])(.{1,300}?)\1")
_POSITION = re.compile(r"(?:tab|details|expand|accordion|tabItem)\s+[\"']([^\"']{1,200})[\"']")
_SHORTCODE = re.compile(
    r"[ \t]*(?:\{%-?(?P<liquid>[^%]*(?:%(?!\})[^%]*)*)%\}"
    r"|\{\{[<%](?P<hugo>[^{}]*)[%>]\}\})[ \t\r]*"
)
_SILENT = re.compile(
    r"[ \t]*(?:\[TOC\]|\[\[_?TOC_?\]\]|\{:[^{}]{0,200}\}|\([\w.:-]{1,100}\)=|\$\{toc\})[ \t\r]*",
    re.IGNORECASE,
)
_IMPORT = re.compile(
    r"import[ \t]+(?:[\w*{][^\n]{0,500}?[ \t}]from[ \t]*)?['\"][^'\"]+['\"];?[ \t\r]*"
)
_EXPORT = re.compile(r"(?:export|import)[ \t]+(?:default|const|let|var|function|async|\{|\*|class)")
_MARKUP = re.compile(r"[ \t]*<(?P<tag>table|script|style|pre)(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,500}>")
_ADMONITIONS = frozenset(
    {"note", "tip", "hint", "important", "warning", "caution", "danger", "attention", "error"}
    | {"info", "success", "question", "failure", "bug", "example", "quote", "abstract", "summary"}
    | {"seealso", "todo", "details", "admonition", "dropdown", "check", "fail", "missing"}
)
_CODE_INDENT = 4
_DEEPEST = 20  # admonitions and tabs in one another
_LONGEST_MARKUP = 500_000  # characters of a table in HTML


def as_commonmark(text: str, *, has_components: bool) -> str:
    """The text with known blocks and tags of dialects resolved, in linear time."""
    pieces: list[str] = []
    prose: list[str] = []
    for line, is_code in _Walker(text.split("\n"), has_components=has_components).lines():
        if is_code and prose:
            pieces.append(as_text("\n".join(prose), has_components=has_components))
            prose = []
        (pieces if is_code else prose).append(line)
    if prose:
        pieces.append(as_text("\n".join(prose), has_components=has_components))
    return "\n".join(pieces)


class _Walker:
    def __init__(self, lines: list[str], *, has_components: bool) -> None:
        self._lines = lines
        self._at = 0
        self._has_components = has_components
        self._fence = ""
        self._quote = ""
        """What stands in front of the lines of the open fence, if it is quoted."""
        self._opened: list[str] = []
        """Fences of directives that hold text, not code."""
        self._indents: list[int] = []
        """Indents of the open admonitions and tabs whose content is indented below them."""
        self._in_list = False
        self._after_blank = True
        self._in_options = False
        self._unclosed: set[str] = set()

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Each line of the result, and whether it is code."""
        while self._at < len(self._lines):
            line = self._dedented(self._lines[self._at])
            self._at += 1
            yield from self._read(line)
            self._after_blank = not line.strip()

    def _dedented(self, line: str) -> str:
        if not self._indents or not line.strip():
            return line
        line = line.replace("\t", "    ") if line.startswith(("\t", " ")) else line
        for depth, indent in enumerate(self._indents):
            if len(line) - len(line.lstrip(" ")) < indent + _CODE_INDENT:
                del self._indents[depth:]
                break
            line = line[_CODE_INDENT:]
        return line

    def _read(self, line: str) -> Iterator[tuple[str, bool]]:
        prefix = _PREFIX.match(line)
        start = prefix.end() if prefix else 0
        if self._fence:
            yield from self._in_code(line, line[start:])
            return
        is_indented = line.startswith(("    ", "\t")) and not self._in_list
        if is_indented and self._after_blank and line.strip():
            self._after_blank = True
            yield line, True
            while self._at < len(self._lines) and self._lines[self._at].startswith(("    ", "\t")):
                below = self._dedented(self._lines[self._at])
                if not below.startswith(("    ", "\t")):
                    break
                self._at += 1
                yield below, True
            return
        if line[:1].strip():
            self._in_list = _ITEM.match(line) is not None
        elif not self._in_list and _ITEM.match(line):
            self._in_list = True
        if fence := _FENCE.fullmatch(line, start):
            yield from self._open(line, line[:start], fence)
        elif self._in_options and _CELL_OPTION.match(line):
            pass
        else:
            self._in_options = False
            yield from ((shown, False) for shown in self._prose(line, start))

    def _in_code(self, line: str, rest: str) -> Iterator[tuple[str, bool]]:
        if self._quote and ">" not in line[: len(line) - len(rest)]:
            self._fence = self._quote = ""  # the quotation ends, and its code with it
            self._at -= 1
            return
        if self._in_options and _CELL_OPTION.match(rest):
            return
        self._in_options = False
        closing = rest.strip()
        if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            self._fence = self._quote = ""
        yield line, True

    def _open(self, line: str, prefix: str, fence: re.Match[str]) -> Iterator[tuple[str, bool]]:
        marks, info = fence["marks"], fence["info"].strip()
        if self._opened and marks == self._opened[-1] and not info:
            self._opened.pop()
            yield "", False
            return
        cell = _CELL.fullmatch(fence["info"].rstrip()) if info.startswith("{") else None
        name = cell["name"].lower() if cell else ""
        if cell and not cell["directive"] and name in _ADMONITIONS:
            title = info[info.find("}") + 1 :].strip() if "}" in info else ""
            self._opened.append(marks)
            self._in_options = True
            yield f"{prefix}**{title or name.capitalize()}**\n", False
            return
        if cell:
            line = f"{line[: fence.start('info')]}{cell['name']}"
            self._in_options = True
        self._fence = marks
        self._quote = prefix if ">" in prefix else ""
        yield line, True

    def _prose(self, line: str, start: int) -> Iterator[str]:
        mark = line[start : start + 1]
        if (
            mark in ("[", "\\")
            and ">" in line[:start]
            and (found := _CALLOUT.fullmatch(line, start))
        ):
            title = found["title"].strip() or found["name"].strip().capitalize()
            yield f"{line[:start]}**{title}**\n{line[:start].rstrip()}"
        elif mark == ":" and (found := _COLONS.fullmatch(line)):
            self._in_options = bool(found["rest"])
            yield self._titled(_directive_title(found["rest"]))
        elif mark == "/" and (found := _SLASHES.fullmatch(line.rstrip())):
            name = found["name"] or ""
            yield self._titled(found["title"] or (name.capitalize() if name else ""))
        elif mark and mark in "!?=" and (found := _INDENTED.fullmatch(line)):
            yield from self._container(line, found)
        elif mark == "{" and (found := _SHORTCODE.fullmatch(line)):
            yield self._shortcode(found)
        elif _SILENT.fullmatch(line) or self._is_module_line(line):
            yield ""
        elif mark == "<" and (found := _MARKUP.match(line)):
            yield self._markup(line, found["tag"].lower())
        else:
            yield self._without_attributes(line)

    def _titled(self, title: str) -> str:
        return f"**{title}**\n" if title else ""

    def _container(self, line: str, found: re.Match[str]) -> Iterator[str]:
        title = found["title"]
        if not found["name"] and title is None:
            yield line  # an underline, or a conflict marker
            return
        if len(self._indents) < _DEEPEST:
            self._indents.append(len(found["indent"]))
        if title != "":  # `!!! note ""` has none
            yield f"{found['indent']}{self._titled(title or found['name'].capitalize())}"

    def _shortcode(self, found: re.Match[str]) -> str:
        inside = found["liquid"] or found["hugo"] or ""
        name = inside.split(maxsplit=1)[:1]
        if name in (["highlight"], ["code"]):
            language = inside.split()[1:2]
            return f"```{''.join(language) if language and '=' not in language[0] else ''}"
        if name in (["endhighlight"], ["/highlight"], ["endcode"]):
            return "```"
        titles = [title[2] for title in _TITLED.finditer(inside)]
        titles += [title[1] for title in _POSITION.finditer(inside)]
        return self._titled(titles[0] if titles else "")

    def _is_module_line(self, line: str) -> bool:
        if line[:1] not in ("i", "e"):
            return False
        if _IMPORT.fullmatch(line):
            return True
        if not (self._has_components and _EXPORT.match(line)):
            return False
        while self._at < len(self._lines) and self._lines[self._at].strip():
            self._at += 1
        return True

    def _markup(self, line: str, tag: str) -> str:
        """A table in HTML as Markdown; scripts and style sheets are left out."""
        closing = f"</{tag}>"
        found = [line]
        size, end, open_tables = 0, self._at, 0
        while tag not in self._unclosed:
            lowered = found[-1].lower()
            open_tables += len(re.findall(rf"<{tag}(?=[\s>])", lowered)) - lowered.count(closing)
            if open_tables <= 0 and closing in lowered:
                break
            if end == len(self._lines) or size > _LONGEST_MARKUP:
                self._unclosed.add(tag)
                break
            found.append(self._lines[end])
            size += len(found[-1])
            end += 1
        if tag in self._unclosed:
            return line
        markup = "\n".join(found)
        if tag in ("script", "style"):
            self._at = end
            return re.split(closing, found[-1], flags=re.IGNORECASE)[-1]
        if "```" in markup or (tag == "table" and "\n\n" in markup):  # Markdown inside of it
            return line
        self._at = end
        made = improve("tables", lambda: whole_markdown(markup)[0], otherwise=lambda: markup)
        return f"\n{made}\n"

    def _without_attributes(self, line: str) -> str:
        if "{" not in line:
            return line
        is_title = line.lstrip(" ").startswith("#") or (
            self._at < len(self._lines) and _UNDERLINE.fullmatch(self._lines[self._at])
        )
        found = _HEADING_ATTRIBUTES.fullmatch(line.rstrip()) if is_title else None
        return found["heading"] if found else line


def _directive_title(opening: str) -> str:
    """What readers see of `note[Title]`, `{note} Title`, `{.callout-note title="Title"}` …"""
    if not opening:
        return ""
    if titled := _TITLED.search(opening):
        return titled[2]
    found = _DIRECTIVE.fullmatch(opening)
    if found is None:
        return ""
    title = found["inside"] or _ATTRIBUTES.sub("", found["title"]).strip().strip('"')
    name = found["name"].lower()
    return title or (name.capitalize() if name in _ADMONITIONS else "")
