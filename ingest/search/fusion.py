"""Fuses the scores by meaning and by words into one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ingest.search.scores import Candidate

# Chosen on Cranfield and on questions in seven languages (docs/decisions.md).
_WORDS: Final = 0.6
_HALF: Final = 0.8
"""Share of the weight of all words from which a chunk gets half of what words can give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each half counts in a hybrid search, relative to its usual weight."""

    vector: float = 1.0
    keyword: float = 1.0

    def words(self) -> float:
        """The share of words in the fused score, 0 to 1."""
        words, meaning = self.keyword * _WORDS, self.vector * (1 - _WORDS)
        return words / (words + meaning)


class Parts:
    """What each half gives to a fused score."""

    def __init__(self, whole_weight: float, weights: Weights, *, unrelated: float) -> None:
        """`whole_weight`: about the BM25 of a chunk that has each word once.

        `unrelated`: the cosine of texts with nothing in common.
        """
        self.words = weights.words()
        self.meaning = 1 - self.words
        self._unrelated = unrelated
        self._half = max(_HALF * whole_weight, 1e-9)

    def by_words(self, bm25: float) -> float:
        return self.words * bm25 / (bm25 + self._half)

    def by_meaning(self, cosine: float) -> float:
        return self.meaning * max(0.0, cosine - self._unrelated) / (1 - self._unrelated)


def fuse(
    found: Iterable[Candidate],
    *,
    whole_weight: float,
    unrelated: float = 0.0,
    weights: Weights | None = None,
) -> list[Candidate]:
    """Score chunks by both, 0 to 1, best first; a chunk without one of the scores has 0 for it.

    Unlike the fusion of ranks, this tells a clear winner from a narrow one; and unlike scores
    relative to the best, it is low if nothing fits. Ties are ordered by id, so results are
    deterministic. `unrelated`: the cosine of texts with nothing in common, which counts as 0;
    otherwise words would decide alone with models whose cosines differ little.
    """
    parts = Parts(whole_weight, weights or Weights(), unrelated=unrelated)
    scored = list(found)
    for one in scored:
        one.score = parts.by_words(one.bm25 or 0.0) + parts.by_meaning(one.cosine or 0.0)
    return sorted(scored, key=lambda one: (-one.score, one.id))
