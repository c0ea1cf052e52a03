"""Markdown stays unchanged, but front matter becomes metadata and comments are removed."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.text.reading import Reading, headed
from ingest.optional_steps import improve

_TITLE_WITHIN = 20_000  # characters; a title stands near the start
_LONGEST_FRONT = 32_768  # characters
_MOST_BRACKETS = 1000  # the time to parse YAML is quadratic in the depth of nesting
_FRONT = re.compile(
    r"\A\s*(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<data>.*?)\r?\n(?:(?P=mark)|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*\r?$|^(\S.*?)[ \t]*\r?\n={3,}[ \t]*\r?$", re.MULTILINE
)
# The first group matches code, which keeps its comments and tags.
_CODE = (
    r"(^[ ]{0,3}(?P<fence>`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t\r]*$|\Z)"
    r"|`[^`\n]*`)"
)
_COMMENT = re.compile(
    _CODE + r"|<!--.*?-->",
    re.MULTILINE | re.DOTALL,
)
_RAISED = re.compile(
    _CODE + r"|<(?P<tag>sup|sub)>(?P<text>[^<>\n]{1,40})</(?P=tag)>",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_KNOWN = {
    "author": ("author", "authors", "creator"),
    "date": ("date", "published", "created"),
    "tags": ("tags", "keywords", "categories"),
    "description": ("description", "summary", "abstract", "excerpt"),
    "language": ("lang", "language"),
}


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # the library has no types
    """YAML without aliases: a few lines of them expand to gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def read_markdown(text: str) -> Reading:
    """Read Markdown. The front matter's title becomes a heading; else the first heading counts."""
    front, body = improve("front_matter", lambda: _front_matter(text), otherwise=lambda: ({}, text))
    body = improve("comments", lambda: _without_comments(body), otherwise=lambda: body)
    body = improve("tidying", lambda: _with_raised(body), otherwise=lambda: body)
    if not body.strip():
        front, body = {}, text
    stated = front.pop("title", None)
    title = " ".join(str(stated).split()) if stated else None
    return Reading(
        text=headed(body, title),
        title=title
        or improve("title", lambda: _first_heading(body[:_TITLE_WITHIN]), otherwise=lambda: None),
        metadata=improve("front_matter", lambda: _metadata(front), otherwise=lambda: front),
    )


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter and the text after it; invalid front matter stays in the text."""
    match = _FRONT.match(text[:_LONGEST_FRONT])
    if match is None or match["data"].count("[") + match["data"].count("{") > _MOST_BRACKETS:
        return {}, text
    try:
        if match["mark"] == "+++":
            found = tomllib.loads(match["data"].replace("\r\n", "\n"))
        else:
            found = yaml.load(match["data"], Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}, text
    if not isinstance(found, Mapping):
        return {}, text
    return {str(key): value for key, value in found.items()}, text[match.end() :]


def _metadata(front: dict[str, Any]) -> dict[str, Any]:
    """The keys that all formats have; the rest unchanged in `frontMatter`."""
    metadata: dict[str, Any] = {}
    for key, names in _KNOWN.items():
        values = [front.pop(name) for name in names if front.get(name)]
        if values:
            metadata[key] = values[0]
            front.update({names[-1]: values[1:]} if len(values) > 1 else {})
    return {**metadata, "frontMatter": front} if front else metadata


def _without_comments(text: str) -> str:
    last = text.rfind("-->")
    if last < 0:
        return text
    # No comment closes after the last `-->`; a search there would take quadratic time.
    end = last + len("-->")
    return _COMMENT.sub(lambda match: match[1] or "", text[:end]) + text[end:]


def _with_raised(text: str) -> str:
    """The text with its `<sup>` and `<sub>` outside code written out."""
    if "</su" not in text.lower():
        return text

    def marked(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        mark = raised if match["tag"].lower() == "sup" else lowered
        return mark(match["text"])

    return written_out(_RAISED.sub(marked, text))


def _first_heading(start: str) -> str | None:
    heading = _HEADING.search(_FENCED.sub("", start))
    return (heading.group(1) or heading.group(2)) if heading is not None else None
