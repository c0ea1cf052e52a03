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

MINILM_PIECE = re.compile(
    rf"[{_SPACE}]{{0,{_N}}}+(?:[{_HAN}]|[^{_SPACE}{_HAN}]{{1,{_N}}})|[{_SPACE}]{{1,{_N}}}"
)
"""A word and the white space before it; the model reads each Chinese character as a word."""

WORDLLAMA_PIECE = re.compile(rf"[ ▁]{{0,{_N}}}+[^ ▁\n]{{1,{_N}}}|\n{{1,{_N}}}|[ ▁]{{1,{_N}}}")
"""A word and the spaces before it. No token in the vocabulary has a space (▁) after another
character, or a line end next to one."""
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
    """Numbers for each piece of text, cached for short pieces; memory is bounded (~16 MB)."""

    def __init__(self, numbers: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, piece: str) -> tuple[int, ...]:
        found = self._numbers(piece)
        if len(piece) <= _LONGEST_PIECE:
            if len(self) >= _MAX_PIECES:
                self.clear()
            self[piece] = found
        return found

    def concatenate(self, pieces: Iterable[str]) -> list[int]:
        """The numbers of all pieces, one after the other."""
        return list(chain.from_iterable(map(self.__getitem__, pieces)))
