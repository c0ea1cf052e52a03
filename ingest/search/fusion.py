"""Fuses the rankings by meaning and by words into one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ingest.store.search.scope import Ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each half counts in a hybrid search, relative to the other."""

    vector: float = 1.0
    keyword: float = 1.0


def fuse(*rankings: Sequence[Ranked], limit: int, weights: Sequence[float] = ()) -> list[Ranked]:
    """Fuse rankings by mean score, each score relative to the best of its ranking; 0 to 1.

    Unlike rank fusion, this tells a clear winner from a narrow one. A ranking without the chunk
    counts as 0. Ties are ordered by id, so results are deterministic. `weights`: of each ranking;
    equal unless given.
    """
    weights = weights or [1.0] * len(rankings)
    total = sum(weights)
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking, weight in zip(rankings, weights, strict=True):
        best = max((found.score for found in ranking), default=0)
        for found in ranking:
            share = found.score / best if best > 0 else 0
            scores[found.id] += max(0, share) * weight / total
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Ranked(id=id, score=score) for id, score in order[:limit]]
