"""Whether two chunks say the same about a query.

Mails that share a footer, packages that share a licence and pages that share a banner flood a
search that matches what they share. Such chunks count as the same when they share half of their
words, and the sentence that answers the query best. So a template with another value in that
sentence stays a hit of its own.
"""

from functools import cached_property
from typing import Final

from ingest.search.matched_text import MatchedText

_SHARED: Final = 0.5
_NEARLY_EQUAL: Final = 0.9
_FEWEST_WORDS: Final = 12
"""Shorter texts are the same only if they are equal."""


class ComparedText:
    """A text with what comparisons need, computed once."""

    def __init__(self, text: str, query: MatchedText) -> None:
        self._text = text
        self._query = query

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self._text.split())

    def is_same(self, other: "ComparedText") -> bool:
        mine, others = self._words, other._words
        if mine == others and self.normalised == other.normalised:
            return True
        fewer, more = min(len(mine), len(others)), max(len(mine), len(others))
        if fewer < _FEWEST_WORDS or fewer < _SHARED * more:
            return False
        if len(mine & others) < _SHARED * fewer:
            return False
        if self.best_sentence or other.best_sentence:
            return self.best_sentence == other.best_sentence
        return self.similarity(other) >= _NEARLY_EQUAL and not any(map(_has_digit, mine ^ others))

    def similarity(self, other: "ComparedText") -> float:
        """The share of common words, from 0 to 1."""
        common = len(self._words & other._words)
        every = len(self._words) + len(other._words) - common
        return common / every if every else 1.0

    @cached_property
    def normalised(self) -> str:
        return " ".join(self._text.split())

    @cached_property
    def best_sentence(self) -> str:
        """The one that answers the query best; empty if none has a word of it."""
        return self._query.best_sentence(self._text)


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
