"""Injects the faults of a plan: lanes side by side, the faults of a lane one after the other."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from tests.chaos.faults import Faults
from tests.chaos.injected import Injected
from tests.chaos.installation import Installation
from tests.chaos.plan import LANES, Fault

_LONGER: Final = 20.0
"""Seconds that a fault lasts longer if the service has not felt it yet."""
_RECOVERY: Final = 30.0
"""Seconds that a fault waits at most for a service that works, and a victim that is at work."""


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
        self._was_ready, self._asked_at = False, 0.0
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
                if now >= at:
                    self._begin(lane, is_late=now >= at + _RECOVERY)
            self._on.tend()
            time.sleep(0.05)

    def still(self) -> None:
        """Take back what is under way after an error."""
        for running in self._running.values():
            with suppress(Exception):
                running.injected.end()

    def _begin(self, lane: str, *, is_late: bool) -> None:
        """Half of the faults hit a service that works; the others come whatever there is."""
        fault = self._waiting[lane][0]
        is_patient = lane in ("process", "postgres") or fault.choice % 2 == 0
        if is_patient and not is_late and not self._is_ready():
            return
        injected = self._faults.begin(fault, anyway=is_late)
        if injected is None:
            return
        del self._waiting[lane][0], self._next_at[lane]
        self.injected[fault.kind] += 1
        until = time.monotonic() + fault.seconds
        self._running[lane] = _Running(fault=fault, until=until, injected=injected)

    def _is_ready(self) -> bool:
        """As it was at most half a second ago."""
        now = time.monotonic()
        if now > self._asked_at + 0.5:
            self._was_ready, self._asked_at = self._on.is_ready(), now
        return self._was_ready

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
