"""WordPiece for plain ASCII: same tokens as the `tokenizers` library, faster on random strings.

The library tries every length from the word's end down: 5 MB of hexadecimal digits take half a
minute. We start at the length of the longest entry with the same first two characters.
"""

import re
from collections.abc import Iterable, Mapping

from ingest.tokens.vocabularies import MINILM_LONGEST_WORD

_PIECE = re.compile(r"[\t\n\r ]*[!-~]+")
_WORD = re.compile(rf"[A-Za-z0-9]{{1,{MINILM_LONGEST_WORD}}}|[!-/:-@\[-`{{-~]")


class AsciiWordPiece:
    """Greedy longest match on lower-cased words; the vocabulary has every ASCII character."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._first = _Entries(entry for entry in vocabulary if not entry.startswith("##"))
        self._later = _Entries(entry[2:] for entry in vocabulary if entry.startswith("##"))

    def accepts(self, piece: str) -> bool:
        """Whether the piece is optional white space followed by printable ASCII only."""
        return _PIECE.fullmatch(piece) is not None

    def starts(self, piece: str) -> list[int]:
        """Where the tokens of an accepted piece start."""
        found: list[int] = []
        lower = piece.lower()
        for word in _WORD.finditer(lower):
            entries, start, end = self._first, word.start(), word.end()
            while start < end:
                found.append(start)
                start = entries.end_of_longest(lower, start, end)
                entries = self._later
        return found


class _Entries:
    def __init__(self, entries: Iterable[str]) -> None:
        self._known = set(entries)
        self._longest: dict[str, int] = {}
        """Length of the longest entry, by its first two characters."""
        for entry in self._known:
            self._longest[entry[:2]] = max(self._longest.get(entry[:2], 1), len(entry))

    def end_of_longest(self, text: str, start: int, end: int) -> int:
        """Where the longest entry at `start` ends; a single character always matches."""
        longest = self._longest.get(text[start : start + 2], 1)
        for stop in range(min(end, start + longest), start + 1, -1):
            if text[start:stop] in self._known:
                return stop
        return start + 1
