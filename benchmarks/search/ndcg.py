"""The quality of a ranking: normalised discounted cumulative gain of its first ten hits."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from benchmarks.search.cranfield import Question

_DEPTH = 10


def mean_ndcg(rankings: Sequence[Sequence[int]], questions: Sequence[Question]) -> float:
    """The mean over all questions that have an answer."""
    pairs = zip(rankings, questions, strict=True)
    return fmean(ndcg(ranking, one.gains) for ranking, one in pairs if one.gains)


def ndcg(ranking: Sequence[int], gains: Mapping[int, int]) -> float:
    """From 0 to 1. The gain is linear: a complete answer counts as much as four marginal ones."""
    best = sorted(gains.values(), reverse=True)
    return _discounted([gains.get(document, 0) for document in ranking]) / _discounted(best)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:_DEPTH]))
