"""BM25: its formula, fields, pairs, phrases and grams."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.analysis.term_rows import TermRows
from ingest.analysis.terms import SEPARATOR, Terms, forms, grams, numbers
from ingest.analysis.words import split
from ingest.search.bm25 import Candidates, Scores, Statistics, score, usual_length


def words(text: str, *, title: str = "", headings: str = "") -> Terms:
    gap = np.array([SEPARATOR], np.int32)
    fields = [numbers(forms(split(part).in_order, None)) for part in (title, headings, text)]
    return np.concatenate([fields[0], gap, fields[1], gap, fields[2], gap])


def scores(
    query: str,
    chunks: Sequence[Terms],
    *,
    own_grams: Sequence[Terms] | None = None,
    found: float = 1,
    length: float = 4,
    question: KeywordQuestion | None = None,
) -> Scores:
    question = question or read_question(query, [])
    rows = TermRows.of(own_grams or [np.empty(0, np.int32)] * len(chunks))
    statistics = Statistics(
        chunks=100,
        usual_length=length,
        found=[found] * len(question.words),
        grams_found=[[found] * len(word.grams) for word in question.words],
    )
    return score(Candidates(words=TermRows.of(chunks), grams=rows), question, statistics)


IDF = float(np.log(1 + (100 - 1 + 0.5) / (1 + 0.5)))
"""Of a word that one of a hundred chunks has."""


def saturated(times: float) -> float:
    """In a chunk of usual length."""
    return times * 2.5 / (times + 1.5)


def test_the_formula() -> None:
    [got] = scores("owl", [words("owl by owl night")]).bm25

    assert got == pytest.approx(IDF * saturated(2))


def test_a_long_chunk_scores_less() -> None:
    short, long = scores("owl", [words("owl by night"), words("owl" + " word" * 60)]).bm25

    assert short > 2 * long


def test_title_and_headings_count_more() -> None:
    title, heading, body, none = scores(
        "owl",
        [
            words("a b c d", title="owl"),
            words("a b c d", headings="owl"),
            words("owl b c d"),
            words("a b c d"),
        ],
    ).bm25

    assert title > heading > body > none == 0
    assert [title, heading] == pytest.approx([saturated(2) * IDF, saturated(1.5) * IDF])


def test_neighbours_count_as_a_pair_but_not_across_fields() -> None:
    near, apart, across = scores(
        "heron pump",
        [words("heron pump a b"), words("heron a pump b"), words("pump a b c", headings="heron")],
    ).bm25

    assert near - apart == pytest.approx(0.2 * (IDF + IDF))
    single = scores("pump", [words("pump a b c", headings="heron")]).bm25[0]
    other = scores("heron", [words("pump a b c", headings="heron")]).bm25[0]
    assert across == pytest.approx(single + other)


def test_phrases_and_exclusions() -> None:
    chunks = [words("red heron pump"), words("pump heron red"), words("heron pump x")]

    assert list(scores('"heron pump"', chunks).is_allowed) == [True, False, True]
    assert list(scores('"heron red" OR "pump x"', chunks).is_allowed) == [False, True, True]
    assert list(scores("pump -red", chunks).is_allowed) == [False, False, True]
    assert list(scores('pump -"heron red"', chunks).is_allowed) == [True, False, True]


def test_a_phrase_does_not_run_into_the_next_chunk() -> None:
    chunks = [words("red heron"), words("pump red")]

    assert not scores('"heron pump"', chunks).is_allowed.any()


def test_grams_find_a_compound_within_a_limit() -> None:
    compound = ["kündigungsfrist", "umsatz", "pause", "x"]
    own = [numbers(sorted(grams(compound, "de")))]
    chunk = [words(" ".join(compound))]

    [found] = scores("kündigung", chunk, own_grams=own).bm25
    [nothing] = scores("heron", chunk, own_grams=own).bm25
    [limited] = scores("kündigungsfristen", chunk, own_grams=own, found=0).bm25
    [once] = scores("owl", [words("owl a b c")], found=0).bm25

    assert nothing == 0
    assert found == pytest.approx(min(0.5 * 6 * IDF, 3 * IDF))
    assert limited <= 3 * once


def test_a_word_counts_more_than_its_grams_in_another_language() -> None:
    """English has no grams, and must not lose to a language that has them."""
    compound = "kündigungsfristen"
    own = [numbers([]), numbers(sorted(grams([compound], "de")))]

    whole, part = scores("kündigung", [words("kündigung x"), words(compound)], own_grams=own).bm25

    assert whole > part > 0


def test_a_light_word_counts_less_by_itself_in_pairs_and_by_grams() -> None:
    chunk = [words("bunte kündigung")]
    own = [numbers(sorted(grams(["kündigung"], "de")))]
    [whole] = scores("bunte kündigung", chunk, own_grams=own).bm25
    question = read_question("bunte kündigung", [])
    light = replace(question, words=[replace(word, weight=0.5) for word in question.words])

    [half] = scores("", chunk, own_grams=own, question=light).bm25

    assert half == pytest.approx(whole / 2)


def test_other_spellings_count_but_are_in_no_order() -> None:
    others = numbers(forms(["owl", "fox"], None))
    chunk = np.concatenate([words("a b c d"), others])

    [found] = scores("owl fox", [chunk]).bm25

    assert found == pytest.approx(2 * IDF)
    assert not scores('"owl fox"', [chunk]).is_allowed[0]
    assert scores('"owl"', [chunk]).is_allowed[0]


def test_a_word_that_all_chunks_have_still_counts_a_little() -> None:
    [got] = scores("owl", [words("owl a b c")], found=200).bm25

    assert got == pytest.approx(np.log(1 + 0.5 / 100.5))


def test_usual_length_is_of_the_text() -> None:
    assert usual_length(TermRows.of([words("a b", title="x y z"), words("a b c d")])) == 3
    assert usual_length(TermRows.of([])) == 1
