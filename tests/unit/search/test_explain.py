"""The explanation of a score: its parts are those of the score, and add up to it."""

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.analysis.known_terms import terms_of
from ingest.analysis.question import KeywordQuestion, read_question
from ingest.analysis.term_rows import TermRows
from ingest.analysis.terms import SEPARATOR, Terms
from ingest.search.bm25 import Candidates, Statistics, score
from ingest.search.explain import WordParts, words_of_chunks
from ingest.store.search.keyword_search import Ids, IndexedChunks

WORDS = ("heron", "pump", "kündigung", "kündigungsfrist", "getUserById", "user", "owl")


def indexed(*chunks: tuple[str, str, str]) -> IndexedChunks:
    """Chunks of a language with grams and without stems, by title, headings and text."""
    terms = [_terms(chunk) for chunk in chunks]
    return IndexedChunks(
        ids=Ids(b"".join(UUID(int=number).bytes for number in range(len(chunks)))),
        words=TermRows.of([words for words, _ in terms]),
        grams=TermRows.of([grams for _, grams in terms]),
    )


def _terms(chunk: tuple[str, str, str]) -> tuple[Terms, Terms]:
    gap = np.array([SEPARATOR], np.int32)
    fields = [terms_of(part, None) for part in chunk]
    words = [part for one in fields for part in (one.in_order, gap)]
    words += [one.spellings for one in fields]
    return np.concatenate(words), np.unique(np.concatenate([one.grams for one in fields]))


def asked(query: str) -> tuple[KeywordQuestion, Statistics]:
    question = read_question(query, [])
    found = [float(place) for place in range(1, len(question.words) + 1)]
    statistics = Statistics(
        chunks=100,
        usual_length=4,
        found=found,
        grams_found=[[7.0] * len(word.grams) for word in question.words],
    )
    return question, statistics


def explained(query: str, text: str, *, title: str = "", headings: str = "") -> WordParts:
    [parts] = words_of_chunks(*asked(query), indexed((title, headings, text))).values()
    return parts


texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(query=texts, chunks=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=4))
def test_the_parts_add_up_to_the_score(query: str, chunks: list[tuple[str, str, str]]) -> None:
    question, statistics = asked(query)
    candidates = indexed(*chunks)

    scores = score(Candidates(candidates.words, candidates.grams), question, statistics)
    parts = words_of_chunks(question, statistics, candidates)

    for id, score_of_chunk in zip(candidates.ids, scores.bm25, strict=True):
        words, pairs = parts[id]
        total = sum(word.bm25 + word.bm25_by_grams for word in words)
        assert total + sum(pair.bm25 for pair in pairs) == pytest.approx(score_of_chunk)
        assert all(word.bm25 + word.bm25_by_grams > 0 for word in words)


def test_words_are_counted_by_field() -> None:
    words, pairs = explained(
        "heron pump getUserById",
        "pump and pump of getUserById",
        title="pump",
        headings="heron pump",
    )

    by_word = {word.word: word for word in words}
    pump, heron, whole = by_word["pump"], by_word["heron"], by_word["getuserbyid"]
    assert (pump.title, pump.headings, pump.body, pump.other_spellings) == (1, 1, 2, 0)
    assert (heron.title, heron.headings, heron.body) == (0, 1, 0)
    assert (whole.body, whole.other_spellings) == (0, 1)
    assert (pump.chunks, heron.chunks) == (2, 1)
    assert heron.weight is not None
    assert pump.weight is not None
    assert heron.weight > pump.weight > 0
    assert (["heron", "pump"], 1) in [(pair.words, pair.times) for pair in pairs]


def test_the_grams_that_found_a_compound_are_named() -> None:
    words, _ = explained("kündigungen owl", "Kündigungsfrist")

    [word] = words
    assert (word.word, word.body, word.bm25) == ("kündigungen", 0, 0)
    assert word.bm25_by_grams > 0
    assert {"kund", "undi", "gung"} <= set(word.grams)
    assert "unge" not in word.grams


def test_a_word_as_short_as_a_gram_is_found_in_a_compound() -> None:
    [word], _ = explained("Arzt", "Facharzt")

    assert (word.word, word.grams) == ("arzt", ["arzt"])


def test_the_word_itself_needs_no_grams() -> None:
    [word], _ = explained("kündigung", "kündigung")

    assert word.bm25 > 0
    assert word.grams == []
