"""Joins words hyphenated across lines; compounds found elsewhere keep their hyphen."""

import re
from collections.abc import Iterable, Sequence

from ingest.formats.pdf.layout.text_lines import HYPHEN, Line, PageLines

_LAST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
# English always hyphenates compounds with this word.
_ALWAYS_APART = "self"
# Suspended hyphens, as in `pre- and post-war`, break no word.
_SUSPENDED = {"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e", "o"}


def join_hyphenated(pages: Sequence[PageLines]) -> None:
    """Join each hyphenated word; a compound keeps its hyphen.

    A second half in lower case is joined without the hyphen, unless the document has the word with
    a hyphen elsewhere. A second half that starts with a capital or a digit keeps the hyphen.
    """
    broken = [
        (number, index)
        for number, page in enumerate(pages)
        for index, line in enumerate(page.lines)
        if line.text.endswith(HYPHEN)
    ]
    if not broken:
        return
    known = _compounds(line.text for page in pages for line in page.lines)
    for number, index in reversed(broken):  # a word may span three lines
        _join_word(pages[number].lines[index], _following(pages, number, index), known)
    for page in {
        id(page): page for number, _ in broken for page in pages[number : number + 2]
    }.values():
        page.lines = [line for line in page.lines if line.text]


def _following(pages: Sequence[PageLines], number: int, index: int) -> Line | None:
    """The line in which a word goes on: the next one, or the first of the next page."""
    lines = pages[number].lines
    line = lines[index]
    if index + 1 < len(lines) and lines[index + 1].kind in (line.kind, "text"):
        return lines[index + 1]
    is_last = all(other.kind in ("note", "running") for other in lines[index + 1 :])
    if line.kind == "text" and is_last and number + 1 < len(pages) and pages[number + 1].lines:
        first = pages[number + 1].lines[0]
        if first.kind == "text" and first.text[0].islower() and abs(first.size - line.size) < 0.5:
            return first
    return None


def _compounds(texts: Iterable[str]) -> set[str]:
    tokens = {token for text in texts if "-" in text for token in text.split() if "-" in token}
    return {word.lower() for token in tokens for word in _COMPOUND.findall(token)}


def _join_word(line: Line, following: Line | None, known: set[str]) -> None:
    start = line.text[: -len(HYPHEN)]
    left = _LAST_WORD.search(start, start.rfind(" ") + 1)
    right = _FIRST_WORD.match(following.text) if following is not None else None
    if following is None or left is None or right is None:
        line.text = start + "-"
        return
    if right.group() in _SUSPENDED:
        line.text = start + "-"
        return
    token = following.text.split(maxsplit=1)[0]
    hyphen = "-" if _is_compound(left.group(), right.group(), known) else ""
    line.text = f"{start}{hyphen}{token}"
    following.text = following.text[len(token) :].lstrip()
    line.continues = bool(following.text)


def _is_compound(left: str, right: str, known: set[str]) -> bool:
    if not right[0].islower() or "-" in left or left.lower() == _ALWAYS_APART:
        return True
    return f"{left}-{right}".lower() in known
