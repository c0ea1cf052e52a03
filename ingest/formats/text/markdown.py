"""Markdown as a reader sees it: without comments, dialects as CommonMark, HTML as Markdown."""

import re

from ingest.analysis.heading_title import plain_title
from ingest.formats.markdown.tidy import tidied
from ingest.formats.text.front_matter import known_metadata, split_front_matter
from ingest.formats.text.reading import Reading, headed
from ingest.optional_steps import improve

_TITLE_WITHIN = 20_000  # characters; a title stands near the start
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*\r?$|^(\S.*?)[ \t]*\r?\n={3,}[ \t]*\r?$", re.MULTILINE
)
_LONGEST_TITLE = 400  # characters that are looked at


def read_markdown(text: str, *, has_components: bool = False) -> Reading:
    """Read Markdown. The front matter's title becomes a heading; else the first heading counts.

    `has_components`: it is MDX, whose imports, exports and JSX are no text.
    """
    front, body = improve(
        "front_matter", lambda: split_front_matter(text), otherwise=lambda: ({}, text)
    )
    body = tidied(body, has_components=has_components)
    if not body.strip():
        front, body = {}, text
    stated = front.pop("title", None)
    title = " ".join(str(stated).split()) if stated else None
    return Reading(
        text=headed(body, title),
        title=title
        or improve("title", lambda: _first_heading(body[:_TITLE_WITHIN]), otherwise=lambda: None),
        metadata=improve("front_matter", lambda: known_metadata(front), otherwise=lambda: front),
    )


def _first_heading(start: str) -> str | None:
    names = (found[1] or found[2] for found in _HEADING.finditer(_FENCED.sub("", start)))
    name = next((name for name in names if any(map(str.isalnum, name))), None)  # no line of dashes
    return " ".join(plain_title(name[:_LONGEST_TITLE]).split()) or name if name else None
