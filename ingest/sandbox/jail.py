"""The jail of a parser process, which it enters before it reads any file: docs/sandbox.md.

Two layers, without root and without dependencies: Landlock (landlock.py) confines files, TCP and
signals; a seccomp filter (seccomp.py) denies system calls that parsers do not need.
"""

import ctypes
import os
import resource
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.model import NOT_JAILED, JailStatus, SandboxMode
from ingest.sandbox import landlock, seccomp

_PR_SET_DUMPABLE: Final = 4
_CAPABILITIES_V3: Final = 0x20080522
_CAP_DAC_READ_SEARCH: Final = 1 << 2
_MOST_NEW_TASKS: Final = 4096
# What Python and the libraries read. Not `net`: the sockets and peers of the whole machine.
_OF_ITSELF: Final = tuple(
    f"/proc/self/{name}" for name in ("auxv", "cgroup", "fd", "maps", "stat", "statm", "status")
)


class JailIncomplete(Exception):
    """A layer that INGEST_SANDBOX=strict demands cannot be applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How parser processes are confined."""

    mode: SandboxMode = "auto"
    program: str | None = None
    """The OCR program, the only one that may be executed."""
    readable: tuple[Path, ...] = ()
    """Paths that may be read besides modules, libraries and fonts."""
    private: tuple[Path, ...] = ()
    """Folders that may not be inside a readable path."""
    after_check: bool = False
    """For a process that checks the installation and reads no file: first it imports all parsers,
    and stores their compiled modules, which a jailed process cannot."""


@dataclass(slots=True, kw_only=True)
class Jail:
    """The child's side: what it needs to lock itself in, once."""

    mode: SandboxMode
    scratch: str
    """The only folder that may be written."""
    readable: tuple[str, ...]
    executable: tuple[str, ...]
    status: JailStatus | None = None

    def enter(self) -> JailStatus:
        """Confine this process, which must have one thread, for ever; repeating it is harmless.

        Raises JailIncomplete if the mode is strict and a layer is missing.
        """
        if self.status is None:
            self.status = NOT_JAILED if self.mode == "off" else self._lock()
            if self.mode == "strict" and not self.status.is_complete:
                raise JailIncomplete(str(self.status))
        return self.status

    def _lock(self) -> JailStatus:
        if sys.platform != "linux":
            return NOT_JAILED
        _limit_tasks()
        protect_memory()
        _drop_capabilities()
        abi, problem = self._restrict()
        done = seccomp.install(
            may_execute=bool(self.executable),
            signals_are_scoped=abi is not None and abi >= landlock.FIRST_WITH_SIGNALS,
        )
        return JailStatus(landlock=abi, seccomp=done, landlock_problem=problem)

    def _restrict(self) -> tuple[int | None, str | None]:
        """Apply Landlock; returns its ABI version, or None and why not."""
        try:
            abi = landlock.supported_abi()
            # Kept open for ever: a rule is about an inode, and procfs makes new ones.
            for path in _OF_ITSELF:
                with suppress(FileNotFoundError):
                    os.open(path, os.O_PATH | os.O_CLOEXEC)
            landlock.restrict(
                abi,
                [
                    *((path, landlock.READ) for path in (*self.readable, *_OF_ITSELF)),
                    *((path, landlock.READ | landlock.EXECUTE) for path in self.executable),
                    (os.devnull, landlock.READ | landlock.WRITE_FILE),
                    (self.scratch, landlock.WRITE),
                ],
            )
        except OSError as error:
            return None, str(error)
        return abi, None


def protect_memory() -> None:
    """Hide memory, environment and descriptors from other processes of the user; no core dumps.

    The files in /proc/PID then belong to root. Programs that the process starts are not affected.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _limit_tasks() -> None:
    """Bound the threads and processes, which the kernel counts per user; root has no such limit."""
    try:
        tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        most = tasks + _MOST_NEW_TASKS
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    except (OSError, ValueError, IndexError):
        return


def _drop_capabilities() -> None:
    """Give up root's privileges, except to read the code of another user; for others, a no-op."""
    kept = _CAP_DAC_READ_SEARCH if os.geteuid() == 0 else 0
    header = struct.pack("=Ii", _CAPABILITIES_V3, 0)
    ctypes.CDLL(None).capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))
