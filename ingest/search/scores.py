"""Chunks that a search ranked, with the scores of each half."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from ingest.store.search.scope import Ranked


@dataclass(slots=True, kw_only=True)
class Candidate:
    """Not frozen: a search makes a hundred, which would take twice as long."""

    id: UUID
    score: float = 0.0
    cosine: float | None = None
    bm25: float | None = None
    """None also if it has none of the words."""
    vector_rank: int | None = None
    """From 1; None: this half did not find it."""
    keyword_rank: int | None = None


class Half(NamedTuple):
    """What one half of a search found. Each chunk is scored by both: one that only one half finds
    is not worse for that."""

    ranking: Sequence[Ranked]
    other_scores: Iterable[tuple[UUID, float]] = ()
    """By the other half, of the chunks that may be hits."""


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


def by_meaning_alone(near: Sequence[Ranked]) -> list[Candidate]:
    return [
        Candidate(id=hit.id, score=hit.score, cosine=hit.score, vector_rank=place)
        for place, hit in enumerate(near, start=1)
    ]


def by_words_alone(found: Sequence[Ranked]) -> list[Candidate]:
    return [
        Candidate(id=hit.id, score=hit.score, bm25=hit.score, keyword_rank=place)
        for place, hit in enumerate(found, start=1)
    ]


def joined(by_vectors: Half, by_terms: Half, *, needs_words: bool) -> list[Candidate]:
    """The chunks of both halves, each once, to be scored by both.

    `needs_words`: without those that do not meet the conditions of the words. Ids are looked up as
    seldom as possible: to hash them took longer than all else.
    """
    found = {one.id: one for one in by_meaning_alone(by_vectors.ranking)}
    for one in by_words_alone(by_terms.ranking):
        same = found.setdefault(one.id, one)
        same.bm25, same.keyword_rank = one.bm25, one.keyword_rank
    for id, cosine in by_terms.other_scores:
        if (one := found[id]).cosine is None:
            one.cosine = cosine
    for id, bm25 in by_vectors.other_scores:
        if (one := found[id]).bm25 is None:
            one.bm25 = bm25
    kept = [one for one in found.values() if not needs_words or one.bm25 is not None]
    for one in kept:
        one.bm25 = one.bm25 or None
    return kept
