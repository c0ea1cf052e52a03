"""BM25 over candidates, with fields: title, headings, body.

The score of a chunk is the sum over the words of the question of

    idf · n (k1 + 1) / (n + k1 (1 - b + b · length / usual length))

where n counts the word in the chunk, more in titles and headings than in the body. Words that
follow each other in the question and in the chunk count as one more, lighter word. So do runs of
four letters ("grams"), by which a word is found in compounds and other inflections.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.analysis.question import KeywordQuestion
from ingest.analysis.term_rows import Floats, TermRows
from ingest.search.field_rows import FieldRows, Flags

_K1: Final = 1.5
_B: Final = 0.75
_PAIR: Final = 0.2
"""Weight of a pair, relative to the sum of its words."""
_NONE: Final = np.empty(0, np.int32)
_GRAM: Final = 0.5
"""Weight of a gram, relative to a word as rare."""
_MOST_BY_GRAMS: Final = 3.0
"""What all grams of a word count at most, relative to the word itself. Otherwise the chunks of
languages that have grams would win over those that have none."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Chunks to rank."""

    words: TermRows
    """Title, headings, body, other spellings, with separators between them."""
    grams: TermRows


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of the application's documents."""

    chunks: float
    usual_length: float
    """Mean words of a chunk's text."""
    found: Sequence[float]
    """Chunks with each word of the question."""
    grams_found: Sequence[Sequence[float]]
    """Chunks with each gram of each word; none of any word if no chunk has grams."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    bm25: Floats
    """Above 0 for a chunk with any of the words."""
    is_allowed: Flags
    """Whether the chunk has every quoted phrase and nothing excluded."""


def score(candidates: Candidates, question: KeywordQuestion, statistics: Statistics) -> Scores:
    """Score each candidate."""
    formula = Formula(candidates, question, statistics)
    total = np.zeros(formula.size)
    for number in range(len(question.words)):
        own, by_grams = formula.of_word(number)
        total += own
        if by_grams is not None:
            total += by_grams
    for pair in question.pairs:
        total += formula.of_pair(pair)
    return Scores(total, formula.is_allowed())


class Formula:
    """The summands of the score, each for all candidates."""

    def __init__(
        self, candidates: Candidates, question: KeywordQuestion, statistics: Statistics
    ) -> None:
        phrases = [phrase for group in question.phrases for phrase in group]
        asked = (*question.words, *(w for one in (*phrases, *question.excluded) for w in one))
        terms = np.concatenate([_NONE, *(word.terms for word in asked)])
        self._question = question
        self._statistics = statistics
        self._grams = candidates.grams
        self.rows = FieldRows(candidates.words, terms)
        self.places = [self.rows.places(word.terms) for word in question.words]
        """Where each word is in `rows`."""
        self.weights = word_weights(question, statistics)
        self._norm = _K1 * (1 - _B + _B * self.rows.lengths() / statistics.usual_length)
        self.size = len(self._norm)
        self._once = _saturated(np.ones(self.size), self._norm)

    def of_word(self, number: int) -> tuple[Floats, Floats | None]:
        """By the word itself, and by its grams; None if no chunk has grams."""
        times = self.rows.count(self.places[number])
        own = self.weights[number] * _saturated(times, self._norm)
        found = self._statistics.grams_found[number]
        if not found:
            return own, None
        idfs = [_idf(self._statistics.chunks, one) for one in found]
        word, most = self._question.words[number], _MOST_BY_GRAMS * self.weights[number]
        # The word itself has all its grams, also in a chunk of a language without any.
        shared = np.where(times > 0, sum(idfs), self._grams.sum_of(word.grams, idfs))
        return own, self._once * np.minimum(_GRAM * word.weight * shared, most)

    def of_pair(self, pair: tuple[int, int]) -> Floats:
        first, second = pair
        times = self.rows.count_pairs(self.places[first], self.places[second])
        return _PAIR * (self.weights[first] + self.weights[second]) * _saturated(times, self._norm)

    def is_allowed(self) -> Flags:
        allowed = np.ones(self.size, np.bool_)
        for group in self._question.phrases:
            allowed &= np.logical_or.reduce([self.rows.have(phrase) for phrase in group])
        for phrase in self._question.excluded:
            allowed &= ~self.rows.have(phrase)
        return allowed


def usual_length(words: TermRows) -> float:
    """Mean words of the chunks' texts, at least 1."""
    return max(1.0, float(np.mean(FieldRows(words, _NONE).lengths()))) if len(words) else 1.0


def whole_weight(question: KeywordQuestion, statistics: Statistics) -> float:
    """About the score of a chunk of usual length that has each word once."""
    return sum(word_weights(question, statistics))


def word_weights(question: KeywordQuestion, statistics: Statistics) -> list[float]:
    """What each word of the question counts."""
    return [
        word.weight * _idf(statistics.chunks, found)
        for word, found in zip(question.words, statistics.found, strict=True)
    ]


def _idf(chunks: float, found: float) -> float:
    """Weight of a word that `found` of `chunks` chunks have."""
    found = min(found, chunks)
    return math.log(1 + (chunks - found + 0.5) / (found + 0.5))


def _saturated(times: Floats, norm: Floats) -> Floats:
    saturated: Floats = times * (_K1 + 1) / (times + norm)
    return saturated
