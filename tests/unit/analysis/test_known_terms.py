"""Terms found by token are those of the whole text, word by word."""

from random import Random

import pytest

from ingest.analysis import known_terms
from ingest.analysis.folding import written_out
from ingest.analysis.known_terms import terms_of
from ingest.analysis.terms import forms, grams, numbers
from ingest.analysis.words import split

TEXTS = [
    "The pump's getUserById: pumps, Pumps and PUMPS; CVE-2024-12345, C++ or a/b/c.",
    "Über die Prüfung der Pumpen-Größe, prüfung's Übergröße; don’t.",
    "東京大学のPDF v2 犬 и насосы насосов été-là",
    "x" * 300 + " " + "part-" * 30 + "end",
    "",
]
LANGUAGES = ("en", "de", None, "en", "zh", "de", "ru")


def assert_terms_are_those_of_the_words(text: str, language: str | None) -> None:
    words = split(text)
    umlauts = [form for word in words.in_order if (form := written_out(word))]
    spellings = [*forms([*words.compounds, *umlauts], language), *words.characters]

    found = terms_of(text, language)

    assert list(found.in_order) == list(numbers(forms(words.in_order, language)))
    assert list(found.spellings) == list(numbers(spellings))
    assert list(found.grams) == list(numbers(sorted(grams(words.in_order, language))))
    assert found.in_order.dtype == found.spellings.dtype == found.grams.dtype == "int32"


@pytest.mark.parametrize("most_known", [0, 60, 300_000])
def test_terms_are_those_of_the_words_in_each_language(
    monkeypatch: pytest.MonkeyPatch, most_known: int
) -> None:
    """Also when tokens are known, and after they have been forgotten."""
    monkeypatch.setattr(known_terms, "_MOST_KNOWN", most_known)
    for language in LANGUAGES:
        for text in TEXTS:
            assert_terms_are_those_of_the_words(text, language)
            assert_terms_are_those_of_the_words(text, language)


def test_any_letters_and_connectors() -> None:
    letters = Random(7)
    for _ in range(2000):
        text = "".join(letters.choices("aBSs1é-_./&@+#'’ ßÜ東\n§", k=letters.randrange(1, 20)))
        assert_terms_are_those_of_the_words(text, letters.choice(LANGUAGES))


def test_tokens_are_forgotten_before_they_take_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_terms, "_MOST_KNOWN", 100)
    for index in range(50):
        terms_of(f"pump{index} x{index}", LANGUAGES[index % len(LANGUAGES)])

        known = known_terms._languages().values()
        kept = sum(len(token) for one in known for token in one._in_order)
        assert kept <= 100 + len("pump49x49")
