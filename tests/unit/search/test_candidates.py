"""Which chunks are ranked: rare words alone, common ones together, compounds by their grams."""

from collections.abc import Mapping, Sequence

import numpy as np

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.search.bm25 import Statistics
from ingest.search.candidates import conditions
from ingest.store.search.keyword_search import GramCondition, WordCondition


def wanted(
    query: str,
    found: Mapping[str, float],
    *,
    most: int = 100,
    together: Sequence[str] = (),
    with_grams: bool = False,
    languages: Sequence[str] = (),
) -> tuple[KeywordQuestion, list[WordCondition | GramCondition]]:
    """`found`: chunks with each word; others have 10,000. `together`: words of sampled chunks."""
    question = read_question(query, languages)
    sampled = [[word.text in chunk.split() for chunk in together] for word in question.words]
    statistics = Statistics(
        chunks=100_000,
        usual_length=10,
        found=[found.get(word.text, 10_000) for word in question.words],
        grams_found=[[] for _ in question.words],
    )
    has = np.array(sampled, np.bool_).reshape(len(question.words), len(together))
    made = conditions(question, statistics, has, most=most, with_grams=with_grams)
    return question, list(made)


def texts(
    query: str, found: Mapping[str, float], *, together: Sequence[str] = ()
) -> list[list[str]]:
    """The words of each condition."""
    question, made = wanted(query, found, together=together)
    names = {tuple(word.terms): word.text for word in question.words}
    return [
        [names[tuple(group)] for group in one.groups]
        for one in made
        if isinstance(one, WordCondition)
    ]


def grams(
    query: str, found: Mapping[str, float], languages: Sequence[str] = ()
) -> list[Sequence[int]]:
    _, made = wanted(query, found, with_grams=True, languages=languages)
    return [list(one.grams) for one in made if isinstance(one, GramCondition)]


def test_rare_words_select_alone_as_long_as_they_bring_few() -> None:
    # Half of what is ranked: 50 chunks.
    assert texts("heron plover teal", {"heron": 5, "teal": 45, "plover": 500}) == [
        *(["heron"], ["teal"], ["plover"])
    ]
    assert texts("heron plover teal", {"heron": 5, "teal": 46, "plover": 500}) == [
        *(["heron"], ["teal", "plover"], ["teal"], ["plover"])
    ]


def test_common_words_select_together_the_heaviest_set_first() -> None:
    assert texts("heron b c d", {"heron": 5, "b": 300, "c": 200, "d": 400}) == [
        ["heron"],
        *(["c", "b"], ["c", "d"], ["b", "d"], ["c"], ["b"], ["d"]),
    ]


def test_more_than_two_select_together_if_the_sample_has_them_together() -> None:
    found = {"b": 300, "c": 200, "d": 400}
    first = ["c", "b", "d"]

    assert texts("b c d", found, together=["b c", "d", "c d"])[0] == ["c", "b"]
    assert texts("b c d", found, together=["b c", "d c b"])[0] == first


def test_among_few_chunks_two_conditions_are_enough() -> None:
    question = read_question("a b c", [])
    statistics = Statistics(
        chunks=9000, usual_length=9, found=[90, 9, 900], grams_found=[[] for _ in question.words]
    )
    a, b, c = (word.terms.tolist() for word in question.words)

    made = list(
        conditions(
            question,
            statistics,
            np.zeros((3, 0), np.bool_),
            most=100,
            with_grams=False,
            among_few=True,
        )
    )

    groups = [
        [group.tolist() for group in one.groups] for one in made if isinstance(one, WordCondition)
    ]
    assert groups == [[b, a + c], [b + a + c]]


def test_every_word_selects_alone_in_the_end() -> None:
    words = "a b c d e f"

    last = texts(words, {word: 1000 + ord(word) for word in words.split()})[-2:]

    assert last == [["e"], ["f"]]


def test_a_phrase_selects_by_its_rare_words_and_in_order() -> None:
    question, made = wanted('"to be or not" owl', {"to": 9, "be": 7, "or": 8, "owl": 1})

    [phrase] = made
    assert isinstance(phrase, WordCondition)
    names = {tuple(word.terms): word.text for word in question.words}
    assert [names[tuple(group)] for group in phrase.groups] == ["be", "or", "to", "not"]
    assert [names[tuple(group)] for group in phrase.phrase] == ["to", "be", "or", "not"]


def test_of_alternative_phrases_each_selects_and_one_word_needs_no_order() -> None:
    _, made = wanted('"heron" OR "pump oil" "x"', {})

    orders = [len(one.phrase) for one in made if isinstance(one, WordCondition)]
    assert orders == [0, 2]


def test_neighbouring_grams_cover_the_word() -> None:
    [word] = read_question("kündigungsfrist", []).words
    found = grams("kündigungsfrist", {})

    assert [len(one) for one in found] == [3] * 4
    assert found[0] == list(word.grams[:3])
    assert found[-1] == list(word.grams[-3:])
    assert [len(one) for one in grams("pumpen", {})] == [2, 2]
    assert {len(one) for one in grams("dichtung", {})} == {2}  # five grams
    assert {len(one) for one in grams("dichtungs", {})} == {3}
    assert [len(one) for one in grams("arzt", {})] == [1]
    assert grams("owl", {}) == []
    assert len(wanted("dichtung", {}, with_grams=False)[1]) == 1


def test_only_the_rarest_words_are_looked_for_by_grams() -> None:
    long = [f"wort{chr(97 + n)}" for n in range(10)]
    found = grams(" ".join(long), {word: n for n, word in enumerate(long)})

    last = list(read_question(long[-1], []).words[0].grams)
    assert found[0] == list(read_question(long[0], []).words[0].grams)
    assert last not in found


def test_words_of_grammar_are_not_looked_for_by_grams() -> None:
    assert grams("warum pumpe", {}, ["de"]) == grams("pumpe", {}, ["de"])


def test_no_words_no_conditions() -> None:
    assert wanted("?!", {})[1] == []
