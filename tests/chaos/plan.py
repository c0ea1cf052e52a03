"""What a seed decides: the size of the installation, and which faults come in which order.

The choice is the same for each seed; the moments at which faults meet the work are not.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

LANES: Final[Mapping[str, Sequence[str]]] = {
    "postgres": (
        "postgres crash",
        "postgres backend killed",
        "postgres connections ended",
        "postgres frozen",
        "postgres disk full",
        "postgres clock forward",
        "postgres clock back",
        "power cut",
    ),
    "process": (
        "api killed",
        "worker killed",
        "api stopped",
        "worker stopped",
        "parser killed",
        "api frozen",
        "worker frozen",
        "parser frozen",
    ),
    "provider": (
        "provider 429",
        "provider 500",
        "provider hangs",
        "provider slow",
        "provider dimension",
        "provider garbage",
        "provider cut",
    ),
    "network": ("database cut", "database silent", "database deaf", "database slow"),
    "disk": ("disk full",),
    "clock": ("clock forward", "clock back"),
    "outside": (
        "receiver 500",
        "receiver cut",
        "receiver hangs",
        "site 503",
        "site cut",
        "site slow",
    ),
}
"""Kinds of faults. Lanes run side by side; the faults of one lane follow each other."""
KINDS: Final = tuple(kind for lane in LANES.values() for kind in lane)

_SECONDS: Final[Mapping[str, tuple[float, float]]] = {
    # Longer than a lease of 4 s now and then: the frozen process loses its jobs and then wakes up.
    "worker frozen": (2, 8),
    "parser frozen": (2, 8),
    "postgres frozen": (1, 6),
    "api killed": (0.1, 1.5),
    "worker killed": (0.1, 1.5),
    "clock forward": (3, 6),
    "clock back": (3, 6),
}
_USUAL_SECONDS: Final = (1.0, 4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    kind: str
    lane: str
    pause: float
    """Seconds after the fault before it in its lane."""
    seconds: float
    """How long it lasts."""
    choice: int
    """Which of the possible victims or variants, modulo their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    seed: int
    workers: int
    max_attempts: int
    faults: tuple[Fault, ...]

    def of(self, lane: str) -> list[Fault]:
        return [fault for fault in self.faults if fault.lane == lane]


def draw(seed: int, *, kinds: Collection[str] = KINDS, per_lane: int | None = None) -> Plan:
    """The plan of a seed: each of `kinds` once, or the first `per_lane` of each lane's order."""
    rng = Random(seed)
    workers, max_attempts = rng.choice((1, 2, 2, 3)), rng.choice((3, 5, 20))
    faults = []
    for lane, members in LANES.items():
        order = rng.sample(members, len(members))
        chosen = [kind for kind in order if kind in kinds][:per_lane]
        faults += [_fault(kind, lane, rng) for kind in chosen]
    return Plan(seed=seed, workers=workers, max_attempts=max_attempts, faults=tuple(faults))


def _fault(kind: str, lane: str, rng: Random) -> Fault:
    return Fault(
        kind=kind,
        lane=lane,
        pause=rng.uniform(0.3, 2.5),
        seconds=rng.uniform(*_SECONDS.get(kind, _USUAL_SECONDS)),
        choice=rng.randrange(1_000_000),
    )
