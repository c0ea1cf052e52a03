"""Files reach the database by the service and by the script, and a report can be written."""

import asyncio
import io
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.report import write_report
from benchmarks.end_to_end.comparison import run
from benchmarks.end_to_end.field import OURS
from benchmarks.end_to_end.outcome import check
from benchmarks.end_to_end.works import MARK, html_work, text_work
from ingest.formats.registry import extract
from ingest.providers.embedders.factory import build_embedder
from ingest.settings.settings import Settings


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
    [spent] = [table for table in section.tables if table.title.endswith("ms a file")]
    assert {row[0] for row in spent.rows} == {OURS, "script"}
    assert all(float(row[-1]) > 0 for row in spent.rows)
    assert OURS in (tmp_path / "RESULTS.md").read_text()


def test_a_page_gets_its_own_sentence_where_readers_look_for_it(tmp_path: Path) -> None:
    work = html_work(tmp_path / "html", None, count=12)

    texts = [extract(io.BytesIO(content), name=name).text for name, content in work.named_files()]
    found = [set(MARK.findall(text)) for text in texts]
    assert [len(marks) for marks in found] == [1] * 12
    assert set().union(*found) == work.marks


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("delete from chunks where number = 1", "1 files are missing"),
        (
            "update chunks set embedding = (select embedding from chunks limit 1)",
            "not that of its text",
        ),
        ("update chunks set embedding = null", "has no vector"),
        ("drop index chunks_embedding_idx", "no HNSW index"),
    ],
)
async def test_benchmark_refuses_incomplete_work(
    server: str, tmp_path: Path, change: LiteralString, why: str
) -> None:
    work = text_work(tmp_path / "text", count=3)
    texts = [content.decode() for _, content in work.named_files()]
    vectors = await (await build_embedder(Settings(embedder="static"))).embed(texts)
    with Server(server).database("refused") as dsn, psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("create table chunks (number int, content text, embedding vector(256))")
        conn.execute("create index on chunks using hnsw (embedding vector_cosine_ops)")
        for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
            row = (number, text, str(vector.tolist()))
            conn.execute("insert into chunks values (%s, %s, %s)", row)
        rows = "select content, embedding from chunks"

        stored = await asyncio.to_thread(check, dsn, work, rows)
        conn.execute(change)

        assert stored.chunks == 3
        with pytest.raises(AssertionError, match=why):
            await asyncio.to_thread(check, dsn, work, rows)
