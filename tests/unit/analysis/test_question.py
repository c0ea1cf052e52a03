"""A question for the keyword search: words, pairs, phrases, what is excluded."""

from ingest.analysis.question import read_question
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
