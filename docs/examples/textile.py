"""A file format of your own in one file: Textile, a markup of wikis and issue trackers.

INGEST_FORMATS=textile adds it. Headings, lists, links and code become Markdown.
"""

import re

from ingest.extend.formats import Extraction, Format, InputFile, decode

FORMATS = (
    Format(
        media_type="text/x-textile",
        label="a Textile file",
        suffixes=".textile",
        reader=__name__,  # the module that has `extract`
        is_text=True,
    ),
)

_HEADING = re.compile(r"h([1-6])\. +(\S.*)")
_ITEM = re.compile(r"([*#]+) +(\S.*)")
_CODE = re.compile(r"bc\. ?(.*)")
_LINK = re.compile(r'"([^"\n]+)":(https?://[^\s)]*[^\s).,;:])')


def extract(source: InputFile) -> Extraction:
    """The text as Markdown in one part; its first heading is the title."""
    text, encoding = decode(source.stream.read(), declared=source.declared)
    lines = text.splitlines()
    headings = (found[2] for found in map(_HEADING.fullmatch, lines) if found)
    return Extraction(
        parts=["\n".join(map(_markdown, lines))],
        extractor="textile 1",
        title=next(headings, None),
        encoding=encoding,
    )


def _markdown(line: str) -> str:
    if heading := _HEADING.fullmatch(line):
        return f"{'#' * int(heading[1])} {heading[2]}"
    if code := _CODE.fullmatch(line):
        return f"    {code[1]}"
    line = _LINK.sub(r"[\1](\2)", line)
    if item := _ITEM.fullmatch(line):
        marker = "-" if item[1].endswith("*") else "1."
        return f"{'   ' * (len(item[1]) - 1)}{marker} {item[2]}"
    return line
