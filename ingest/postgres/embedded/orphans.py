"""Stops servers that a killed owner left in a cluster folder, so that a new one can start there.

Hold the owner's lock while calling this: then no living owner can have a server there.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ingest.errors import SetupError

_PROGRAMS = {"postgres", "initdb"}


def end_orphans(cluster: Path, *, deadline: float) -> None:
    """Shut down any server in `cluster`, wait for its end, and remove its stale lock files.

    `deadline` is a value of `time.monotonic`; after it, SetupError names the process.
    """
    orphans = _servers_in(cluster)
    postmaster = _recorded_pid(cluster)
    for pid in orphans:
        # A living postmaster ends its children itself; without one, we signal each process.
        if pid == postmaster:
            _signal(pid, signal.SIGINT)
        elif postmaster not in orphans:
            _signal(pid, signal.SIGTERM)
    while orphans:
        if time.monotonic() > deadline:
            raise SetupError(f"process {orphans[0]} still serves {cluster}: stop it first")
        time.sleep(0.02)
        orphans = _servers_in(cluster)
    # The pid in them may belong to an unrelated process by now, as after every second container
    # restart; Postgres would take that process for a server and refuse to start.
    for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (cluster / name).unlink(missing_ok=True)


def _servers_in(cluster: Path) -> list[int]:
    """Postgres processes whose working directory is `cluster`, as is always true of a server."""
    if sys.platform != "linux":
        pid = _recorded_pid(cluster)
        return [pid] if pid is not None and _serves(pid, cluster) else []
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (
                Path(os.readlink(process / "cwd")) == cluster
                and (process / "comm").read_text().strip() in _PROGRAMS
            ):
                found.append(int(process.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def _serves(pid: int, cluster: Path) -> bool:
    command = ["ps", "-ww", "-p", str(pid), "-o", "args="]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return "postgres" in shown.stdout and str(cluster) in shown.stdout


def _recorded_pid(cluster: Path) -> int | None:
    try:
        return int((cluster / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
