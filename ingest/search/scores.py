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
    order: Sequence[Ranked], *, near: Sequence[Ranked] = (), words: Sequence[Ranked] = ()
) -> list[Candidate]:
    """The chunks in `order`, with their scores in the rankings by meaning and by words."""
    by_meaning, by_words = _places(near), _places(words)
    nothing = (None, None)
    found = []
    for hit in order:
        vector_rank, cosine = by_meaning.get(hit.id, nothing)
        keyword_rank, bm25 = by_words.get(hit.id, nothing)
        found.append(
            Candidate(
                id=hit.id,
                score=hit.score,
                cosine=cosine,
                bm25=bm25,
                vector_rank=vector_rank,
                keyword_rank=keyword_rank,
            )
        )
    return found


def _places(ranking: Sequence[Ranked]) -> Mapping[UUID, tuple[int, float]]:
    return {hit.id: (place, hit.score) for place, hit in enumerate(ranking, start=1)}
