"""What a sample of an application's chunks says of the words of a question."""

import numpy as np

from ingest.analysis.question import read_question
from ingest.analysis.term_rows import TermRows
from ingest.analysis.terms import Terms, numbers
from ingest.search.statistics import WordStatistics, _Postings

QUESTION = read_question("owl heron teal", [])


def known(*texts: str, chunks: float) -> WordStatistics:
    rows: list[Terms] = [numbers(text.split()) for text in texts]
    return WordStatistics(
        chunks=chunks,
        usual_length=2,
        languages=[],
        sampled=len(texts),
        _words=_Postings.of(TermRows.of(rows)),
        _grams=_Postings.of(TermRows.of([np.empty(0, np.int32)] * len(texts))),
    )


def test_a_sample_stands_for_all_chunks() -> None:
    sample = known("owl by owl", "plover", "owl heron", "", chunks=4000)

    assert sample.of(QUESTION).found == [
        2000,
        1000,
        500,
    ]  # of the last: half of what one stands for
    assert sample.sampled_with(QUESTION).tolist() == [
        [True, False, True, False],
        [False, False, True, False],
        [False] * 4,
    ]


def test_few_chunks_are_counted_exactly() -> None:
    assert known("owl heron", "owl", chunks=2).of(QUESTION).found == [2, 1, 0]


def test_without_chunks_there_is_nothing() -> None:
    nothing = known(chunks=0)

    assert nothing.of(QUESTION).found == [0, 0, 0]
    assert nothing.sampled_with(QUESTION).shape == (3, 0)
    assert not nothing.has_grams
