"""Resource limits of a parser process, which applies them itself before it reads any file."""

import contextlib
import math
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator

from ingest.parent_death import die_with

_MAX_FILE = 64 * 1024 * 1024  # bytes; a parser writes compiled modules and attachments
# Also limits those under way in sockets, which the kernel counts per user: a process that has sent
# as many as it may must not keep its parent, whose limit is higher, from passing on files.
_MAX_DESCRIPTORS = 512
_PEAK = re.compile(rb"^VmPeak:\s+(\d+) kB", re.MULTILINE)
_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")


def apply_limits(*, memory: int, parent: int) -> None:
    """Limit address space to `memory` bytes, and descriptors; no core dumps; die with `parent`.

    macOS has no parent-death signal and ignores the memory limit; there only the wall clock and the
    end of the request pipe stop the process.
    """
    for kind, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _MAX_DESCRIPTORS),
    ):
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit is already in force
            resource.setrlimit(kind, (value, value))
    with contextlib.suppress(ValueError, OSError):
        _limit_files(_MAX_FILE)
    # Without the signal, writing too large a file raises OSError instead of killing us.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    die_with(parent)


def allow_cpu(seconds: float) -> None:
    """Grant `seconds` more CPU time: a limit that works even if the parent cannot time out."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(time.process_time() + seconds) + 1
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Allow files of up to `size` bytes inside the context."""
    before, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    with contextlib.suppress(ValueError, OSError):
        _limit_files(size)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            _limit_files(before)


def _limit_files(size: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def peak_address_space(pid: int) -> int:
    """Peak address space of a process in bytes; 0 if the system does not report it."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            found = _PEAK.search(file.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and its ended children; 0 if the system does not report it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name, in parentheses, may contain spaces. Then: state, parent …, utime, stime,
            # cutime, cstime.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def resident() -> int:
    """Bytes of memory in use; the peak if the system does not report the current value."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
