"""Token positions of a text, and exact token counts of its parts."""

import re

import numpy as np

from ingest.chunking.structure import Position
from ingest.tokens.pieces import LONGEST_EXACT, SEAM
from ingest.tokens.tokenizers import Tokenizer

_NOT_SPACE = re.compile(r"\S")


class TokenMap:
    """A text, tokenised once."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self._tokenizer = tokenizer
        # int64 like Python's ints: searching an int32 array for one would convert the array.
        self._starts = np.append(tokenizer.spans(text)[:, 0].astype(np.int64), len(text))

    def at(self, position: Position) -> int:
        """Index of the first token that covers the position, or of the last before it."""
        token = int(self._starts.searchsorted(position))
        if token == len(self._starts) or self._starts[token] > position:
            token -= 1
        return max(token, 0)

    def start(self, token: int) -> Position:
        """Where a token starts; an index out of range means the nearest token."""
        return int(self._starts[min(max(token, 0), len(self._starts) - 1)])

    def between(self, start: Position, end: Position) -> int:
        """Tokens of the range within the text; counted alone it can differ by a few."""
        return self.at(end) - self.at(start)

    def count(self, start: Position, end: Position, *, prefix: str = "") -> int:
        """The exact token count of `prefix` followed by the range.

        Only the two ends of the range are tokenised: text between two seams has the same tokens
        whatever surrounds it.
        """
        text = self._text
        first = SEAM.search(text, start, end)
        if first is None or len(prefix) + end - start > LONGEST_EXACT:
            return self._tokenizer.count(prefix + text[start:end])
        last = self._last_seam(first.start(), end)
        inside = self._starts.searchsorted([first.start(), last])
        ends = prefix + text[start : first.start()] + text[last:end]
        return self._tokenizer.count(ends) + int(inside[1] - inside[0])

    def skip_space(self, position: Position) -> Position:
        """The first non-space character at or after `position`, or the end of the text."""
        match = _NOT_SPACE.search(self._text, position)
        return match.start() if match else len(self._text)

    def strip(self, start: Position, end: Position) -> Position:
        """The end of the range without trailing white space."""
        return start + len(self._text[start:end].rstrip())

    def _last_seam(self, first: Position, end: Position) -> Position:
        text = self._text
        space = end
        while (space := text.rfind(" ", first, space)) > first:
            if text[space - 1].isalnum():
                return space
        return first
