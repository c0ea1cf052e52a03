"""Measures of a ranking, and how far chance may move their means."""

import math
import random
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

NDCG_DEPTH: Final = 10
RESAMPLES: Final = 2000
_SEED: Final = 1
_TAIL: Final = 0.025
"""Of each side: intervals of 95 %."""


def ndcg(gains: Sequence[float], ideal: Sequence[float]) -> float:
    """nDCG@10, from 0 to 1, with linear gains as in trec_eval.

    `gains`: of the hits in order, 0 for those that are no answer. `ideal`: of all answers that
    exist, found or not.
    """
    best = _discounted(sorted(ideal, reverse=True))
    return _discounted(gains) / best if best > 0 else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:NDCG_DEPTH]))


def reciprocal_rank(gains: Sequence[float]) -> float:
    return next((1 / place for place, gain in enumerate(gains, start=1) if gain > 0), 0.0)


class Interval(NamedTuple):
    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def bootstrap(series: Mapping[str, Sequence[float]]) -> dict[str, Interval]:
    """The mean of each series with its interval of 95 %; all have a value per question.

    Differences of two runs per question make a paired bootstrap. The same resamples every time.
    """
    size = len(next(iter(series.values()), ()))
    if size == 0:
        return {}
    chance = random.Random(_SEED)  # noqa: S311 resampling
    means: dict[str, list[float]] = {name: [] for name in series}
    for _ in range(RESAMPLES):
        picked = chance.choices(range(size), k=size)
        for name, values in series.items():
            means[name].append(sum(map(values.__getitem__, picked)) / size)
    cut = round(RESAMPLES * _TAIL)
    intervals = {}
    for name, values in series.items():
        ordered = sorted(means[name])
        intervals[name] = Interval(fmean(values), ordered[cut], ordered[-1 - cut])
    return intervals
