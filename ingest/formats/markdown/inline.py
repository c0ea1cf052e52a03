"""HTML, entities, wiki links and attributes in the running text of Markdown, as plain Markdown."""

import re
from html import unescape

_INTERESTING = ("<", "&", "[[", "]{", "`{", "){", "}`", "%%", "\\\n", "\\\r\n", "{/*")
_ATTRIBUTES = r"(?:[^<>\"'`{}]++|\"[^\"<>]{0,2000}+\"|'[^'<>]{0,2000}+'"
_ATTRIBUTES += r"|\{(?:[^{}<>]|\{[^{}<>]{0,200}\}){0,500}+\}){0,60}"
_TOKEN = re.compile(
    r"(?P<escaped>\\[<&\[{%`$])"
    r"|(?P<role>\{[a-z][\w:-]{0,40}\}`(?P<target>[^`\n]{1,300})`)"
    r"|(?P<code>``[^\n]{1,500}?``(?!`)|`[^`\n]*`|\$\$.{1,2000}?\$\$"
    r"|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d))(?P<style>\{[.=][^{}\n]{0,100}\})?"
    rf"|<(?P<closing>/?)(?P<tag>[A-Za-z][\w.-]{{0,40}})(?P<attributes>{_ATTRIBUTES})/?>"
    r"|&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|(?<!\w)!?\[\[(?![\s$\"'-])(?![\d\s.,]{1,300}\])(?P<page>[^\[\]\n|\\]{1,300})(?:\\?\|(?P<alias>[^\[\]\n]{1,300}))?\]\](?![\[(])"
    r"|(?<=[\])])(?P<set>\{:?[ ]?(?:[.#][\w-]|[\w-]{1,40}=)[^{}\n]{0,200}\})"
    r"|(?<!\S)(?P<hidden>%%[^%\n]{1,1000}%%)(?!\S)"
    r"|(?P<comment>\{/\*[^*]{0,5000}+(?:\*(?!/)[^*]{0,5000}+){0,100}\*/\})"
    r"|(?<=[^\\\s])(?P<break>\\)(?=\r?\n)",
    re.DOTALL,
)
_BEGIN = re.compile(r"[\\{`$<&!\[%]")
"""The first character of each token: found ten times as fast as a token."""
_HEADING = re.compile(
    r"<h([1-6])(?=[\s>])[^<>]{0,500}>(.{0,1000}?)</h\1\s*>", re.DOTALL | re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"([\w-]{1,40})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>{}]+))")
