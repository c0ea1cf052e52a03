"""Ranks chunks by the words that they share with the question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.postgres.database import Connection
from ingest.search.bm25 import Candidates, Statistics, score, whole_weight
from ingest.search.candidates import conditions
from ingest.search.statistics import SearchStatistics, WordStatistics
from ingest.store.search import keyword_search
from ingest.store.search.keyword_search import IndexedChunks
from ingest.store.search.scope import STATEMENT_TIMEOUT, Ranked, SearchScope


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordMatches:
    """What a search by words found, and what else it takes to score other chunks by them."""

    question: KeywordQuestion
    statistics: Statistics
    known: WordStatistics | None = None
    """Of the application; None: nothing was asked."""
    scores: Mapping[UUID, float] = field(default_factory=dict)
    """BM25 of each chunk that was ranked and may be a hit; above 0."""

    def best(self, limit: int) -> list[Ranked]:
        """Best first. Ties are ordered by id, so results are deterministic."""
        order = sorted(self.scores.items(), key=lambda item: (-item[1], item[0]))
        return [Ranked(id=id, score=score) for id, score in order[:limit]]

    @property
    def whole_weight(self) -> float:
        """About the score of a chunk that has each word once."""
        return whole_weight(self.question, self.statistics)

    @property
    def has_conditions(self) -> bool:
        """Whether the question says what each hit must have, or must not have."""
        return bool(self.question.phrases or self.question.excluded)

    def score(self, chunks: IndexedChunks) -> dict[UUID, float]:
        """BM25 of each chunk that may be a hit; 0 without any of the words."""
        found = score(Candidates(chunks.words, chunks.grams), self.question, self.statistics)
        scores = zip(chunks.ids, found.bm25.tolist(), found.is_allowed.tolist(), strict=True)
        return {id: own for id, own, is_allowed in scores if is_allowed}


async def by_words(
    conn: Connection, scope: SearchScope, query: str, statistics: SearchStatistics, *, most: int
) -> WordMatches:
    """The chunks with words of the query, scored by BM25. About `most` chunks are ranked.

    Quotes make a phrase that every hit has, and `-` excludes a word or phrase. Any string is
    accepted. Needs its own transaction.
    """
    await keyword_search.begin(conn, statement_timeout=STATEMENT_TIMEOUT)
    known = await statistics.of_words(conn, scope.application_id)
    question = read_question(query, known.languages)
    sampled = known.sampled_with(question)
    matches = WordMatches(question=question, statistics=known.of(question, sampled), known=known)
    if not question.words:
        return matches
    wanted = conditions(
        question,
        matches.statistics,
        sampled,
        most=most,
        with_grams=known.has_grams,
        among_few=scope.document_ids is not None,
    )
    found = await keyword_search.candidates(conn, scope, wanted, most=most)
    scores = {id: own for id, own in matches.score(found).items() if own > 0}
    return replace(matches, scores=scores)


async def score_others(
    conn: Connection, scope: SearchScope, matches: WordMatches, ids: Sequence[UUID]
) -> dict[UUID, float]:
    """BM25 of these chunks, without those that may not be hits."""
    return matches.score(await keyword_search.terms_of(conn, scope.application_id, ids))
