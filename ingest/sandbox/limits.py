"""What a parser process may use. Called by the process itself, before it sees any file."""

import contextlib
import ctypes
import math
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
_MAX_FILE = 64 * 1024 * 1024  # bytes; a parser writes compiled modules and attachments
_PEAK = re.compile(rb"^VmPeak:\s+(\d+) kB", re.MULTILINE)
_PAGE = resource.getpagesize()


def confine(*, memory: int, parent: int) -> None:
    """Limit address space to `memory` bytes; no core dumps; die with the process `parent`.

    macOS knows no parent-death signal and ignores the memory limit; there the wall clock and the
    end of the request pipe have to do.
    """
    for kind, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit is already in force
            resource.setrlimit(kind, (value, value))
    with contextlib.suppress(ValueError, OSError):
        _limit_files(_MAX_FILE)
    # A file that grows too large is an error to handle, not the end.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


def allow_cpu(seconds: float) -> None:
    """Grant that much more CPU time: for a parent that is stopped and can't watch the clock."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(time.process_time() + seconds) + 1
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


@contextlib.contextmanager
def files_of(size: int) -> Iterator[None]:
    """Within it, files of `size` bytes may be written."""
    with contextlib.suppress(ValueError, OSError):
        _limit_files(size)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            _limit_files(_MAX_FILE)


def _limit_files(size: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def peak_address_space(pid: int) -> int:
    """Bytes of address space that a process has had at most; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            found = _PEAK.search(file.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def resident() -> int:
    """Bytes of memory in use; the peak where the system does not tell the present."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
