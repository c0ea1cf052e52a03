"""Searches beside a load are measured."""

from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.load.comparison import ALONE, SEARCHED, run


def test_searches_beside_a_load_are_measured(server: str, tmp_path: Path) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(Server(server), options)

    [race] = section.races
    assert all(race.rounds[name][0] > 0 for name in (ALONE, SEARCHED))
    [table] = section.tables
    assert [row[0] for row in table.rows] == ["nothing else", "a load"]
    assert all(int(row[1]) > 0 for row in table.rows)
    assert all(goal.measured for goal in section.goals)
