"""Markdown without what readers do not see: comments, markup of dialects, tags."""

import re

from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.markdown.blocks import as_commonmark
from ingest.optional_steps import improve

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
_MARKS = (
    *("<", "&", "{", "[[", "[!", "%%", "\\\n", "\\\r", ":::", "///", "!!!", "???", ")="),
    *("=== ", "===\t", "===+", "===!", "[toc]"),
    *("\nimport ", "\nimport\t", "\nexport ", "\nexport\t"),
)
"""Many texts have none of these, and so nothing of HTML or a dialect; in lower case."""


def tidied(text: str, *, has_components: bool = False) -> str:
    """The text as CommonMark without HTML, outside of code. `has_components`: it is MDX."""
    searched = f"\n{text.lower()}"
    if not any(mark in searched for mark in _MARKS):
        return text
    text = improve("comments", lambda: _without_comments(text), otherwise=lambda: text)
    text = improve("tidying", lambda: _with_raised(text), otherwise=lambda: text)
    return improve(
        "markup",
        lambda: as_commonmark(text, has_components=has_components),
        otherwise=lambda: text,
    )


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
