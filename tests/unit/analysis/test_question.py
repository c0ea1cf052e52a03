"""A question for the keyword search: words, pairs, phrases, what is excluded."""

import pytest

from ingest.analysis.question import KeywordQuestion, read_question
from ingest.analysis.terms import forms, numbers


def test_a_word_has_the_forms_of_all_languages() -> None:
    question = read_question("Pumpen", ["de", "en"])

    [word] = question.words
    wanted = {*forms(["pumpen"], None), *forms(["pumpen"], "de"), *forms(["pumpen"], "en")}
    assert set(word.terms) == set(numbers(wanted))


def test_words_that_follow_each_other_are_pairs() -> None:
    question = read_question("oil of the Heron pump, oil", [])

    assert [word.text for word in question.words] == ["oil", "of", "the", "heron", "pump"]
    assert question.pairs == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


def test_quotes_and_minus() -> None:
    question = read_question('"boundary layer" oil -filter -"red basin" e-mail "open', [])

    texts = [[word.text for word in phrase] for [phrase] in question.phrases]
    excluded = [[word.text for word in phrase] for phrase in question.excluded]
    assert texts == [["boundary", "layer"], ["open"]]
    assert excluded == [["filter"], ["red", "basin"]]
    assert [word.text for word in question.words] == [
        *("boundary", "layer", "oil", "e", "mail", "email", "open")
    ]


def test_or_joins_phrases() -> None:
    question = read_question('"a b" OR "c d" and "e"', [])

    groups = [[[word.text for word in phrase] for phrase in group] for group in question.phrases]
    assert groups == [[["a", "b"], ["c", "d"]], [["e"]]]
    assert [word.text for word in read_question("cats OR dogs", []).words] == ["cats", "or", "dogs"]
    assert [word.text for word in question.words] == ["a", "b", "c", "d", "and", "e"]


def test_grams_are_in_order_and_once() -> None:
    [word] = read_question("ananananas", []).words

    assert list(word.grams) == list(numbers(["#anan", "#nana", "#anas"]))


def test_endless_questions_are_cut() -> None:
    many = " ".join(f"w{n}x" for n in range(500))

    assert len(read_question(many, []).words) == 64


def weights(question: KeywordQuestion) -> dict[str, float]:
    return {word.text: word.weight for word in question.words}


def test_words_of_grammar_weigh_less() -> None:
    question = read_question("When is the oil changed?", ["en", "de"])

    assert weights(question) == {"when": 0.25, "is": 0.25, "the": 0.25, "oil": 1, "changed": 1}


@pytest.mark.parametrize("query", ["To be or not to be", "IT", "the who"])
def test_words_of_grammar_alone_weigh_as_others(query: str) -> None:
    assert set(weights(read_question(query, ["en"])).values()) == {1}


def test_grammar_is_that_of_the_language_with_most_of_the_words() -> None:
    """ "Die" and "war" are words of grammar in German."""
    question = read_question("what did the war die of", ["de", "en"])

    assert weights(question)["war"] == weights(question)["die"] == 1
    assert weights(read_question("war die Pumpe da", ["de", "en"]))["war"] < 1
    assert weights(read_question("war die Pumpe da", ["en"]))["war"] == 1


def test_characters_count_beside_their_pairs() -> None:
    """A word of one character is in other pairs there: 蜂 in 蜜蜂, but 蜂は in the question."""
    found = weights(read_question("蜂は何食う", ["ja"]))

    pairs = {"蜂は": 1, "は何": 1, "何食": 1, "食う": 1}
    assert found == {**pairs, "蜂": 0.3, "何": 0.3, "食": 0.3}
    assert weights(read_question("大学院生", ["ja"])) == {"大学": 1, "学院": 1, "院生": 1}


def test_endings_of_japanese_weigh_less() -> None:
    assert weights(read_question("点検ですか", ["ja"]))["です"] == 0.25


def test_a_short_word_has_a_gram_in_a_question() -> None:
    """To find it in compounds: "Arzt" in "Facharzt"."""
    [word] = read_question("Arzt", ["de"]).words

    assert list(word.grams) == list(numbers(["#arzt"]))
