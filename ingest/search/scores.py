"""Chunks that a search ranked, with the scores of each half."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ingest.store.search.scope import Ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    id: UUID
    score: float
    cosine: float | None = None
    bm25: float | None = None
    vector_rank: int | None = None
    """From 1; None: this half did not find it."""
    keyword_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScore:
    """The least scores of a hit; a score that a chunk does not have is below any."""

    cosine: float | None = None
    bm25: float | None = None
    rerank: float | None = None

    def passes(self, candidate: Candidate) -> bool:
        return _reaches(candidate.cosine, self.cosine) and _reaches(candidate.bm25, self.bm25)

    def passes_rerank(self, score: float | None) -> bool:
        return _reaches(score, self.rerank)


def _reaches(score: float | None, least: float | None) -> bool:
    return least is None or (score is not None and score >= least)


def candidates(
    order: Sequence[Ranked],
    *,
    near: Sequence[Ranked] = (),
    words: Sequence[Ranked] = (),
    cosines: Mapping[UUID, float] | None = None,
    bm25: Mapping[UUID, float] | None = None,
) -> list[Candidate]:
    """The chunks in `order`, with their places in the rankings by meaning and by words.

    Scores are those of the rankings, unless given. A BM25 of 0 counts as none.
    """
    cosines = _scores(near) if cosines is None else cosines
    bm25 = _scores(words) if bm25 is None else bm25
    by_meaning, by_words = _places(near), _places(words)
    return [
        Candidate(
            id=hit.id,
            score=hit.score,
            cosine=cosines.get(hit.id),
            bm25=bm25.get(hit.id) or None,
            vector_rank=by_meaning.get(hit.id),
            keyword_rank=by_words.get(hit.id),
        )
        for hit in order
    ]


def _scores(ranking: Sequence[Ranked]) -> dict[UUID, float]:
    return {hit.id: hit.score for hit in ranking}


def _places(ranking: Sequence[Ranked]) -> dict[UUID, int]:
    return {hit.id: place for place, hit in enumerate(ranking, start=1)}
