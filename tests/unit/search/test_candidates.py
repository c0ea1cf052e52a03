"""Which chunks are ranked: rare words alone, common ones together, compounds by their grams."""

from collections.abc import Mapping, Sequence

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.search.bm25 import Statistics
from ingest.search.candidates import conditions
from ingest.store.search.keyword_search import GramCondition, WordCondition


def wanted(
    query: str,
    found: Mapping[str, float],
    *,
    most: int = 100,
    with_grams: bool = False,
    languages: Sequence[str] = (),
) -> tuple[KeywordQuestion, list[WordCondition | GramCondition]]:
    """`found`: chunks with each word; others have 10,000."""
    question = read_question(query, languages)
    statistics = Statistics(
        chunks=100_000,
        usual_length=10,
        found=[found.get(word.text, 10_000) for word in question.words],
        grams_found=[[] for _ in question.words],
    )
    return question, list(conditions(question, statistics, most=most, with_grams=with_grams))


def texts(query: str, found: Mapping[str, float], *, most: int = 100) -> list[list[str]]:
    """The words of each condition."""
    question, made = wanted(query, found, most=most)
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
    assert texts("heron plover teal", {"heron": 5, "plover": 60, "teal": 35}) == [
        *(["heron"], ["teal"], ["plover"])
    ]
    assert texts("heron plover teal", {"heron": 5, "plover": 61, "teal": 35}) == [
        *(["heron"], ["teal"])
    ]


def test_common_words_select_together() -> None:
    assert texts("heron a b c d", {"heron": 5, "a": 1, "b": 300, "c": 200, "d": 400}) == [
        *(["a"], ["heron"]),
        *(["c", "b", "d"], ["c", "b"], ["c", "d"], ["b", "d"]),
    ]


def test_without_a_rare_word_the_rarest_also_selects_with_others() -> None:
    assert texts("pump oil", {"pump": 101, "oil": 500}) == [["pump"], ["pump", "oil"]]
    assert texts("pump oil", {"pump": 100, "oil": 500}) == [["pump"]]


def test_a_phrase_selects_by_its_rare_words_and_in_order() -> None:
    question, made = wanted('"to be or not" owl', {"to": 9, "be": 7, "or": 8, "owl": 1})

    [phrase] = made
    assert isinstance(phrase, WordCondition)
    names = {tuple(word.terms): word.text for word in question.words}
    assert [names[tuple(group)] for group in phrase.groups] == ["be", "or", "to"]
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
