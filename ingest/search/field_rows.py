"""In which field of its chunk each word of a question is: title and path, headings, body."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.question import Phrase
from ingest.analysis.term_rows import Floats, Places, TermRows, find, sums
from ingest.analysis.terms import SEPARATOR, Terms

Flags = NDArray[np.bool_]

_FIELD_WEIGHTS: Final = np.array([2.0, 1.5, 1.0, 1.0])
"""Title and path, headings, body, other spellings."""
_BODY: Final = 2
_SPELLINGS: Final = 3
"""Only the fields before it have their terms in the order of the text."""


class FieldRows:
    """The words of the candidates, with the field of each. Only those of the question are read one
    by one: they are few."""

    def __init__(self, rows: TermRows, terms: Terms) -> None:
        """`terms`: all that are asked for later."""
        starts, self._ends = rows.starts[:-1], rows.starts[1:]
        self._count = len(rows)
        self._separators = (rows.flat == SEPARATOR).nonzero()[0]
        self._first_separators = self._separators.searchsorted(starts)
        self._terms = np.unique(terms)
        self._places, self._term_at = find(rows.flat, self._terms)
        self._rows = starts.searchsorted(self._places, side="right") - 1
        before = self._separators.searchsorted(self._places)
        self._fields = np.minimum(before - self._first_separators[self._rows], _SPELLINGS)

    def lengths(self) -> Floats:
        """Words of each chunk's text."""
        # One more, so that each chunk has a next one.
        separators = np.append(self._separators, self._ends[-1:])
        last = len(separators) - 1
        start, end = (
            np.minimum(separators[np.minimum(self._first_separators + field, last)], self._ends)
            for field in (_BODY - 1, _BODY)
        )
        words: Floats = np.maximum(end - start - 1, 0).astype(np.float64)
        return words

    def places(self, terms: Terms) -> Places:
        """Where any of the terms is: places in this list of the terms asked for."""
        is_wanted = np.zeros(len(self._terms), np.bool_)
        is_wanted[self._terms.searchsorted(terms)] = True
        return is_wanted[self._term_at].nonzero()[0]

    def count(self, places: Places) -> Floats:
        """Weighted occurrences per chunk."""
        return sums(self._rows[places], _FIELD_WEIGHTS[self._fields[places]], self._count)

    def times(self, places: Places) -> NDArray[np.int64]:
        """Occurrences per chunk and field."""
        fields = len(_FIELD_WEIGHTS)
        counted = np.bincount(
            self._rows[places] * fields + self._fields[places], minlength=self._count * fields
        )
        return counted.reshape(self._count, fields)

    def count_pairs(self, first: Places, second: Places) -> Floats:
        at = self._followed(self._in_order(first), 1, second)
        return sums(self._rows[at], np.ones(len(at)), self._count)

    def have(self, phrase: Phrase) -> Flags:
        """Whether each chunk has the words one after the other; a single one, anywhere."""
        at = self.places(phrase[0].terms)
        if len(phrase) > 1:
            at = self._in_order(at)
        for step, word in enumerate(phrase[1:], start=1):
            at = self._followed(at, step, self.places(word.terms))
        has = np.zeros(self._count, np.bool_)
        has[self._rows[at]] = True
        return has

    def _in_order(self, places: Places) -> Places:
        """Those in fields with an order. A separator ends each of these, so what follows such a
        place is in the same field of the same chunk."""
        found: Places = places[self._fields[places] < _SPELLINGS]
        return found

    def _followed(self, places: Places, step: int, others: Places) -> Places:
        """Those with one of the others so many terms after them."""
        if not len(others):
            return others
        wanted, later = self._places[places] + step, self._places[others]
        at = np.minimum(later.searchsorted(wanted), len(later) - 1)
        found: Places = places[later[at] == wanted]
        return found
