"""Injects the faults of a plan: lanes side by side, the faults of a lane one after the other."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tests.chaos.faults import Faults, Injected
from tests.chaos.installation import Installation
from tests.chaos.plan import LANES, Fault

_LONGER: Final = 10.0
"""Seconds that a fault lasts longer if the service has not felt it yet."""
_RECOVERY: Final = 30.0
"""Seconds that the next fault waits at most for a service that works again."""


@dataclass(frozen=True, kw_only=True)
class _Running:
    fault: Fault
    until: float
    injected: Injected


class Storm:
    """`blow` starts processes, so it runs in the main thread: they end with the thread."""

    def __init__(self, on: Installation) -> None:
        self._on = on
        self._faults = Faults(on)
        self.unavailable = self._faults.unavailable()
        self.injected: Counter[str] = Counter()
        self.effective: Counter[str] = Counter()
        self._waiting = {
            lane: [fault for fault in on.plan.of(lane) if fault.kind not in self.unavailable]
            for lane in LANES
        }
        self._next_at: dict[str, float] = {}
        self._running: dict[str, _Running] = {}
        for lane in LANES:
            self._schedule(lane)

    def blow(self) -> None:
        """Inject all faults, and take back the last of them."""
        while self._next_at or self._running:
            now = time.monotonic()
            for lane, running in list(self._running.items()):
                if now >= running.until:
                    self._end(lane, running)
            for lane, at in list(self._next_at.items()):
                if now >= at and (not self._waits(lane) or now >= at + _RECOVERY):
                    self._begin(lane)
            self._on.tend()
            time.sleep(0.05)

    def _waits(self, lane: str) -> bool:
        """Half of the faults hit a service that works; the others come whatever there is."""
        is_patient = lane in ("process", "postgres") or self._waiting[lane][0].choice % 2
        return bool(is_patient and not self._on.is_ready())

    def still(self) -> None:
        """Take back what is under way after an error."""
        for running in self._running.values():
            with suppress(Exception):
                running.injected.end()

    def _begin(self, lane: str) -> None:
        del self._next_at[lane]
        fault = self._waiting[lane].pop(0)
        injected = self._faults.begin(fault)
        self.injected[fault.kind] += 1
        until = time.monotonic() + fault.seconds
        self._running[lane] = _Running(fault=fault, until=until, injected=injected)

    def _end(self, lane: str, running: _Running) -> None:
        met = running.injected.met()
        if not met and time.monotonic() < running.until + _LONGER:
            return
        del self._running[lane]
        running.injected.end()
        self.effective[running.fault.kind] += met
        self._schedule(lane)

    def _schedule(self, lane: str) -> None:
        if self._waiting[lane]:
            self._next_at[lane] = time.monotonic() + self._waiting[lane][0].pause
