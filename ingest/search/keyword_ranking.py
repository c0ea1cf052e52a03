"""Ranks chunks by the words that they share with the question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.analysis.term_rows import Floats
from ingest.postgres.database import Connection, Pool, transaction
from ingest.search.bm25 import Candidates, Statistics, score, whole_weight
from ingest.search.candidates import conditions
from ingest.search.field_rows import Flags
from ingest.search.statistics import SearchStatistics, WordStatistics
from ingest.store.search import keyword_search
from ingest.store.search.keyword_search import Ids, IndexedChunks
from ingest.store.search.scope import STATEMENT_TIMEOUT, Ranked, SearchScope


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Chunks that may be hits, with their BM25."""

    ids: Ids = field(default_factory=Ids)
    bm25: Floats = field(default_factory=lambda: np.empty(0))

    def best(self, limit: int) -> list[Ranked]:
        """Those above 0, best first. Ties are ordered by id, so results are deterministic."""
        order = np.lexsort((self.ids.sortable(), -self.bm25))[:limit]
        return [
            Ranked(id=self.ids[place], score=score)
            for place, score in zip(order.tolist(), self.bm25[order].tolist(), strict=True)
            if score > 0
        ]

    def pairs(self) -> Iterator[tuple[UUID, float]]:
        return zip(self.ids, self.bm25.tolist(), strict=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordQuestion:
    """A question to be searched by words, and what it takes to score chunks by them."""

    question: KeywordQuestion
    statistics: Statistics
    known: WordStatistics
    """Of the application."""
    sampled: Flags
    """Which chunks of the sample have each word, of shape (words, chunks)."""

    @classmethod
    def of(cls, query: str, known: WordStatistics) -> "WordQuestion":
        """Quotes make a phrase that every hit has, and `-` excludes a word or phrase.

        Any string is accepted.
        """
        question = read_question(query, known.languages)
        sampled = known.sampled_with(question)
        statistics = known.of(question, sampled)
        return cls(question=question, statistics=statistics, known=known, sampled=sampled)

    @property
    def whole_weight(self) -> float:
        """About the score of a chunk that has each word once."""
        return whole_weight(self.question, self.statistics)

    @property
    def has_conditions(self) -> bool:
        """Whether the question says what each hit must have, or must not have."""
        return bool(self.question.phrases or self.question.excluded)

    def score(self, chunks: IndexedChunks) -> Scored:
        """BM25 of each chunk that may be a hit; 0 without any of the words."""
        found = score(Candidates(chunks.words, chunks.grams), self.question, self.statistics)
        if found.is_allowed.all():
            return Scored(chunks.ids, found.bm25)
        return Scored(chunks.ids.of(found.is_allowed), found.bm25[found.is_allowed])


async def read_words(
    pool: Pool, application_id: UUID, query: str, statistics: SearchStatistics
) -> WordQuestion:
    """Read a question, and what is known of the application's documents."""
    known = statistics.kept_words(application_id)
    if known is None:
        async with transaction(pool) as conn:
            await keyword_search.begin(conn, statement_timeout=STATEMENT_TIMEOUT)
            known = await statistics.of_words(conn, application_id)
    return WordQuestion.of(query, known)


async def by_words(
    conn: Connection, scope: SearchScope, asked: WordQuestion, *, most: int
) -> Scored:
    """The chunks with words of the question, scored by BM25. About `most` chunks are ranked.

    Needs its own transaction.
    """
    await keyword_search.begin(conn, statement_timeout=STATEMENT_TIMEOUT)
    if not asked.question.words:
        return Scored()
    wanted = conditions(
        asked.question,
        asked.statistics,
        asked.sampled,
        most=most,
        with_grams=asked.known.has_grams,
        among_few=scope.document_ids is not None,
    )
    return asked.score(await keyword_search.candidates(conn, scope, wanted, most=most))


async def score_others(
    conn: Connection, scope: SearchScope, asked: WordQuestion, ids: Sequence[UUID]
) -> Scored:
    """BM25 of these chunks, without those that may not be hits."""
    return asked.score(await keyword_search.terms_of(conn, scope.application_id, ids))
