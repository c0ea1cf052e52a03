"""The comparison of queues runs, its report can be written, and nobody gets away with less work."""

import sys
from pathlib import Path

import pytest

from benchmarks.core.environments import Unavailable
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.queue.comparison import run
from benchmarks.queue.contestants import Contestant
from benchmarks.queue.field import BARE, OURS, SAME_ROWS, Field
from benchmarks.queue.sessions import work

_TWICE = """
from benchmarks.queue.bare import BareQueue
from benchmarks.queue.peers.roles import main

class Twice(BareQueue):
    async def work(self, handle, ready):
        await super().work(lambda number: (handle(number), handle(number)), ready)

main(Twice)
"""


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


def test_failing_peer_drops_out_and_the_others_continue() -> None:
    field = Field(Options(environments=Path(), rounds=3, peers=False))
    field.peers.append("frail")
    frail = Contestant(name="frail", command=[], jobs=1)
    calls = {"frail": 0, OURS: 0, BARE: 0}

    def session(one: Contestant) -> int:
        calls[one.name] += 1
        if one is frail and calls["frail"] == 2:
            raise Unavailable("its socket was closed")
        return calls[one.name]

    reached = field.in_turns(session, frail)

    assert reached == {OURS: [1, 2, 3], BARE: [1, 2, 3]}
    assert field.absent == {"frail": "its socket was closed"}


def test_own_failure_ends_the_comparison() -> None:
    field = Field(Options(environments=Path(), peers=False))

    def session(one: Contestant) -> int:
        raise AssertionError("not every job was run exactly once")

    with pytest.raises(AssertionError, match="exactly once"):
        field.in_turns(session)


def test_a_contestant_that_runs_a_job_twice_is_refused(server: str, tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(_TWICE)
    twice = Contestant(name="twice", command=[sys.executable, script], jobs=20)

    with pytest.raises(AssertionError, match="exactly once"):
        work(Server(server), twice, jobs=20, processes=1, singles=1)
