"""The comparison of searches runs, and its measures of quality are right."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server, postgres
from benchmarks.core.report import write_report
from benchmarks.search import cranfield
from benchmarks.search.bare import EF_SEARCH, INDEX_OPTIONS
from benchmarks.search.comparison import run
from benchmarks.search.fill import fill
from benchmarks.search.races import BARE, HTTP, OURS
from benchmarks.search.texts import Texts
from ingest.postgres.database import load_queries
from ingest.search.vector_ranking import EF_SEARCH as OUR_EF_SEARCH


@pytest.fixture(scope="module")
def databases() -> Iterator[Server]:
    with postgres() as started:
        yield started


def test_a_small_run_has_figures_for_all_and_can_be_reported(
    databases: Server, tmp_path: Path
) -> None:
    options = Options(environments=tmp_path, rounds=1, is_small=True, peers=False)

    section = run(databases, options)
    write_report([section], file=tmp_path / "RESULTS.md", pictures=tmp_path / "results")

    assert [set(race.rounds) for race in section.races] == [{OURS, HTTP, BARE}] * 3
    assert all(goal.measured is not None for goal in section.goals)
    assert all(table.rows for table in section.tables)
    assert "Recall@10" in (tmp_path / "RESULTS.md").read_text()


def test_chunks_are_stored_for_applications_of_falling_sizes(databases: Server) -> None:
    texts = Texts(questions=2)

    with databases.database("search_sizes", migrated=True) as dsn:
        filled = fill(dsn, texts.chunks(110), model=texts.embedder.model, applications=3)
        with psycopg.connect(dsn) as conn:
            stored = conn.execute(
                "select application_id, count(*) from rag.embeddings group by 1"
            ).fetchall()

    assert dict(stored) == Counter(filled.owners)
    assert [Counter(filled.owners)[id] for id in filled.applications] == [60, 30, 20]


def test_plain_queries_have_the_settings_of_the_project() -> None:
    assert EF_SEARCH == OUR_EF_SEARCH
    assert any(
        INDEX_OPTIONS.encode() in query
        for query in load_queries("embeddings/embedding_models.sql").values()
    )


def test_cranfield_is_read_with_judgements_by_the_place_of_the_question(tmp_path: Path) -> None:
    (tmp_path / "cran.all.1400").write_text(
        ".I 1\n.T\na title\n.A\nsomebody\n.W\nwings .\n.W\nof birds\n.I 2\n.T\n.W\n\n"
    )
    (tmp_path / "cran.qry").write_text(".I 001\n.W\nfirst\n.I 004\n.W\nsecond\nline\n")
    (tmp_path / "cranqrel").write_text("1 1 4\n1 2 -1\n2 1 5\n2 2  1\n")

    collection = cranfield.load(tmp_path)

    assert collection.documents == {1: "wings .\n.W\nof birds"}
    assert [question.text for question in collection.questions] == ["first", "second\nline"]
    assert [dict(question.gains) for question in collection.questions] == [{1: 1, 2: 4}, {2: 4}]
    assert dict(collection.questions[0].without_source().gains) == {1: 1}


def test_questions_without_relevant_documents_are_excluded_from_the_mean() -> None:
    questions = [cranfield.Question("a", {1: 1}, None), cranfield.Question("b", {}, None)]

    measured = cranfield.measures([[2, 1], [1]], questions)

    assert {name: round(one.mean, 3) for name, one in measured.items()} == {
        "nDCG@10": 0.631,
        "recall@10": 1,
        "MRR": 0.5,
    }
