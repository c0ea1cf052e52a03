"""Words broken at the end of a line become whole, with the rest of the document as witness."""

import re
from collections.abc import Iterable, Sequence

from ingest.formats.pdf.lines import HYPHEN, Line, PageLines

_LAST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
# English writes compounds of this one with a hyphen, whatever follows.
_ALWAYS_APART = "self"
# After `pre-` of `pre- and post-war` nothing was broken.
_SUSPENDED = {"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e", "o"}


def mend_hyphens(pages: Sequence[PageLines]) -> None:
    """Join each broken word, with its hyphen where it is a compound.

    A word that goes on in lower case is joined, unless the document elsewhere has it with a hyphen
    and not without. What goes on with a capital or a digit keeps its hyphen.
    """
    broken = [
        (page, index)
        for page in pages
        for index, line in enumerate(page.lines)
        if line.text.endswith(HYPHEN)
    ]
    if not broken:
        return
    known = _compounds(line.text for page in pages for line in page.lines)
    for page, index in reversed(broken):  # a word may be broken twice
        following = page.lines[index + 1] if index + 1 < len(page.lines) else None
        _mend(page.lines[index], following, known)
    for page in {id(page): page for page, _ in broken}.values():
        page.lines = [line for line in page.lines if line.text]


def _compounds(texts: Iterable[str]) -> set[str]:
    tokens = {token for text in texts if "-" in text for token in text.split() if "-" in token}
    return {word.lower() for token in tokens for word in _COMPOUND.findall(token)}


def _mend(line: Line, following: Line | None, known: set[str]) -> None:
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


def _is_compound(left: str, right: str, known: set[str]) -> bool:
    if not right[0].islower() or "-" in left or left.lower() == _ALWAYS_APART:
        return True
    return f"{left}-{right}".lower() in known
