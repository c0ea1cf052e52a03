"""Fuses the scores by meaning and by words into one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from ingest.store.search.scope import Ranked

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


def fuse(
    cosines: Mapping[UUID, float],
    bm25: Mapping[UUID, float],
    *,
    whole_weight: float,
    limit: int,
    unrelated: float = 0.0,
    weights: Weights | None = None,
) -> list[Ranked]:
    """The best chunks by both scores, 0 to 1; a chunk without one of them has 0 for it.

    Unlike the fusion of ranks, this tells a clear winner from a narrow one; and unlike scores
    relative to the best, it is low if nothing fits. Ties are ordered by id, so results are
    deterministic. `unrelated`: the cosine of texts with nothing in common, which counts as 0;
    otherwise words would decide alone with models whose cosines differ little.
    """
    share = (weights or Weights()).words()
    half = max(_HALF * whole_weight, 1e-9)
    scores = {}
    for id in {*cosines, *bm25}:
        words = bm25.get(id, 0.0)
        meaning = max(0.0, cosines.get(id, 0.0) - unrelated) / (1 - unrelated)
        scores[id] = share * words / (words + half) + (1 - share) * meaning
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Ranked(id=id, score=score) for id, score in order[:limit]]
