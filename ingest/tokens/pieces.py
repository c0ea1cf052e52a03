"""Cuts text at places where tokenising the parts gives the same tokens as the whole."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

LONGEST_EXACT = 16_384
"""Texts up to this many characters are never cut mid-word; longer runs without a space are."""
_BLOCK = 16 * LONGEST_EXACT

SEAM = re.compile(r"(?<=\w) ")
"""A space after a letter or digit. In all our tokenizers no token crosses it, and the text to the
left does not change the tokens to the right."""

# What BERT reads as white space; it deletes other control characters, form feeds included.
_SPACE = r"\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
_N = LONGEST_EXACT

# Letters and digits that BERT never deletes, as it does control and combining characters.
MINILM_LETTER = (
    r"0-9A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0388-\u03ff\u0400-\u0481\u048a-\u052f\uac00-\ud7a3"
)
# Marks that BERT reads as a word each.
MINILM_MARK = r"!-/:-@\[-`{-~\u2013\u2014\u2018-\u201e\u2026"

MINILM_PIECE = re.compile(
    rf"[{_SPACE}]{{0,{_N}}}+(?:[{MINILM_LETTER}]{{1,{_N}}}+(?=[{MINILM_MARK}{_SPACE}{_HAN}]|\Z)"
    rf"|[{MINILM_MARK}]{{1,16}}+(?=[{MINILM_LETTER}{MINILM_MARK}{_SPACE}{_HAN}]|\Z)"
    rf"|[{_HAN}]|[^{_SPACE}{_HAN}]{{1,{_N}}})|[{_SPACE}]{{1,{_N}}}"
)
"""Letters or marks, with the white space before them; the model reads each Chinese character as a
word. Where characters follow that it may delete, the piece goes on to the next white space."""

MINILM_PARTS = re.compile(
    rf"([{_SPACE}]*+)(?:([{MINILM_LETTER}]{{1,20}}+)|([{MINILM_MARK}]++|[{_HAN}]))"
)
"""White space and a short word, or marks of a token each. The library needs quadratic time for a
word; pieces with long words have no such parts."""

_LLAMA_LETTER = (
    r"A-Za-z\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\u1fff\u3041-\u318f\u3400-\u9fff\uac00-\ud7a3"
)
WORDLLAMA_PIECE = re.compile(
    rf"[ ▁]{{0,{_N}}}+(?:[{_LLAMA_LETTER}]{{1,{_N}}}+|[0-9]{{1,3}}+"
    rf"|[^ ▁\n0-9{_LLAMA_LETTER}]{{1,{_N}}}+)|\n{{1,{_N}}}|[ ▁]{{1,{_N}}}"
)
"""Letters, digits or marks, with the spaces before them. No token in the vocabulary has characters
of two of these kinds, a space (▁) after another character, two digits, or a line end next to
another character."""
_MAX_PIECES = 65_536
_LONGEST_PIECE = 64


def blocks(text: str) -> Iterator[str]:
    """The text in parts of bounded size, cut at seams: exact counts with flat memory."""
    start = 0
    while len(text) - start > _BLOCK:
        end = start + _BLOCK
        for seam in SEAM.finditer(text, end - LONGEST_EXACT, end):
            end = seam.start()
        yield text[start:end]
        start = end
    yield text[start:]


class PieceCache(dict[str, tuple[int, ...]]):
    """Numbers for each piece of text, cached for short pieces; memory is bounded (~16 MB).

    A full cache becomes the earlier one, from which pieces that are used again are taken over: a
    large text has many words once, and few often.
    """

    def __init__(self, numbers: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._numbers = numbers
        self._earlier: dict[str, tuple[int, ...]] = {}
        self._distinct: dict[tuple[int, ...], tuple[int, ...]] = {}

    def __missing__(self, piece: str) -> tuple[int, ...]:
        found = self._earlier.get(piece) or self._numbers(piece)
        if len(piece) <= _LONGEST_PIECE:
            if len(self) >= _MAX_PIECES:
                self._earlier = dict(self)
                self.clear()
                self._distinct.clear()
            self[piece] = self._distinct.setdefault(found, found)
        return found

    def concatenate(self, pieces: Iterable[str]) -> list[int]:
        """The numbers of all pieces, one after the other."""
        return list(chain.from_iterable(map(self.__getitem__, pieces)))
