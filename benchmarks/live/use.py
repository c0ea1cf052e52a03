"""What a process uses, as the kernel counts it."""

import os
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Of its threads that live, in user and kernel mode, by the nanosecond: a tick is too long."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
