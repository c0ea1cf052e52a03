"""Per-process cache of search statistics. Stale values cost time or rank, but never a hit."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.question import KeywordQuestion
from ingest.analysis.terms import Terms
from ingest.postgres.database import Connection
from ingest.search.bm25 import Statistics, usual_length
from ingest.search.term_rows import Rows
from ingest.store.search import keyword_search

_SAMPLE: Final = 1500
"""Chunks whose words are counted."""
_KEPT_SECONDS: Final = 30.0
# Below this size the sample is read for each search: it takes a millisecond, and new documents
# change the statistics of few chunks most.
_KEPT_FROM: Final = 300
_MOST_APPLICATIONS: Final = 200
_MOST_LARGE: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """How many chunks of the sample have each term."""

    terms: Terms
    """Sorted."""
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, chunks: Sequence[Terms]) -> "_Counts":
        if not chunks:
            return cls(np.empty(0, np.int32), np.empty(0, np.int64))
        terms = np.concatenate([np.unique(one) for one in chunks])
        return cls(*np.unique(terms, return_counts=True))

    def __getitem__(self, term: int) -> int:
        at = int(np.searchsorted(self.terms, term))
        return int(self.counts[at]) if at < len(self.terms) and self.terms[at] == term else 0


@dataclass(frozen=True, slots=True, eq=False)
class WordStatistics:
    """What the ranking knows of an application's chunks, from a random sample of them."""

    chunks: float
    """Estimate of their number; exact if they are fewer than the sample."""
    usual_length: float
    """Mean words of a chunk's text."""
    languages: Sequence[str]
    """Of its documents."""
    sampled: int
    """Chunks whose words were counted."""
    _words: _Counts
    _grams: _Counts

    @property
    def has_grams(self) -> bool:
        """Whether any chunk of the sample has grams."""
        return len(self._grams.terms) > 0

    @property
    def is_exact(self) -> bool:
        return self.chunks <= self.sampled

    def of(self, question: KeywordQuestion) -> Statistics:
        return Statistics(
            chunks=self.chunks,
            usual_length=self.usual_length,
            found=[self._estimate(self._words, word.terms) for word in question.words],
            grams_found=[
                [self._estimate(self._grams, [gram]) for gram in word.grams if self.has_grams]
                for word in question.words
            ],
        )

    def _estimate(self, counts: _Counts, terms: Sequence[int] | Terms) -> float:
        """The number of chunks with any of the terms; not in the sample: half of what a chunk of
        it stands for."""
        found = sum(counts[term] for term in terms)
        if self.is_exact:
            return found
        return (found or 0.5) * self.chunks / self.sampled


@dataclass(slots=True)
class SearchStatistics:
    """Shared by all searches of a process."""

    clock: Callable[[], float] = time.monotonic
    _words: "OrderedDict[UUID, tuple[float, WordStatistics]]" = field(default_factory=OrderedDict)
    _large: set[tuple[UUID, int]] = field(default_factory=set)

    async def of_words(self, conn: Connection, application_id: UUID) -> WordStatistics:
        kept = self._words.get(application_id)
        if kept is not None and self.clock() - kept[0] < _KEPT_SECONDS:
            self._words.move_to_end(application_id)
            return kept[1]
        found = await _read(conn, application_id)
        if found.chunks >= _KEPT_FROM:
            self._words[application_id] = self.clock(), found
            self._words.move_to_end(application_id)
            if len(self._words) > _MOST_APPLICATIONS:
                self._words.popitem(last=False)
        return found

    def is_large(self, application_id: UUID, model_id: int) -> bool:
        """Whether the last search found so many vectors that the index is faster."""
        return (application_id, model_id) in self._large

    def note(self, application_id: UUID, model_id: int, *, is_large: bool) -> None:
        if not is_large:
            self._large.discard((application_id, model_id))
            return
        if len(self._large) >= _MOST_LARGE:
            self._large.clear()
        self._large.add((application_id, model_id))


async def _read(conn: Connection, application_id: UUID) -> WordStatistics:
    sample = await keyword_search.sample(conn, application_id, limit=_SAMPLE)
    chunks = sample.chunks
    number = float(len(chunks))
    if len(chunks) == _SAMPLE:
        # The random numbers are even: as many below the highest as the sample has.
        number = max(number, (number - 1) * 2**31 / max(sample.highest, 1))
    return WordStatistics(
        chunks=number,
        usual_length=usual_length(Rows.of([chunk.words for chunk in chunks])),
        languages=await keyword_search.languages(conn, application_id),
        sampled=len(chunks),
        _words=_Counts.of([chunk.words for chunk in chunks]),
        _grams=_Counts.of([chunk.grams for chunk in chunks]),
    )
