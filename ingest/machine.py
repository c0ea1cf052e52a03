"""The memory and processors of this machine, or the part of them that its container may use."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Final

_MEMORY: Final = "memory.max"
_PROCESSORS: Final = "cpu.max"
# The controller and its files in version 1 of control groups.
_VERSION_1: Final = {
    _MEMORY: ("memory", ["memory.limit_in_bytes"]),
    _PROCESSORS: ("cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]),
}


def total_memory(*, root: Path = Path("/")) -> int | None:
    """Bytes of memory of this machine, or the limit of the container if that is lower."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        physical = -1
    known = [*map(int, filter(str.isdigit, _limits(root, _MEMORY)))]
    return min([*known, *([physical] if physical > 0 else [])], default=None)


def processors(*, root: Path = Path("/")) -> int:
    """Processors that this process may use; of a container, as many as its share of time makes."""
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    else:
        usable = os.cpu_count() or 1
    for text in _limits(root, _PROCESSORS):
        quota, _, period = text.partition(" ")
        if quota.isdigit() and period.isdigit() and int(period) > 0:  # else `max`, or -1
            usable = min(usable, ceil(int(quota) / int(period)))
    return max(1, usable)


def _limits(root: Path, name: str) -> Iterator[str]:
    """The limits of our control group and of those above it, as version 2 writes them.

    Inside a container, the path may be that of the host, and only the top is visible.
    """
    for top, files, path in _groups(root, name):
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(top):
                break
            with suppress(OSError, ValueError):  # not there, or no text
                yield " ".join((folder / file).read_text().strip() for file in files)


def _groups(root: Path, name: str) -> Iterator[tuple[Path, Sequence[str], str]]:
    """Our group in version 2 and in version 1: its top, the files of the limit, its path."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    mounts = root / "sys/fs/cgroup"
    controller, files = _VERSION_1[name]
    for line in lines:  # 0::/path, or 4:cpu,cpuacct:/path
        match line.split(":", 2):
            case _, "", path:
                yield mounts, [name], path
            case _, controllers, path if controller in controllers.split(","):
                # One name is often a link to the folder of several, whose order may differ.
                for mount in {controllers, controller}:
                    yield mounts / mount, files, path
