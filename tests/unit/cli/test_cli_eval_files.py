"""Test collections are read in the forms in which they are published."""

from pathlib import Path

import pytest

from api.cli.evaluation.collection_files import Record, read_records
from api.cli.evaluation.qrels import Grades, read_qrels
from api.cli.evaluation.questions import load_questions
from api.cli.output import CommandError
from ingest.search.evaluation.measures import RESAMPLES, bootstrap, ndcg, reciprocal_rank

TREC = (
    "<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>A &amp; B</HEADLINE>\n<TEXT>\nsome <P>words\n"
    "</TEXT>\n</DOC>\n<DOC><DOCNO>2</DOCNO>no fields</DOC>"
)
TOPICS = (
    "<top>\n<num> Number: 301\n<title> Topic: Organized\ncrime\n<desc> Description:\nlong\n</top>\n"
    "<top><num>302</num><desc>only this</desc></top>"
)
LISA = (
    "Document   1\nTHE TITLE\nGOES ON\n \nTHE TEXT\nENDS.\n" + "*" * 44 + "\nDocument   2\nALONE\n"
)

RECORDS = {
    "smart": (
        ".I 1\n.T\nOn\nthings\n.A\nsomebody\n.W\nThe text\n.X\n1\t5\t1\n.I 2\n.W\nMore\n",
        [Record("1", "The text", "On things"), Record("2", "More")],
    ),
    "trec": (TREC, [Record("FT911-3", "some  words", "A & B"), Record("2", "no fields")]),
    "topics": (TOPICS, [Record("301", "Organized crime"), Record("302", "only this")]),
    "beir": (
        '{"_id": "d1", "title": "T", "text": "x"}\n{"id": 2, "query": "y"}\n',
        [Record("d1", "x", "T"), Record("2", "y")],
    ),
    "time documents": (
        "*TEXT 017 01/04/63 PAGE 020\n\nTHE ALLIES\n*TEXT 020 01/04/63 PAGE 021\nROAD\n*STOP\n",
        [Record("1", "THE ALLIES"), Record("2", "ROAD")],
    ),
    "time queries": ("*FIND     7\n\n KENNEDY\n ADMIN\n*STOP\n", [Record("7", "KENNEDY ADMIN")]),
    "lisa documents": (
        LISA,
        [Record("1", "THE TEXT\nENDS.", "THE TITLE GOES ON"), Record("2", "", "ALONE")],
    ),
    "lisa queries": (
        "1\nI AM\nINTERESTED #\n2\nOTHERS #\n",
        [Record("1", "I AM INTERESTED"), Record("2", "OTHERS")],
    ),
    "npl": (
        "1\ncompact\nmemories\n   /\n2\nand others\n   /\n",
        [Record("1", "compact memories"), Record("2", "and others")],
    ),
    "tsv": ("007\tbond\nx\ty z\n", [Record("7", "bond"), Record("x", "y z")]),
}

QRELS: dict[str, tuple[str, Grades, dict[str, dict[str, float]]]] = {
    "trec": ("1 0 FT911-3 2\n1 Q0 b -1\n", "auto", {"1": {"FT911-3": 2, "b": -1}}),
    "beir": ("query-id\tcorpus-id\tscore\nq\td\t1\n", "auto", {"q": {"d": 1}}),
    "cranfield": (
        "1 5 1\n1 6 -1\n2 7 4\n2 8 5\n",
        "auto",
        {"1": {"5": 4, "6": 4}, "2": {"7": 1, "8": 0}},
    ),
    "cranfield in the columns of trec": (
        "1 0 5 1\n1 0 6 3\n",
        "cranfield",
        {"1": {"5": 4, "6": 2}},
    ),
    "cisi": ("  1   28 0 0.000000\n  1   35 0 0.000000\n", "auto", {"1": {"28": 1, "35": 1}}),
    "cacm": ("01 1410  0 0\n02 2434  0 0\n", "auto", {"1": {"1410": 1}, "2": {"2434": 1}}),
    "med": ("1 0 13 1\n1 0 14 1\n", "auto", {"1": {"13": 1, "14": 1}}),
    "time": ("1 268 288\n\n2 326\n", "auto", {"1": {"268": 1, "288": 1}, "2": {"326": 1}}),
    "lisa": ("Query 1\n2 Relevant Refs:\n3392\n3396 -1\n", "auto", {"1": {"3392": 1, "3396": 1}}),
    "npl": ("1\n 12 14\n 16\n   /\n2\n 18 /\n   /\n", "auto", {"1": {"12": 1, "14": 1, "16": 1}}),
}


@pytest.mark.parametrize(("text", "records"), RECORDS.values(), ids=RECORDS)
def test_documents_and_queries_are_read(text: str, records: list[Record], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(text)

    assert read_records(file) == records


@pytest.mark.parametrize(("text", "grades", "judgements"), QRELS.values(), ids=QRELS)
def test_judgements_are_read(
    text: str, grades: Grades, judgements: dict[str, dict[str, float]], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text(text.replace(" 18 /\n", ""))

    found = read_qrels(file, grades)

    assert {query: found[query] for query in judgements} == judgements


def test_a_line_of_the_text_that_looks_like_a_field_stays_in_the_text(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(".I 1\n.W\nwings .\n.W\nof birds\n")

    assert read_records(file) == [Record("1", "wings .\n.W\nof birds")]


def test_a_title_is_not_repeated_where_the_text_begins_with_it() -> None:
    assert Record("1", "the wing .\n  of it", "the wing").full_text == "the wing .\n  of it"
    assert Record("1", "a text", "the wing").full_text == "the wing\n\na text"
    assert Record("1", "", "alone").full_text == "alone"


@pytest.mark.parametrize("text", ["", "nothing like it", "\x00\xff"])
def test_an_unknown_form_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(text)

    with pytest.raises(CommandError, match="neither"):
        read_records(file)
    with pytest.raises(CommandError):
        read_qrels(file)


def test_queries_are_named_by_their_place_where_judgements_do_so(tmp_path: Path) -> None:
    queries, qrels = tmp_path / "queries", tmp_path / "qrels"
    queries.write_text(".I 001\n.W\nfirst\n.I 004\n.W\nsecond\n")
    qrels.write_text("1 5 1\n2 6 -1\n")

    found = load_questions(qrels, queries)

    assert [(one.text, one.targets[0].document) for one in found.questions] == [
        ("first", "5"),
        ("second", "6"),
    ]


def test_a_perfect_ranking_has_the_gain_one_and_a_later_answer_less() -> None:
    assert ndcg([4, 1, 0], [1, 4]) == pytest.approx(1)
    assert 0 < ndcg([0, 1, 4], [4, 1]) < ndcg([1, 4, 0], [4, 1]) < 1
    assert ndcg([*[0] * 10, 4], [4]) == 0
    assert reciprocal_rank([0, 2]) == 0.5


def test_intervals_contain_the_mean_and_are_the_same_every_time() -> None:
    values = [0.0] * 30 + [1.0] * 20

    found = bootstrap({"a": values, "constant": [0.5] * 50})

    assert found["a"].low < found["a"].mean == 0.4 < found["a"].high
    # Near the normal approximation, 0.4 ± 1.96 · sqrt(0.24 / 50).
    assert found["a"].high - found["a"].low == pytest.approx(0.27, abs=0.03)
    assert found["constant"] == (0.5, 0.5, 0.5)
    assert bootstrap({"a": values, "constant": [0.5] * 50}) == found
    assert RESAMPLES >= 1000
