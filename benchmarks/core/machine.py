"""The machine and software that a measurement was made with."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

_NO_REPORT = ":(top,exclude)benchmarks/RESULTS.md"


def describe(postgres: str) -> str:
    """One line, without the host name."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {_commit()}, Python {platform.python_version()}, "
        f"{postgres}, {os.cpu_count()} cores ({_processor()}), {platform.system()}"
    )


def _commit() -> str:
    """The commit; `-dirty` if anything other than earlier results is uncommitted."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    changed = _git("status", "--porcelain", ":/", ":(top,exclude)benchmarks/results*", _NO_REPORT)
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    folder = Path(__file__).parent
    found = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=folder)
    return found.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
