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
from numpy.typing import NDArray

from ingest.analysis.question import KeywordQuestion, Phrase
from ingest.analysis.terms import SEPARATOR, Terms

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

_K1: Final = 1.5
_B: Final = 0.75
_FIELD_WEIGHTS: Final = np.array([2.0, 1.5, 1.0, 1.0])
"""Title and path, headings, body, other spellings."""
_BODY: Final = 2
_ORDERED: Final = 3
"""Fields whose terms are in the order of the text."""
_PAIR: Final = 0.2
"""Weight of a pair, relative to the sum of its words."""
_NONE: Final = np.empty(0, np.int32)
_GRAM: Final = 0.5
"""Weight of a gram, relative to a word as rare."""
_MOST_BY_GRAMS: Final = 3.0
"""What all grams of a word count at most, relative to the word itself. Otherwise the chunks of
languages that have grams would win over those that have none."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Terms of several chunks, one after the other."""

    flat: Terms
    starts: NDArray[np.int64]
    """Place of each chunk's first term; one more at the end."""

    @classmethod
    def of(cls, chunks: Sequence[Terms]) -> "Rows":
        starts = np.zeros(len(chunks) + 1, np.int64)
        np.cumsum([len(terms) for terms in chunks], out=starts[1:])
        return cls(np.concatenate(chunks) if chunks else np.empty(0, np.int32), starts)

    def row_of_terms(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def sum_of(self, terms: Terms, weights: Sequence[float]) -> Floats:
        """The summed weights of the terms that each chunk has; it has each once at most."""
        order = np.argsort(terms)
        places, term = _find(self.flat, terms[order])
        own = np.asarray(weights, np.float64)[order][term]
        return _sums(self.row_of_terms()[places], own, len(self.starts) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Chunks to rank."""

    words: Rows
    """Title, headings, body, other spellings, with separators between them."""
    grams: Rows


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
    phrases = [phrase for group in question.phrases for phrase in group]
    asked = (*question.words, *(word for one in (*phrases, *question.excluded) for word in one))
    rows = _FieldRows(candidates.words, np.concatenate([_NONE, *(word.terms for word in asked)]))
    norm = _K1 * (1 - _B + _B * rows.lengths() / statistics.usual_length)
    total = np.zeros(len(norm))
    places = [rows.places(word.terms) for word in question.words]
    weights = _weights(question, statistics)
    once = _saturated(np.ones(len(norm)), norm)
    for number, word in enumerate(question.words):
        times = rows.count(places[number])
        own = weights[number] * _saturated(times, norm)
        if statistics.grams_found[number]:
            idfs = [_idf(statistics.chunks, found) for found in statistics.grams_found[number]]
            # The word itself has all its grams, also in a chunk of a language without any.
            shared = np.where(times > 0, sum(idfs), candidates.grams.sum_of(word.grams, idfs))
            own += once * np.minimum(_GRAM * word.weight * shared, _MOST_BY_GRAMS * weights[number])
        total += own
    for first, second in question.pairs:
        times = rows.count_pairs(places[first], places[second])
        total += _PAIR * (weights[first] + weights[second]) * _saturated(times, norm)
    allowed = np.ones(len(norm), np.bool_)
    for group in question.phrases:
        allowed &= np.logical_or.reduce([rows.have(phrase) for phrase in group])
    for phrase in question.excluded:
        allowed &= ~rows.have(phrase)
    return Scores(total, allowed)


def usual_length(words: Rows) -> float:
    """Mean words of the chunks' texts, at least 1."""
    return (
        max(1.0, float(np.mean(_FieldRows(words, _NONE).lengths())))
        if len(words.starts) > 1
        else 1.0
    )


def whole_weight(question: KeywordQuestion, statistics: Statistics) -> float:
    """About the score of a chunk of usual length that has each word once."""
    return sum(_weights(question, statistics))


def _weights(question: KeywordQuestion, statistics: Statistics) -> list[float]:
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


def _find(flat: Terms, terms: Terms) -> tuple[Places, Places]:
    """Where any of the sorted terms is in `flat`, and which of them.

    A table of their lower halves leaves few places for the binary search, which is slow.
    """
    table = np.zeros(1 << 16, np.bool_)
    table[terms.view(np.uint32) & 0xFFFF] = True
    places = np.flatnonzero(table[np.ascontiguousarray(flat).view(np.uint32) & 0xFFFF])
    numbers = np.minimum(np.searchsorted(terms, flat[places]), max(len(terms) - 1, 0))
    is_term = terms[numbers] == flat[places]
    return places[is_term], numbers[is_term]


def _sums(rows: NDArray[np.int64], weights: Floats, count: int) -> Floats:
    """The sum of the weights of each row."""
    return np.bincount(rows, weights=weights, minlength=count).astype(np.float64)


class _FieldRows:
    """The words of the candidates, with the field of each. Only those of the question are read one
    by one: they are few."""

    def __init__(self, rows: Rows, terms: Terms) -> None:
        """`terms`: all that are asked for later."""
        self._flat = rows.flat
        self._row = rows.row_of_terms()
        self._count = len(rows.starts) - 1
        separators = rows.flat == SEPARATOR
        before = np.concatenate([[0], np.cumsum(separators)])
        self._field = np.minimum(before[:-1] - before[rows.starts[:-1]][self._row], 3)
        self._terms = np.unique(terms)
        self._places, self._term_at = _find(rows.flat, self._terms)

    def lengths(self) -> Floats:
        """Words of each chunk's text."""
        at = self._row[(self._field == _BODY) & (self._flat != SEPARATOR)]
        return _sums(at, np.ones(len(at)), self._count)

    def places(self, terms: Terms) -> Places:
        """Where any of the terms is."""
        is_wanted = np.zeros(len(self._terms), np.bool_)
        is_wanted[np.searchsorted(self._terms, terms)] = True
        found: Places = self._places[is_wanted[self._term_at]]
        return found

    def count(self, places: Places) -> Floats:
        """Weighted occurrences per chunk."""
        return _sums(self._row[places], _FIELD_WEIGHTS[self._field[places]], self._count)

    def count_pairs(self, first: Places, second: Places) -> Floats:
        at = self._in_order(first[np.isin(first + 1, second)])
        return _sums(self._row[at], np.ones(len(at)), self._count)

    def have(self, phrase: Phrase) -> Flags:
        """Whether each chunk has the words one after the other; a single one, anywhere."""
        at = self.places(phrase[0].terms)
        if len(phrase) > 1:
            at = self._in_order(at)
        for step, word in enumerate(phrase[1:], start=1):
            at = at[np.isin(at + step, self.places(word.terms))]
        has = np.zeros(self._count, np.bool_)
        has[self._row[at]] = True
        return has

    def _in_order(self, places: Places) -> Places:
        """Those in fields with an order. A separator ends each of these, so what follows such a
        place is in the same field of the same chunk."""
        found: Places = places[self._field[places] < _ORDERED]
        return found
