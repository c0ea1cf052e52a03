"""Super- and subscripts of an RTF file, which its reader drops: marked before it reads."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingest.formats.common.raised_text import written_out

_TOKEN = re.compile(
    rb"[{}]|\\bin(\d{1,9}) ?|\\(super|sub|nosupersub|plain|up|dn|uc)(\d{0,5})(?![a-z0-9]) ?"
    rb"|\\[a-z]+|\\[^a-z]",
    re.DOTALL,
)
# The characters of common/raised_text.py, as signed numbers.
_MARKS = {b"super": (-560, -559), b"sub": (-558, -557)}
# Emphasis of one passage, which the reader puts on either side of the marks.
_EMPHASISED = re.compile(
    "([*]{0,3})([\ufdd0\ufdd2])([*]{0,3})([^*\ufdd0-\ufdd3]+)([*]{0,3})([\ufdd1\ufdd3])([*]{0,3})"
)
# Between two runs of one passage, with the end and the begin of their emphasis.
_BETWEEN = re.compile("([*]{0,3})(?:\ufdd1[*]{0,6}\ufdd0|\ufdd3[*]{0,6}\ufdd2)\\1")
_NOTHING = re.compile("[\ufdd0\ufdd2]\\s*[\ufdd1\ufdd3] ?")
_SHIFTS = {b"up": b"super", b"dn": b"sub"}
_ANY = re.compile(rb"\\(?:super|sub|up|dn)(?![a-z])")


def mark_raised(data: bytes) -> bytes:
    """The file with marks in its text around what is raised or lowered."""
    if not _ANY.search(data):
        return data
    pieces: list[bytes] = []
    end = 0
    for start, stop, old, new in _changes(data):
        # Before the brace or word that ends it, after the word that begins it.
        pieces += [data[end:start], old.mark(1), data[start:stop], new.mark(0)]
        end = stop
    return b"".join([*pieces, data[end:]])


class _State(NamedTuple):
    place: bytes | None = None
    """`super` or `sub`."""
    substitutes: int = 1
    """Characters after each of Unicode, for readers that do not know it."""

    def mark(self, side: int) -> bytes:
        if self.place is None:
            return b""
        return b"\\uc0\\u%d\\uc%d " % (_MARKS[self.place][side], self.substitutes)


def _changes(data: bytes) -> Iterator[tuple[int, int, _State, _State]]:
    """Start and end of each word or brace that raises or lowers, and what held and holds then."""
    outer: list[_State] = []  # what holds in the groups around
    state = _State()
    at = 0
    while (token := _TOKEN.search(data, at)) is not None:
        at = token.end()
        new = state
        if token[1] is not None:
            at += int(token[1])  # binary data
        elif token[0] == b"{":
            outer.append(state)
        elif token[0] == b"}":
            new = outer.pop() if outer else _State()
        elif token[2] == b"uc":
            new = state._replace(substitutes=int(token[3] or 1))
        elif token[2] is not None:
            new = state._replace(place=_place(token[2], token[3]))
        if new.place != state.place:
            yield token.start(), token.end(), state, new
        state = new


def write_raised(markdown: str) -> str:
    """Replace the marks in what the reader made of the file."""
    markdown = _NOTHING.sub("", _BETWEEN.sub("", markdown))
    return written_out(_EMPHASISED.sub(_without_emphasis, markdown))


def _without_emphasis(passage: re.Match[str]) -> str:
    before, begin, opened, text, closed, end, after = passage.groups()
    if before + opened != closed + after:
        return passage[0]
    return begin + text + end


def _place(word: bytes, number: bytes) -> bytes | None:
    if word in (b"nosupersub", b"plain") or number == b"0":
        return None
    return _SHIFTS.get(word, word)
