"""How `ingest serve` divides its worker among processes. Pure."""

from dataclasses import dataclass
from typing import Final

from ingest.settings.settings import Settings

# A file of text takes two thirds of its processor time in parsers and Postgres, which are
# processes of their own; a third is the worker's (benchmarks/PROFILES.md).
_CORES: Final = 3
# With the local embedder, a worker takes 0.2 GB, its fork server 0.1, and its parsers the rest.
_BYTES: Final = 2 * 1024**3
# Beyond, connections and commits cost more than processes bring: to be set by hand, if measured.
_MOST: Final = 6
# One slot alone has no reserve for applications that use few (ingest/worker/loop.py).
_SLOTS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerShare:
    """What one worker process may use."""

    slots: int
    parsers: int


def worker_shares(
    settings: Settings, *, processors: int, memory: int | None
) -> tuple[WorkerShare, ...]:
    """The shares of the worker processes; none: the worker runs in the process of the API.

    `memory`: bytes of the machine; None: not known.
    """
    if not settings.worker:
        return ()
    slots, count = settings.worker_concurrency, settings.worker_processes
    if count is None:
        room = _MOST if memory is None else memory // _BYTES
        count = min(processors // _CORES, room, _MOST, slots // _SLOTS)
    parsers = max(count, min(slots, processors))
    return tuple(
        WorkerShare(slots=_part(slots, count, number), parsers=_part(parsers, count, number))
        for number in range(count)
    )


def _part(whole: int, count: int, number: int) -> int:
    """The parts add up to the whole and differ by one at most."""
    return whole // count + (number < whole % count)