_SHOWN = ("title", "label", "summary", "heading", "alt")
_EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "tt": "`", "samp": "`"}
_BLOCKS = frozenset(
    {"p", "div", "center", "section", "article", "details", "summary", "blockquote", "ul", "ol"}
    | {"dl", "dt", "dd", "figure", "figcaption", "picture", "table", "thead", "tbody", "tfoot"}
    | {"tr", "br", "hr", "header", "footer", "main", "aside", "nav", "iframe", "video", "audio"}
    | {"pre", "form", "caption", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_SILENT = frozenset(
    {"span", "font", "kbd", "u", "s", "del", "ins", "small", "big", "sub", "sup", "mark", "abbr"}
    | {"source", "wbr", "col", "colgroup", "cite", "q", "var", "ruby", "rt", "rp"}
    | {"strike", "input", "button", "label", "svg", "path", "time", "bdi", "nobr"}
)
_WORDS = frozenset(
    {"path", "time", "source", "label", "input", "var", "button", "form", "caption", "summary"}
    | {"main", "section", "header", "footer", "article", "details", "video", "audio", "cite"}
    | {"mark", "picture", "code", "font", "pre", "table", "col"}
)
"""Tags that may also be placeholders, as in `cp <source>`."""
_NO_ATTRIBUTES = re.compile(r"\s*[^\s\w:@{/\"'`.#]")
"""Begins what is an expression, as in `a<b && c>d`."""
_CLOSING = re.compile(r"</([A-Za-z][\w-]{0,40})")
_UPPER = _SILENT | _EMPHASIS.keys() | {"a", "li", "img"}
"""Tags that are sometimes in upper case."""
_LINE_END = re.compile(r"[ \t\r]{0,200}(?:\n|\Z)")
_LONGEST_INDENT = 200
_AT_START = frozenset("<#|`~>-+*=")


def as_text(text: str, *, has_components: bool) -> str:
    """Markdown outside of code blocks without tags and other markup that readers do not see.

    `has_components`: tags of components of any name are left out, not only such on lines of their
    own.
    """
    if not any(mark in text for mark in _INTERESTING):
        return text
    return _Writer(has_components=has_components).write(_HEADING.sub(_heading, text))


class _Writer:
    def __init__(self, *, has_components: bool) -> None:
        self._has_components = has_components
        self._links: list[str | None] = []
        """Addresses of the open `<a>`; None for anchors."""
        self._line_start = self._searched = 0
        self._closed: set[str] = set()
        """Names of all closing tags."""

    def write(self, text: str) -> str:
        self._closed = {name.lower() for name in _CLOSING.findall(text)}
        pieces: list[str] = []
        end = 0
        for begin in _BEGIN.finditer(text):
            start = begin.start()
            if start >= end and (found := _TOKEN.match(text, start)):
                pieces += text[end:start], self._written(found)
                end = found.end()
        pieces.append(text[end:])
        return "".join(pieces)

    def _written(self, found: re.Match[str]) -> str:
        if found["code"] or found["escaped"]:
            return found["code"] or found[0]
        newline = found.string.rfind("\n", self._searched, found.start())
        self._line_start = newline + 1 if newline >= 0 else self._line_start
        self._searched = found.start()
        if found["tag"]:
            return self._tag(found)
        if found["page"]:
            return found["alias"] or found["page"]
        if found["role"]:
            return _role(found["target"])
        if found["comment"]:
            return "" if self._has_components else found[0]
        if found[0].startswith("&"):
            return self._character(found)
        return ""  # attributes, hidden text, line breaks

    def _tag(self, found: re.Match[str]) -> str:
        name, is_closing = found["tag"], bool(found["closing"])
        tag = name.lower()
        if name[0].isupper() and tag not in _BLOCKS and tag not in _UPPER:
            return self._component(found)
        if _NO_ATTRIBUTES.match(found["attributes"]):
            return found[0]
        if tag in _WORDS - self._closed and not found["attributes"].strip(" /"):
            return found[0]
        if tag == "a":
            return self._link(found)
        if tag == "img":
            stated = _stated(found["attributes"])
            alt = " ".join(unescape(stated.get("alt", "")).split())
            return f"![{alt}]({stated.get('src', '')})" if alt else ""
        if tag in _EMPHASIS:
            return _EMPHASIS[tag]
        if tag == "li":
            return "" if is_closing else "\n- "
        if tag in _BLOCKS:
            return " " if found.string.startswith("|", self._line_start) else "\n"
        if tag in ("td", "th"):
            return " "
        return "" if tag in _SILENT else found[0]

    def _link(self, found: re.Match[str]) -> str:
        if found["closing"]:
            url = self._links.pop() if self._links else None
            return f"]({url})" if url else ""
        url = _stated(found["attributes"]).get("href", "")
        self._links.append(url if url.startswith(("http:", "https:", "mailto:")) else None)
        return "[" if self._links[-1] else ""

    def _component(self, found: re.Match[str]) -> str:
        """A tag of JSX: its title. In plain Markdown only on a line of its own: `<T>` is text."""
        is_clear = bool(found["closing"] or found["attributes"].strip()) or found[0][-2] == "/"
        is_alone = self._is_first(found) and _LINE_END.match(found.string, found.end())
        if not self._has_components and not (is_clear and is_alone):
            return found[0]
        stated = _stated(found["attributes"])
        shown = next((stated[name] for name in _SHOWN if stated.get(name)), "")
        return f"**{unescape(shown)}**\n" if shown else ""

    def _character(self, found: re.Match[str]) -> str:
        character = unescape(found[0]).replace("\xa0", " ")
        if character == " ":  # four at the start of a line would make it code
            before = found.string[self._line_start : found.start()][:_LONGEST_INDENT]
            return "" if not before.replace("&nbsp;", "").strip() else " "
        if character == "|":
            return r"\|"
        return f"\\{character}" if character in _AT_START and self._is_first(found) else character

    def _is_first(self, found: re.Match[str]) -> bool:
        """Whether only spaces stand before it on its line."""
        before = found.start() - self._line_start
        return (
            before < _LONGEST_INDENT and not found.string[self._line_start : found.start()].strip()
        )


def _heading(found: re.Match[str]) -> str:
    name = " ".join(found[2].split())
    return f"\n\n{'#' * int(found[1])} {name}\n\n" if name else "\n"


def _role(target: str) -> str:
    """What readers see of `` {ref}`text <target>` ``."""
    shown, _, address = target.rpartition(" <")
    return shown.strip() if shown and address.endswith(">") else target


def _stated(attributes: str) -> dict[str, str]:
    return {
        found[1].lower(): found[2] or found[3] or found[4] or ""
        for found in _ATTRIBUTE.finditer(attributes)
    }
