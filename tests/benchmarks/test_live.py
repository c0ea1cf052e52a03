"""The comparison of live events runs, and its report can be written."""

from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.live.comparison import BARE, OURS, run


def test_live_events_are_compared_with_a_bare_server(server: str, tmp_path: Path) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(Server(server), options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path)

    [race] = section.races
    assert set(race.rounds) == {OURS, BARE}
    assert race.facts[OURS]["deliveries"] == race.facts[BARE]["deliveries"] != "0"
    assert [len(table.rows) for table in section.tables] == [1, 3]
    assert BARE in (tmp_path / "RESULTS.md").read_text()
