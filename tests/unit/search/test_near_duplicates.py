"""Which chunks count as the same answer to a query."""

import pytest

from ingest.search.matched_text import MatchedText, key
from ingest.search.near_duplicates import ComparedText

FOOTER = (
    "\n\nThis message and its attachments are confidential and meant for the addressee only. Mails "
    "are kept as the retention policy of the company demands. If you got it by mistake, tell the "
    "sender and delete it without keeping a copy of it in any archive."
)


def is_same(first: str, second: str, query: str) -> bool:
    matched = MatchedText(query)
    pair = ComparedText(first, matched), ComparedText(second, matched)
    assert pair[0].is_same(pair[1]) == pair[1].is_same(pair[0])
    return pair[0].is_same(pair[1])


def test_equal_texts_are_the_same_whatever_their_spaces() -> None:
    assert is_same("a heron\neats  fish", "a heron eats fish", "owls")
    assert not is_same("a heron eats fish", "fish eats a heron", "owls")


def test_mails_with_one_footer_are_the_same_if_only_the_footer_answers() -> None:
    first, second = "Lunch is at noon on Monday." + FOOTER, "The printer has toner again." + FOOTER

    assert is_same(first, second, "what is the retention policy?")
    assert not is_same(first, second, "is there toner for the printer")
    # Small words of the question are everywhere.
    assert is_same(
        "What is on the list is what we need on Monday" + FOOTER,
        "Of our printers, one is out of toner since what happened" + FOOTER,
        "what is our policy on the retention of mails?",
    )
    signed = "\n-- \nMails are kept as the retention policy of the company demands."
    assert is_same("Lunch at noon" + signed, "The printer has toner" + signed, "retention policy")


def test_a_template_with_another_value_is_another_answer() -> None:
    work = "The cover is opened with the long key and laid on the felt mat. Old grease is wiped. "
    first = work + "The oil is changed every 200 hours. The log is signed by the foreman."
    second = work + "The oil is changed every 237 hours. The log is signed by the foreman."

    assert not is_same(first, second, "when is the oil changed")
    # No word in common: then what differs must not be a value.
    assert not is_same(first, second, "wann wird gewechselt")
    assert is_same(first, first.replace("foreman", "boss"), "wann wird gewechselt")


@pytest.mark.parametrize(
    ("first", "second"), [("heron 1", "heron 2"), ("", "heron"), ("", "x " * 50)]
)
def test_short_texts_are_the_same_only_if_equal(first: str, second: str) -> None:
    assert not is_same(first, second, "heron")


def test_a_text_much_longer_than_another_is_another() -> None:
    assert not is_same(
        FOOTER, FOOTER + " and much more of it" + " word".join(map(str, range(99))), "policy"
    )


@pytest.mark.parametrize(
    ("one", "other"), [("policy", "policies"), ("oil", "oils"), ("change", "changed")]
)
def test_forms_of_a_word_are_one(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("4711", "4712"), ("iso27001", "iso27002"), ("is", "it")]
)
def test_numbers_and_short_words_are_compared_whole(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_matched_terms_are_those_of_the_query_in_its_order() -> None:
    query = MatchedText("Which POLICIES govern 4711 in 東京?")

    assert query.terms("4711 is governed by the policy of 京") == [
        "policies",
        "govern",
        "4711",
        "京",
    ]
    assert MatchedText("?!").terms("anything") == []


def test_the_best_section_is_that_with_the_words_that_the_others_lack() -> None:
    texts = ["line number 4", "line number 5", "line number 6"]

    assert MatchedText("the line of number 5").best_section(texts, [["A"], ["B"], ["C"]]) == 1
    assert MatchedText("line in B").best_section(texts, [["A"], ["B"], ["C"]]) == 1
    assert MatchedText("nothing").best_section(texts, [["A"], ["B"], ["C"]]) == 0


def test_the_first_of_equal_texts_is_the_best_in_every_process() -> None:
    """Sums of the same weights in another order differ in the last bit."""
    for n in range(40):
        often, seldom, here, there = (f"{letter}{n}" for letter in "qwxy")
        texts = [f"{often} {seldom} {word}" for word in (here, there)]

        found = MatchedText(" ".join([often, seldom, here, there])).best_of(
            [*texts, *[often] * 4, *[seldom] * 2]
        )

        assert found == 0
