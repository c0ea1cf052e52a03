"""reStructuredText, AsciiDoc, LaTeX and Org: headings become Markdown, the rest is unchanged."""

import re
from collections.abc import Callable

from ingest.formats.common.markdown import plain
from ingest.formats.text.latex import read_latex
from ingest.formats.text.reading import Reading, lines_of
from ingest.formats.text.restructured import read_restructured

_DEEPEST = 6
_ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_ASCIIDOC_SOURCE = re.compile(r"\[source(?:%\w+)?,\s*([\w+-]+).*\]")
_ASCIIDOC_BLOCK = re.compile(r"-{4,}|\.{4,}|/{4,}|`{3,}")
_ORG_HEADING = re.compile(
    r"(\*{1,6})[ \t]+(?:(?:TODO|DONE)[ \t]+)?(\S.*?)(?:[ \t]+:[\w@:]+:)?[ \t]*"
)
_ORG_BLOCK = re.compile(r"[ \t]*#\+begin_(?:src|example)\b[ \t]*([\w+-]*).*", re.IGNORECASE)
_ORG_END = re.compile(r"[ \t]*#\+end_(?:src|example)\b.*", re.IGNORECASE)
_ORG_TITLE = re.compile(r"^#\+title:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)


def reader_of(suffix: str) -> Callable[[str], Reading] | None:
    """The reader for a lower-case file name suffix; None if it is not that of a markup."""
    return _READERS.get(suffix)


def _asciidoc(text: str) -> Reading:
    out: list[str] = []
    title, block, language = None, "", ""
    for line in lines_of(text):
        mark = line.rstrip()
        if block:
            if mark == block:
                out += [] if block.startswith("/") else ["```"]
                block = ""
            elif not block.startswith("/"):
                out.append(line)
        elif _ASCIIDOC_BLOCK.fullmatch(mark):
            block = mark
            out += [] if block.startswith("/") else [f"```{language}"]
        elif heading := _ASCIIDOC_HEADING.fullmatch(line):
            out.append(_heading(len(heading[1]), heading[2]))
            title = title or heading[2]
        else:
            out.append(line)
        source = _ASCIIDOC_SOURCE.fullmatch(mark)
        language = source[1] if source else ""
    return Reading(text="\n".join(out), title=title)


def _org(text: str) -> Reading:
    out: list[str] = []
    inside = False
    title = _ORG_TITLE.search(text)
    first = title[1].strip() if title else None
    for line in lines_of(text):
        block = _ORG_BLOCK.fullmatch(line)
        heading = None if inside else _ORG_HEADING.fullmatch(line)
        if (block and not inside) or (inside and _ORG_END.fullmatch(line)):
            out.append("```" if inside else f"```{block[1] if block else ''}")
            inside = not inside
        elif heading is not None:
            out.append(_heading(len(heading[1]), heading[2]))
            first = first or heading[2]
        else:
            out.append(line if inside else plain(line))
    return Reading(text="\n".join(out), title=first)


def _heading(level: int, title: str) -> str:
    return f"{'#' * min(level, _DEEPEST)} {title.strip()}"


_READERS: dict[str, Callable[[str], Reading]] = {
    ".rst": read_restructured,
    ".rest": read_restructured,
    ".adoc": _asciidoc,
    ".asciidoc": _asciidoc,
    ".tex": read_latex,
    ".latex": read_latex,
    ".org": _org,
}
