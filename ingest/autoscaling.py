"""Compute the desired number of workers from queue depth, age and job type limits. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from math import ceil
from typing import Final, Literal

Reason = Literal["idle", "paused", "depth", "age", "running", "cooling_down", "warming_up"]
Table = tuple[tuple[int, int], ...]
"""(jobs, workers) in ascending order, starting with (0, n): with at least so many jobs, that many
workers."""

_MOST: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Load of one job type, and its limits."""

    ready: int
    """Jobs that are ready now or within a minute."""
    running: int
    oldest_seconds: float = 0.0
    """Age of the oldest ready job."""
    is_paused: bool = False
    """Whether an operator holds the jobs back: the type, or everything, is paused or disabled."""
    is_open: bool = True
    """False while the provider that the jobs need is paused."""
    max_concurrent: int | None = None
    rate_per_minute: int | None = None

    @property
    def runnable(self) -> int:
        """Jobs that could start within a minute, given enough slots."""
        if self.is_paused or not self.is_open:
            return 0
        room = [self.ready]
        if self.max_concurrent is not None:
            room.append(max(0, self.max_concurrent - self.running))
        if self.rate_per_minute is not None:
            room.append(self.rate_per_minute)
        return min(room)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRule:
    """The operator's settings: INGEST_SCALE and the related ones."""

    table: Table
    age: timedelta
    up_after: timedelta
    down_after: timedelta
    slots: int
    """Concurrent jobs per worker."""

    @property
    def most(self) -> int:
        return self.table[-1][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The desired number of workers at this moment, before smoothing."""

    workers: int
    reason: Reason
    ready: int
    """Jobs that could start; excludes those held back by limits or pauses."""
    paused: int
    """Jobs that only an operator's pause holds back."""
    oldest_seconds: float
    """Age of the oldest job of a type that could start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingState:
    """The last answer, and since when a different number is wanted; times in seconds."""

    desired: int
    higher_since: float | None = None
    lower_since: float | None = None
    peak: int = 0
    """The highest number wanted since `lower_since`."""


def parse_table(text: str) -> Table:
    """Parse `0:0,1:1,100:2`. Raises ValueError with the reason."""
    try:
        rows = [tuple(map(int, row.split(":"))) for row in text.split(",")]
        table: Table = tuple((depth, workers) for depth, workers in rows)
    except ValueError:
        raise ValueError("must be a list of jobs:workers, such as 0:0,1:1,100:2") from None
    if table[0][0] != 0:
        raise ValueError("must begin with 0 jobs, such as 0:0")
    if any(lower[0] >= upper[0] or lower[1] > upper[1] for lower, upper in pairwise(table)):
        raise ValueError("jobs must rise from row to row, and workers must not fall")
    if table[0][1] < 0 or table[-1][1] > _MOST:
        raise ValueError(f"workers must be between 0 and {_MOST}")
    return table


def wanted(loads: Sequence[Load], rule: ScalingRule, *, current: int) -> Wanted:
    """The desired number of workers for this load. Jobs held back by limits do not count.

    `current`: live workers.
    """
    runnable = sum(load.runnable for load in loads)
    running = sum(load.running for load in loads)
    oldest = max((load.oldest_seconds for load in loads if load.runnable), default=0.0)
    least = rule.table[0][1]
    workers = max(least, min(_by_depth(rule.table, runnable), runnable + running))
    paused = sum(load.ready for load in loads if load.is_paused)
    reason: Reason = "depth" if runnable else "paused" if paused else "idle"
    # Only types without a limit in effect: more workers would not help the rest.
    late = max(
        (load.oldest_seconds for load in loads if 0 < load.runnable == load.ready), default=0
    )
    if late > rule.age.total_seconds() and workers < min(current + 1, rule.most):
        workers, reason = min(current + 1, rule.most), "age"
    held = ceil(running / rule.slots)
    if workers < held:
        workers, reason = held, "running"
    return Wanted(
        workers=workers, reason=reason, ready=runnable, paused=paused, oldest_seconds=oldest
    )


def settle(
    memory: ScalingState | None, wanted: int, rule: ScalingRule, *, now: float
) -> ScalingState:
    """Smooth the answer: scale up after `up_after`, down after `down_after`.

    From 0 it scales up at once. It scales down to the highest number wanted in that time.
    """
    if memory is None or memory.desired == 0 or memory.desired == wanted:
        return ScalingState(desired=wanted)
    if wanted > memory.desired:
        since = now if memory.higher_since is None else memory.higher_since
        if now - since >= rule.up_after.total_seconds():
            return ScalingState(desired=wanted)
        return ScalingState(desired=memory.desired, higher_since=since)
    if memory.lower_since is None:
        memory = ScalingState(desired=memory.desired, lower_since=now, peak=wanted)
    memory = replace(memory, peak=max(memory.peak, wanted), higher_since=None)
    since = now if memory.lower_since is None else memory.lower_since
    if now - since < rule.down_after.total_seconds():
        return memory
    if memory.peak == wanted:
        return ScalingState(desired=wanted)
    return ScalingState(desired=memory.peak, lower_since=now, peak=wanted)


def _by_depth(table: Table, jobs: int) -> int:
    return max(workers for depth, workers in table if depth <= jobs)
