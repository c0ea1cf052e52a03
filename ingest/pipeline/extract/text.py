"""Plain text, Markdown and what is read like it (CSV, JSON, XML, source code): as it is."""

import re

from ingest.pipeline import mediatypes as types
from ingest.pipeline.decode import decode
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = "text 1"
_TITLE_WITHIN = 20_000  # characters; a title stands near the start
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*\r?$|^(\S.*?)[ \t]*\r?\n={3,}[ \t]*\r?$", re.MULTILINE
)


def extract(source: Source) -> Extraction:
    """The decoded text; Markdown has its first heading as title."""
    text, encoding = decode(source.stream.read(), declared=source.declared)
    title = _title(text[:_TITLE_WITHIN]) if source.media_type == types.MARKDOWN else None
    return Extraction(parts=[text], extractor=_VERSION, title=title, encoding=encoding)


def _title(start: str) -> str | None:
    front = _FRONT_MATTER.match(start)
    if front is not None:
        stated = _FRONT_TITLE.search(front.group(1))
        if stated is not None:
            return stated.group(1).strip().strip("\"'")
        start = start[front.end() :]
    heading = _HEADING.search(_FENCED.sub("", start))
    return (heading.group(1) or heading.group(2)) if heading is not None else None
