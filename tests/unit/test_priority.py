"""The priority of processes for whose work nobody waits."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.priority import BACKGROUND, lower

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def process() -> Iterator[int]:
    """A process in a session of its own."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as sleeping:
        yield sleeping.pid
        sleeping.kill()


def nice(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def test_a_process_and_its_session_are_lowered(process: int) -> None:
    lower(process)

    assert nice(process) == max(BACKGROUND, nice(0))
    session = Path(f"/proc/{process}/autogroup")
    if session.exists() and "nice" in session.read_text():  # not in a container
        assert session.read_text().endswith(f"nice {BACKGROUND}\n")


def test_a_lower_priority_stays(process: int) -> None:
    os.setpriority(os.PRIO_PROCESS, process, 19)

    lower(process)

    assert nice(process) == 19


def test_the_processes_of_others_are_left_alone() -> None:
    lower(1 << 30)  # no such process
