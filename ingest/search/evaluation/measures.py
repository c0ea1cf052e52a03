"""Measures of a ranking, and how far chance may move their means."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

MAIN_MEASURE: Final = "ndcg@10"
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

    The same resamples every time.
    """
    values = np.array(list(series.values()), dtype=np.float64)
    if values.size == 0:
        return {}
    size = values.shape[1]
    chance = np.random.default_rng(_SEED)
    means = np.stack(
        [values[:, chance.integers(0, size, size)].mean(axis=1) for _ in range(RESAMPLES)]
    )
    means.sort(axis=0)
    cut = round(RESAMPLES * _TAIL)
    ends = zip(means[cut].tolist(), means[-1 - cut].tolist(), strict=True)
    return {
        name: Interval(fmean(one), low, high)
        for (name, one), (low, high) in zip(series.items(), ends, strict=True)
    }


def paired_differences(
    after: Mapping[str, Sequence[float]], before: Mapping[str, Sequence[float]]
) -> dict[str, Interval]:
    """How far the measures that both have differ, question by question: a paired bootstrap."""
    return bootstrap(
        {
            name: [new - old for new, old in zip(values, before[name], strict=True)]
            for name, values in after.items()
            if name in before
        }
    )
