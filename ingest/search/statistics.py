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
from ingest.analysis.term_rows import TermRows
from ingest.analysis.terms import Terms
from ingest.postgres.database import Connection
from ingest.search.bm25 import Statistics, usual_length
from ingest.search.field_rows import Flags
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
class _Postings:
    """Which chunks of the sample have each term."""

    terms: Terms
    """Sorted."""
    starts: NDArray[np.int32]
    """Of each term's chunks; one more at the end."""
    chunks: NDArray[np.uint16]
    count: int
    """Of the sample."""

    @classmethod
    def of(cls, rows: TermRows) -> "_Postings":
        # Sorted by term, then by chunk: each pair once.
        pairs = np.unique(rows.flat.astype(np.int64) << 16 | rows.row_of_terms())
        terms, starts = np.unique(pairs >> 16, return_index=True)
        starts = np.append(starts, len(pairs)).astype(np.int32)
        chunks = (pairs & 0xFFFF).astype(np.uint16)
        return cls(terms.astype(np.int32), starts, chunks, len(rows))

    def having(self, terms: Terms) -> Flags:
        """Which chunks have any of the terms."""
        found = np.zeros(self.count, np.bool_)
        for at, term in zip(
            np.searchsorted(self.terms, terms).tolist(), terms.tolist(), strict=True
        ):
            if at < len(self.terms) and self.terms[at] == term:
                found[self.chunks[self.starts[at] : self.starts[at + 1]]] = True
        return found


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
    _words: _Postings
    _grams: _Postings

    @property
    def has_grams(self) -> bool:
        """Whether any chunk of the sample has grams."""
        return len(self._grams.terms) > 0

    @property
    def is_exact(self) -> bool:
        return self.chunks <= self.sampled

    def sampled_with(self, question: KeywordQuestion) -> Flags:
        """Which chunks of the sample have each word, of shape (words, chunks)."""
        having = [self._words.having(word.terms) for word in question.words]
        return np.array(having, np.bool_).reshape(len(having), self.sampled)

    def of(self, question: KeywordQuestion, sampled: Flags | None = None) -> Statistics:
        """`sampled`: as `sampled_with` gives, if it was asked already."""
        sampled = self.sampled_with(question) if sampled is None else sampled
        return Statistics(
            chunks=self.chunks,
            usual_length=self.usual_length,
            found=[self._estimate(flags) for flags in sampled],
            grams_found=[
                [self._estimate(self._grams.having(word.grams[at : at + 1]))
                 for at in range(len(word.grams)) if self.has_grams]
                for word in question.words
            ],
        )  # fmt: skip

    def _estimate(self, having: Flags) -> float:
        """The number of chunks like these of the sample; for none: half of what one of it stands
        for."""
        found = int(np.count_nonzero(having))
        if self.is_exact:
            return found
        return (found or 0.5) * self.chunks / self.sampled


@dataclass(slots=True)
class SearchStatistics:
    """Shared by all searches of a process."""

    clock: Callable[[], float] = time.monotonic
    _words: "OrderedDict[UUID, tuple[float, WordStatistics]]" = field(default_factory=OrderedDict)
    _large: set[tuple[UUID, int]] = field(default_factory=set)

    def kept_words(self, application_id: UUID) -> WordStatistics | None:
        """If they were read a short time ago."""
        kept = self._words.get(application_id)
        if kept is None or self.clock() - kept[0] >= _KEPT_SECONDS:
            return None
        self._words.move_to_end(application_id)
        return kept[1]

    async def of_words(self, conn: Connection, application_id: UUID) -> WordStatistics:
        if (kept := self.kept_words(application_id)) is not None:
            return kept
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
    number = float(len(sample.chunks.ids))
    if number == _SAMPLE:
        # The random numbers are even: as many below the highest as the sample has.
        number = max(number, (number - 1) * 2**31 / max(sample.highest, 1))
    return WordStatistics(
        chunks=number,
        usual_length=usual_length(sample.chunks.words),
        languages=await keyword_search.languages(conn, application_id),
        sampled=len(sample.chunks.ids),
        _words=_Postings.of(sample.chunks.words),
        _grams=_Postings.of(sample.chunks.grams),
    )
