"""What processes use, as the kernel counts it."""

import os
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# In /proc/PID/stat, behind the name: user and system time, then those of children that were reaped.
_WITH_REAPED = slice(11, 15)


def family(pid: int) -> list[int]:
    """A process and its descendants, the eldest first. Some of them may have ended by now."""
    found = [pid]
    for member in found:  # grows while it is walked
        for thread in _threads(member):
            with suppress(OSError):
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def parent_of(pid: int) -> int:
    return int(_stat(pid)[1])


def own_cpu_seconds(pid: int) -> float:
    """Processor time of a process's threads that live, by the nanosecond: a tick is long."""
    nanoseconds = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            nanoseconds += int((thread / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def family_cpu_seconds(pid: int) -> float:
    """The same of a process and its descendants, those that were reaped included."""
    seconds = 0.0
    for member in family(pid):
        try:
            seconds += sum(map(int, _stat(member)[_WITH_REAPED])) / _TICKS
        except OSError:
            if member == pid:
                raise  # of a descendant, the rest is with whoever reaped it
    return seconds


def _threads(pid: int) -> list[Path]:
    """None of a process that has ended."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
