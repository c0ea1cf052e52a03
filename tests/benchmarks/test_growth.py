"""The comparison of a small installation with a large one runs, and its report can be written."""

from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import postgres
from benchmarks.core.report import write_report
from benchmarks.growth.comparison import run


def test_an_installation_is_compared_with_a_larger_one(tmp_path: Path) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    with postgres() as server:  # of this machine: its CPU is read from /proc
        section = run(server, options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path)

    names = {"40 stored", "80 stored"}
    assert [set(race.rounds) for race in section.races] == [names] * 2
    assert all(race.median(name) > 0 for race in section.races for name in names)
    assert [goal.measured is None for goal in section.goals] == [False, False]
    asked, stored = section.tables
    assert {"search", "claim of 100", "tick: housekeeping"} <= {row[0] for row in asked.rows}
    assert {"chunks", "embeddings"} <= {row[0] for row in stored.rows}
    assert "80 stored" in (tmp_path / "RESULTS.md").read_text()
