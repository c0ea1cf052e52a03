"""CPU time of processes with all that they have started (Linux: read from /proc)."""

import os
from pathlib import Path
from typing import Final

import psycopg

_TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu_seconds(root: int) -> float:
    """Of a process and its descendants, those included that have ended and were waited for."""
    used: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _stat(entry)):
            pid = int(entry.name)
            # user and system time, each of itself and of the children that it has waited for
            used[pid] = sum(map(int, stat[11:15])) / _TICKS
            children.setdefault(int(stat[1]), []).append(pid)
    total, todo = 0.0, [root]
    while todo:
        pid = todo.pop()
        total += used.get(pid, 0.0)
        todo += children.get(pid, [])
    return total


def _stat(process: Path) -> list[str]:
    """The fields from the state on; none when the process has just ended."""
    try:
        # The name before them may hold anything, blanks and brackets too.
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def server_process(dsn: str) -> int:
    """The process that all others of a local Postgres descend from."""
    with psycopg.connect(dsn) as conn:
        backend = conn.info.backend_pid
        return int(_stat(Path(f"/proc/{backend}"))[1])
