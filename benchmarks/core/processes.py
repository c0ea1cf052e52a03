"""Resource use of processes, as counted by the kernel."""

import os
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Fields of /proc/PID/stat after the name: user and system time, then those of reaped children.
_WITH_REAPED = slice(11, 15)


def family(pid: int) -> list[int]:
    """A process and its descendants, oldest first. Some of them may have ended by now."""
    found = [pid]
    for member in found:  # the list grows during the loop
        for thread in _threads(member):
            with suppress(OSError):
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def parent_of(pid: int) -> int:
    return int(_stat(pid)[1])


def own_cpu_seconds(pid: int) -> float:
    """CPU time of a process's live threads, in nanoseconds, because clock ticks are too coarse."""
    nanoseconds = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            nanoseconds += int((thread / "schedstat").read_text().split()[0])
    return nanoseconds / 1e9


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def family_cpu_seconds(pid: int) -> float:
    """Processor time of a process and its descendants, including reaped ones."""
    seconds = 0.0
    for member in family(pid):
        try:
            seconds += sum(map(int, _stat(member)[_WITH_REAPED])) / _TICKS
        except OSError:
            if member == pid:
                raise  # a reaped descendant counts in the process that reaped it
    return seconds


def _threads(pid: int) -> list[Path]:
    """Folders of the process's threads; empty if the process has ended."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may contain any character."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
