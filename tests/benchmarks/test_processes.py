"""What benchmarks count of processes that end while they are looked at."""

import subprocess
import sys

import pytest

from benchmarks.core.processes import family, family_cpu_seconds, own_cpu_seconds


def test_ended_descendants_are_skipped() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()

    assert family(ended.pid) == [ended.pid]
    with pytest.raises(FileNotFoundError):
        family_cpu_seconds(ended.pid)
    with pytest.raises(FileNotFoundError):
        own_cpu_seconds(ended.pid)


def test_process_tree_includes_grandchildren() -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        members = family(parent.pid)
        parent.communicate(b"\n")

    assert members[0] == parent.pid
    assert len(members) == 2
