"""(h) A short round of `python -m tests.chaos`: a fault of each group, then the end state."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.patience import LONG_PATIENCE
from tests.chaos.plan import KINDS, draw
from tests.chaos.report import Report
from tests.chaos.round import Result

# Of Postgres, a worker, the provider, the network and a receiver; where root may mount and
# libfaketime is installed, also of the disk and the clock.
_SEED: Final = os.environ.get("INGEST_CHAOS_SEED", "33")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prctl")
def test_random_faults_lose_double_leak_and_hang_nothing(tmp_path: Path) -> None:
    command = ["-m", "tests.chaos", "--rounds", "1", "--per-lane", "1", "--hurry"]
    done = subprocess.run(
        [sys.executable, *command, "--seed", _SEED, "--logs", tmp_path],
        capture_output=True,
        text=True,
        timeout=LONG_PATIENCE,
        check=False,
    )

    said = done.stdout + done.stderr
    assert "verdict: 0 lost, 0 doubled, 0 leaked, 0 hung, 0 other" in done.stdout, said
    assert "planted faults that were found" in done.stdout
    # Not each of them, as a whole run demands: a busy machine may miss the moment of a single one.
    faults = re.search(r"(\d+) faults, (\d+) of them met the service", done.stdout)
    assert faults is not None, said
    assert int(faults[2]) >= int(faults[1]) / 2, said


def test_a_seed_decides_the_faults_and_their_order() -> None:
    assert draw(7) == draw(7)
    assert draw(7) != draw(8)
    assert sorted(fault.kind for fault in draw(7).faults) == sorted(KINDS)


def test_a_run_in_which_nothing_happened_fails(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report()
    report.add(Result(seed=1))

    code = report.verdict()

    assert code == 1
    assert "proves nothing: no fault was injected" in capsys.readouterr().out
