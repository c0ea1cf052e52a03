"""The comparison of embedding requests runs, and its report can be written."""

from pathlib import Path

import pytest

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.provider.comparison import BARE, OURS, check, run
from benchmarks.provider.contestants import Run
from benchmarks.provider.server import Counts


def test_embedding_requests_are_compared_with_a_bare_script(server: str, tmp_path: Path) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(Server(server), options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path)

    [race] = section.races
    assert set(race.rounds) == {OURS, BARE}
    assert all(race.facts[name]["of them refused"] == "0" for name in (OURS, BARE))
    assert race.facts[OURS]["chunks"] == race.facts[BARE]["chunks"] != "0"
    assert BARE in (tmp_path / "RESULTS.md").read_text()


@pytest.mark.parametrize(("chunks", "tokens"), [(0, 1000), (11, 1000), (10, 700), (10, 1300)])
def test_benchmark_refuses_different_work(chunks: int, tokens: int) -> None:
    ours = Run(1.0, 10, Counts(requests=1, texts=10, tokens=1000))
    theirs = Run(1.0, chunks, Counts(requests=1, texts=10, tokens=tokens))

    with pytest.raises(AssertionError):
        check({OURS: [ours], "another": [theirs]})
