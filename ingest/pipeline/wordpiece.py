"""WordPiece for plain ASCII: same tokens as the `tokenizers` library, faster on words of no sense.

The library tries every length from the word's end down, so that 5 MB of hexadecimal digits take it
half a minute. No entry of the vocabulary has more than some 18 characters: trying those is enough.
"""

import re
from collections.abc import Mapping

from ingest.vocabulary.load import MINILM_LONGEST_WORD

_PIECE = re.compile(r"[\t\n\r ]*[!-~]+")
_WORD = re.compile(rf"[A-Za-z0-9]{{1,{MINILM_LONGEST_WORD}}}|[!-/:-@\[-`{{-~]")


class AsciiWordPiece:
    """Greedy longest match of lower-cased words; every ASCII character is in the vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._first = {entry for entry in vocabulary if not entry.startswith("##")}
        self._later = {entry[2:] for entry in vocabulary if entry.startswith("##")}
        self._longest = max(map(len, self._first | self._later))

    def accepts(self, piece: str) -> bool:
        """Whether the piece is white space and printable ASCII behind it, nothing else."""
        return _PIECE.fullmatch(piece) is not None

    def starts(self, piece: str) -> list[int]:
        """Where in an accepted piece its tokens start."""
        found: list[int] = []
        lower = piece.lower()
        for word in _WORD.finditer(lower):
            known, start, end = self._first, word.start(), word.end()
            while start < end:
                found.append(start)
                start = self._longest_match(lower, start, end, known)
                known = self._later
        return found

    def _longest_match(self, text: str, start: int, end: int, known: set[str]) -> int:
        for stop in range(min(end, start + self._longest), start + 1, -1):
            if text[start:stop] in known:
                return stop
        return start + 1
