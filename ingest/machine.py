"""The memory and processors of this machine, or the part of them that its container may use."""

import os
from collections.abc import Iterator
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Final

_MEMORY: Final = "memory.max"
_PROCESSORS: Final = "cpu.max"


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
        if quota.isdigit() and period.isdigit() and int(period) > 0:  # else it is `max`
            usable = min(usable, ceil(int(quota) / int(period)))
    return max(1, usable)


def _limits(root: Path, name: str) -> Iterator[str]:
    """The limits of our control group and of those above it; version 2, then 1.

    Inside a container, the path may be that of the host, and only the top is visible.
    """
    for top, file, path in _groups(root, name):
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(top):
                break
            with suppress(OSError, ValueError):  # not there, or no text
                yield (folder / file).read_text().strip()


def _groups(root: Path, name: str) -> Iterator[tuple[Path, str, str]]:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    mounts = root / "sys/fs/cgroup"
    for line in lines:  # 0::/path, or 4:memory:/path
        match line.split(":", 2):
            case _, "", path:
                yield mounts, name, path
            case _, controllers, path if name == _MEMORY and "memory" in controllers.split(","):
                yield mounts / "memory", "memory.limit_in_bytes", path
