"""The comparison of queues runs, and its report can be written."""

from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.queue.comparison import run
from benchmarks.queue.field import BARE, OURS, SAME_ROWS


def test_the_queue_is_compared_with_the_bare_loop(server: str, tmp_path: Path) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(Server(server), options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path)

    rounds = {race.title: race.rounds for race in section.races}
    assert set(rounds["Enqueue in bulk"]) == {OURS, BARE, SAME_ROWS}
    assert set(rounds["Drain, one worker process"]) == {OURS, BARE}
    assert set(rounds["Drain, two worker processes"]) == {OURS, BARE}
    assert all(figure >= 0 for race in rounds.values() for each in race.values() for figure in each)
    assert [len(table.rows) for table in section.tables] == [4, 3, 3]
    # Without peers one goal has nothing to be measured by.
    assert [goal.measured is None for goal in section.goals] == [True] + [False] * 5
    assert OURS in (tmp_path / "RESULTS.md").read_text()
