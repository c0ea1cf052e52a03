"""reStructuredText, AsciiDoc, LaTeX and Org: headings become Markdown, the rest is unchanged."""

import re
from collections.abc import Callable

from ingest.formats.common.markdown import plain
from ingest.formats.text.latex import read_latex
from ingest.formats.text.reading import Reading, lines_of

_DEEPEST = 6
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
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


def _restructured(text: str) -> Reading:
    """Read reStructuredText.

    The order in which title styles first appear gives their heading levels; a title has an
    underline, and perhaps an overline.
    """
    lines = [*lines_of(text), "", ""]
    styles: list[tuple[str, bool]] = []
    out: list[str] = []
    title = None
    at = 0
    while at < len(lines) - 2:
        overlined = (
            _is_rule(lines[at], lines[at + 1]) and lines[at + 2].strip() == lines[at].strip()
        )
        name, under = (lines[at + 1], lines[at + 2]) if overlined else (lines[at], lines[at + 1])
        begins = not out or not out[-1].strip()
        if begins and _is_rule(under, name) and (overlined or name[:1].strip()):
            style = (under[0], overlined)
            if style not in styles:
                styles.append(style)
            out += [_heading(styles.index(style) + 1, name), ""]
            title = title or name.strip()
            at += 3 if overlined else 2
        else:
            out.append(plain(lines[at]))
            at += 1
    return Reading(text="\n".join(out), title=title)


def _is_rule(line: str, title: str) -> bool:
    """Whether `line` is the underline or overline of `title`."""
    long_enough = len(line.rstrip()) >= len(title.strip())
    return (
        long_enough
        and bool(title.strip())
        and not _RULE.fullmatch(title)
        and (_RULE.fullmatch(line) is not None)
    )


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
    ".rst": _restructured,
    ".rest": _restructured,
    ".adoc": _asciidoc,
    ".asciidoc": _asciidoc,
    ".tex": read_latex,
    ".latex": read_latex,
    ".org": _org,
}
