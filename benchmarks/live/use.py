"""What a process uses, as the kernel counts it."""

import os
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Of its whole life, in user and kernel mode, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
