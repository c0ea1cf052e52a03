"""The words of a chunk that are judged."""

import pytest

from ingest.search.quotes import best_quote, has_quote

TEXT = (
    "# Heron pump\n\nIt is blue and very old. Its oil is changed every 400 hours.\n\nNothing else."
)


@pytest.mark.parametrize(
    ("query", "quote"),
    [
        ("When is the oil changed?", "Its oil is changed every 400 hours."),
        # Not the heading, which other chunks have too.
        ("blue Heron pump", "It is blue and very old."),
        ("zebra", "Its oil is changed every 400 hours."),
    ],
)
def test_a_quote_is_the_sentence_that_answers(query: str, quote: str) -> None:
    assert best_quote(TEXT, query) == quote


def test_a_text_of_headings_only_has_a_quote_too() -> None:
    assert best_quote("# Heron\n\n# Pump", "pump") == "# Pump"
    assert best_quote("", "pump") == ""


def test_a_long_sentence_is_cut_between_words() -> None:
    quote = best_quote("oil and water " * 100, "oil")

    assert len(quote) <= 200
    assert quote.endswith(("oil", "and", "water"))
    assert best_quote("油" * 300, "油") == "油" * 300


@pytest.mark.parametrize("text", [TEXT, "油" * 300, "oil " * 200, "…", "a\nb"])
def test_a_text_has_its_quote(text: str) -> None:
    assert has_quote(text, best_quote(text, "oil 油"))


def test_a_quote_is_found_whatever_the_markup() -> None:
    assert has_quote("Its **oil**\nis _changed_!", "its oil is CHANGED")
    assert not has_quote("Its oil is changed", "oil is change")
