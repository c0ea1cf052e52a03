"""What a run may do to this machine: mounts that nobody else sees, and no process left behind."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_CLONE_NEWNS: Final = 0x00020000
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_LIBC: Final = ctypes.CDLL(None, use_errno=True)

FAKETIME: Final = next(
    iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))),
    None,
)
"""Debian's libfaketime, which shifts the clock of a process; None: not installed."""


def isolate() -> bool:
    """Adopt orphans, and enter a mount namespace; whether this process may mount.

    Call it before any thread is started. Mounts end with the last process of the run.
    """
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.geteuid() != 0 or _LIBC.unshare(_CLONE_NEWNS) != 0:
        return False
    done = subprocess.run(
        ["mount", "--make-rprivate", "/"], check=False, capture_output=True
    ).returncode
    return done == 0


def die_with_parent() -> None:
    """In a child, before its program starts. SIGINT from a terminal is for the parent only."""
    os.setsid()
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


@contextmanager
def small_disk(folder: Path, *, megabytes: int, mount: bool) -> Iterator[Path]:
    """A file system of this size in `folder`; without the right to mount, the folder itself."""
    folder.mkdir()
    folder.chmod(0o755)
    if not mount:
        yield folder
        return
    size = f"size={megabytes}m,mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path) -> Path:
    """Write a file until not a byte is free; the file."""
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 65536):
            pass
    return ballast


def descendants(pid: int) -> list[int]:
    """Of a process, oldest first; some of them may have ended by now."""
    found = [pid]
    for member in found:  # the list grows during the loop
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(child) for child in children.read_text().split()]
    return found[1:]


def program(pid: int) -> str:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def open_files(pid: int) -> list[str]:
    """What the descriptors of a process lead to."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found.append(os.readlink(entry.path))
    return found


def reap() -> None:
    """Take note of adopted children that have ended."""
    with suppress(ChildProcessError):
        for pid in descendants(os.getpid()):
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
