"""The terms of several chunks, with the field of each, as arrays that are read all at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.question import Phrase
from ingest.analysis.terms import SEPARATOR, Terms

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

_FIELD_WEIGHTS: Final = np.array([2.0, 1.5, 1.0, 1.0])
"""Title and path, headings, body, other spellings."""
_BODY: Final = 2
_ORDERED: Final = 3
"""Fields whose terms are in the order of the text."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Terms of several chunks, one after the other."""

    flat: Terms
    starts: Places
    """Place of each chunk's first term; one more at the end."""

    @classmethod
    def of(cls, chunks: Sequence[Terms]) -> "Rows":
        starts = np.zeros(len(chunks) + 1, np.int64)
        np.cumsum([len(terms) for terms in chunks], out=starts[1:])
        return cls(np.concatenate(chunks) if chunks else np.empty(0, np.int32), starts)

    def row_of_terms(self) -> Places:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def sum_of(self, terms: Terms, weights: Sequence[float]) -> Floats:
        """The summed weights of the terms that each chunk has; it has each once at most."""
        order = np.argsort(terms)
        places, term = _find(self.flat, terms[order])
        own = np.asarray(weights, np.float64)[order][term]
        return sums(self.row_of_terms()[places], own, len(self.starts) - 1)


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


def sums(rows: Places, weights: Floats, count: int) -> Floats:
    """The sum of the weights of each row."""
    return np.bincount(rows, weights=weights, minlength=count).astype(np.float64)


class FieldRows:
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
        return sums(at, np.ones(len(at)), self._count)

    def places(self, terms: Terms) -> Places:
        """Where any of the terms is."""
        is_wanted = np.zeros(len(self._terms), np.bool_)
        is_wanted[np.searchsorted(self._terms, terms)] = True
        found: Places = self._places[is_wanted[self._term_at]]
        return found

    def count(self, places: Places) -> Floats:
        """Weighted occurrences per chunk."""
        return sums(self._row[places], _FIELD_WEIGHTS[self._field[places]], self._count)

    def times(self, places: Places) -> NDArray[np.int64]:
        """Occurrences per chunk and field."""
        fields = len(_FIELD_WEIGHTS)
        counted = np.bincount(
            self._row[places] * fields + self._field[places], minlength=self._count * fields
        )
        return counted.reshape(self._count, fields)

    def count_pairs(self, first: Places, second: Places) -> Floats:
        at = self._in_order(first[np.isin(first + 1, second)])
        return sums(self._row[at], np.ones(len(at)), self._count)

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
