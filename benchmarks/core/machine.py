"""Where and with what something was measured."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def describe(postgres: str) -> str:
    """One line; names no host."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {_commit()}, Python {platform.python_version()}, "
        f"{postgres}, {os.cpu_count()} cores ({_processor()}), {platform.system()}"
    )


def _commit() -> str:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude", "*"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    return found.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
