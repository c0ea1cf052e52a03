"""How much of a worker's slots each application uses: what claims are fair by."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import nlargest
from typing import Final
from uuid import UUID

from ingest.worker.slots import Slot

_HALF_LIFE_SECONDS: Final = 30.0
# Applications that used less are not told apart from those that used nothing.
_NOTICEABLE_SECONDS: Final = 1.0
# Each one may cost the claim an index look-up.
_MOST_NOTED: Final = 32


class SlotShares:
    """Slots held now, and slot seconds used recently, per application."""

    def __init__(
        self, slots: Mapping[int, Slot], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`slots`: those of the worker, by job. `clock`: seconds, that of `Slot.started`."""
        self._slots = slots
        self._clock = clock
        # By number: each UUID is an object of its own, whose hash and comparison are Python code.
        self._used: defaultdict[int, float] = defaultdict(float)
        self._used_at = clock()

    def charge(self, slot: Slot) -> None:
        """Count a slot that is freed."""
        now = self._clock()
        self._decay(now)
        self._used[slot.job.application_id.int] += now - slot.started

    def held(self) -> dict[UUID, float]:
        """Slots held per application, plus a fraction of one that grows with its recent use."""
        counts, used = self._held_and_used()
        noted = {*counts, *nlargest(_MOST_NOTED, used, key=lambda owner: used[owner])}
        return {
            UUID(int=owner): counts.get(owner, 0) + use / (use + _HALF_LIFE_SECONDS)
            for owner in noted
            if (use := used.get(owner, 0.0)) >= _NOTICEABLE_SECONDS or owner in counts
        }

    def held_by_light_ones(self) -> dict[UUID, float]:
        """As `held`, but infinite where the recent use is over half of another holder's."""
        holders, used = self._held_and_used()
        return {
            owner: slots if _is_light(owner.int, used, holders) else float("inf")
            for owner, slots in self.held().items()
        }

    def _held_and_used(self) -> tuple[dict[int, int], dict[int, float]]:
        """Slots held, and recent slot seconds, those of running jobs included."""
        now = self._clock()
        self._decay(now)
        started: defaultdict[int, list[float]] = defaultdict(list)
        for slot in self._slots.values():
            started[slot.job.application_id.int].append(slot.started)
        used = dict(self._used)
        for owner, since in started.items():
            used[owner] = used.get(owner, 0.0) + len(since) * now - sum(since)
        return {owner: len(since) for owner, since in started.items()}, used

    def _decay(self, now: float) -> None:
        # In steps: the dictionary is rebuilt once a second, not with each job.
        if now - self._used_at >= _NOTICEABLE_SECONDS:
            factor = 0.5 ** ((now - self._used_at) / _HALF_LIFE_SECONDS)
            left = {owner: seconds * factor for owner, seconds in self._used.items()}
            noticed = {
                owner: seconds
                for owner, seconds in left.items()
                if seconds >= _NOTICEABLE_SECONDS / 10
            }
            self._used = defaultdict(float, noticed)
            self._used_at = now


def _is_light(owner: int, used: Mapping[int, float], holders: Iterable[int]) -> bool:
    return all(2 * used[owner] <= used[other] for other in holders if other != owner)
