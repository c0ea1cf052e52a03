"""Files reach the database by the service and by the script, and a report can be written."""

import io
from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.end_to_end.comparison import run
from benchmarks.end_to_end.field import OURS
from benchmarks.end_to_end.works import MARK, html_work
from ingest.pipeline.extract.registry import extract


def test_files_reach_the_database_by_the_service_and_by_the_script(
    server: str, tmp_path: Path
) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(Server(server), options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path)

    contestants = {race.title: len(race.rounds) for race in section.races}
    assert contestants == {"24 text files": 2, "The same text files again, unchanged": 2}
    assert all(figure > 0 for figure in section.races[0].rounds[OURS])
    calls, runs = section.goals[2:4]
    assert (calls.measured, runs.measured) == (0, 0)
    assert OURS in (tmp_path / "RESULTS.md").read_text()


def test_a_page_gets_its_own_sentence_where_readers_look_for_it(tmp_path: Path) -> None:
    work = html_work(tmp_path / "html", None, count=12)

    texts = [extract(io.BytesIO(content), name=name).text for name, content in work.named_files()]
    found = [set(MARK.findall(text)) for text in texts]
    assert [len(marks) for marks in found] == [1] * 12
    assert set().union(*found) == work.marks
