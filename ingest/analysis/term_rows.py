"""The terms of several chunks as arrays that are read all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.terms import Terms

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TermRows:
    """Terms of several chunks, one after the other."""

    flat: Terms
    starts: Places
    """Place of each chunk's first term; one more at the end."""

    @classmethod
    def of(cls, chunks: Sequence[Terms]) -> "TermRows":
        flat = np.concatenate(chunks) if chunks else np.empty(0, np.int32)
        return cls.of_lengths(flat, np.array([len(terms) for terms in chunks], np.int64))

    @classmethod
    def of_lengths(cls, flat: Terms, lengths: NDArray[np.integer]) -> "TermRows":
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        return cls(flat, starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Terms:
        return self.flat[self.starts[row] : self.starts[row + 1]]

    def row_of_terms(self) -> Places:
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sum_of(self, terms: Terms, weights: Sequence[float]) -> Floats:
        """The summed weights of the terms that each chunk has; it has each once at most."""
        order = np.argsort(terms)
        places, term = find(self.flat, terms[order])
        own = np.asarray(weights, np.float64)[order][term]
        return sums(self.row_of_terms()[places], own, len(self))


def find(flat: Terms, terms: Terms) -> tuple[Places, Places]:
    """Where any of the sorted terms is in `flat`, and which of them.

    A table of their lower halves leaves few places for the binary search, which is slow.
    """
    table = np.zeros(1 << 16, np.bool_)
    table[terms.view(np.uint32) & 0xFFFF] = True
    [places] = table[np.ascontiguousarray(flat).view(np.uint32) & 0xFFFF].nonzero()
    found = flat[places]
    numbers = np.minimum(terms.searchsorted(found), max(len(terms) - 1, 0))
    is_term = terms[numbers] == found
    return places[is_term], numbers[is_term]


def sums(rows: Places, weights: Floats, count: int) -> Floats:
    """The sum of the weights of each row."""
    return np.bincount(rows, weights=weights, minlength=count).astype(np.float64)
