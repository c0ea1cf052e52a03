"""A fault under way, and what faults need of the operating system."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final


def _yes() -> bool:
    return True


def _nothing() -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Injected:
    """A fault under way."""

    met: Callable[[], bool] = _yes
    """Whether the service has felt it; the kill of an idle process is none."""
    end: Callable[[], None] = _nothing


MISSED: Final = Injected(met=lambda: False)


def cpu_ticks(pid: int) -> int:
    """User and system time of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def send_signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
