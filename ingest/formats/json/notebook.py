"""Jupyter notebooks: Markdown as of Markdown files, code in fences, with its printed output below.

Not read: HTML that code made, but for tables; pictures and widgets, which `metadata["notRead"]`
counts by media type.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown_writer import Lines, read_text
from ingest.formats.html.fragment import whole_markdown
from ingest.formats.markdown.tidy import tidied
from ingest.optional_steps import attempt, improve

_VERSION = "notebook 3"
_LONGEST_OUTPUT = 4000  # characters kept of each output
_LONGEST_TABLE = 200_000  # characters of markup
# `<Figure size 640x480 with 1 Axes>`, `<matplotlib.legend.Legend at 0x7f…>`
_NAME_OF_OBJECT = re.compile(r"<(?:Figure size|[^<>\n]{1,200}? at 0x[0-9a-f]+)[^<>\n]{0,100}>")
_TERMINAL = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_TICKS = re.compile("`{3,}")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def extract(source: InputFile) -> Extraction:
    """Extract the cells in order, or the text itself with the warning `invalid_json`.

    Raises Permanent `too_large`.
    """
    text, encoding = read_text(source)
    try:
        book = json.loads(text.removeprefix("\ufeff"), strict=False, parse_int=str)
    except (ValueError, RecursionError):
        return Extraction(
            parts=[text], extractor=_VERSION, encoding=encoding, warnings=("invalid_json",)
        )
    about = _dict(_dict(book).get("metadata"))
    language = improve("metadata", lambda: _language(about), otherwise=str)
    out = Lines()
    unread: Counter[str] = Counter()
    title = None
    for cell in _cells(_dict(book)):
        content = _joined(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind == "code":
            out.block(_fenced(content, language))
            attempt("outputs", partial(_write_outputs, cell, out, unread))
            continue
        if kind == "heading":  # of notebooks before version 4
            content = f"{'#' * _level(cell)} {content}"
        if kind == "raw":
            out.gap()
            out.text(content)
            continue
        content = tidied(content)
        title = title or improve("title", partial(_title, content), otherwise=lambda: None)
        out.block(content)
    metadata: dict[str, Any] = {"language": language} if language else {}
    return Extraction(
        parts=[str(out)],
        extractor=_VERSION,
        title=improve("title", lambda: _stated_title(about), otherwise=lambda: None) or title,
        encoding=encoding,
        metadata={**metadata, "notRead": dict(unread)} if unread else metadata,
    )


def _cells(book: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cells of all versions: before version 4 they were on worksheets."""
    for holder in (book, *map(_dict, _list(book.get("worksheets")))):
        yield from map(_dict, _list(holder.get("cells")))


def _write_outputs(cell: dict[str, Any], out: Lines, unread: Counter[str]) -> None:
    for output in map(_dict, _list(cell.get("outputs"))):
        data = _dict(output.get("data"))
        if output.get("output_type") == "error":
            text = f"{output.get('ename')}: {output.get('evalue')}"
        else:
            text = _joined(output.get("text", data.get("text/plain")))
        table = _table(_joined(data.get("text/html")))
        if data.get("text/markdown"):
            out.block(_joined(data["text/markdown"])[:_LONGEST_OUTPUT])
        elif table:
            out.block(_bounded(table))
        elif text.strip() and not _NAME_OF_OBJECT.fullmatch(text.strip()):
            out.block(_fenced(_bounded(_TERMINAL.sub("", text)), ""))
        unread.update(kind for kind in data if kind.startswith(("image/", "application/")))


def _table(markup: str) -> str:
    """The Markdown of a table such as that of a data frame, which as text breaks wide rows."""
    if "<table" not in markup or len(markup) > _LONGEST_TABLE:
        return ""
    return improve("tables", lambda: whole_markdown(markup)[0].strip(), otherwise=str)


def _bounded(text: str) -> str:
    if len(text) <= _LONGEST_OUTPUT:
        return text
    return f"{text[:_LONGEST_OUTPUT]}\n… {len(text) - _LONGEST_OUTPUT} more characters"


def _fenced(code: str, language: str) -> str:
    if not code.strip():
        return ""
    longest = max((len(run) for run in _TICKS.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def _language(about: dict[str, Any]) -> str:
    stated = _dict(about.get("kernelspec")).get("language") or _dict(
        about.get("language_info")
    ).get("name")
    return str(stated) if stated and _LANGUAGE.fullmatch(str(stated)) else ""


def _stated_title(about: dict[str, Any]) -> str | None:
    title = about.get("title")
    return title if isinstance(title, str) else None


def _title(markdown: str) -> str | None:
    found = _HEADING.search(markdown)
    return found[1] if found else None


def _level(cell: dict[str, Any]) -> int:
    level = str(cell.get("level"))
    return min(6, max(1, int(level))) if level.isdecimal() and len(level) < 3 else 1


def _joined(value: Any) -> str:
    """Text that may be a list of lines."""
    if isinstance(value, list):
        return "".join(map(str, value))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
