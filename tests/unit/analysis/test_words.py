"""Words of a text: identifiers with their parts, scripts without spaces, other spellings."""

from random import Random

import pytest

from ingest.analysis.folding import normalised, without_marks, written_out
from ingest.analysis.terms import forms, grams_of
from ingest.analysis.words import split


@pytest.mark.parametrize(
    ("text", "in_order", "compounds"),
    [
        ("The oil is changed", ["the", "oil", "is", "changed"], []),
        ("getUserById", ["get", "user", "by", "id"], ["getuserbyid"]),
        ("HTTPServer", ["http", "server"], ["httpserver"]),
        ("get_user_by_id", ["get", "user", "by", "id"], ["getuserbyid"]),
        ("CVE-2024-12345", ["cve", "2024", "12345"], ["cve2024.12345"]),
        ("1.23 or 12.3", ["1", "23", "or", "12", "3"], ["1.23", "12.3"]),
        ("AT&T", ["at", "t"], ["att"]),
        ("C++ and C#", ["c", "and", "c"], ["c++", "c#"]),
        ("the doctor's note", ["the", "doctor", "note"], []),
        ("ISO27001", ["iso", "27001"], ["iso27001"]),
        ("e-mail", ["e", "mail"], ["email"]),
        ("end. Start", ["end", "start"], []),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"], []),
        ("", [], []),
    ],
)
def test_words_and_compounds(text: str, in_order: list[str], compounds: list[str]) -> None:
    found = split(text)

    assert (found.in_order, found.compounds) == (in_order, compounds)


def test_unspaced_scripts_become_pairs_and_characters() -> None:
    found = split("PDFを読む 犬")

    assert found.in_order == ["pdf", "を読", "読む", "犬"]
    assert found.characters == ["を", "読", "む"]


def test_long_runs_are_cut() -> None:
    assert split("x" * 5000).in_order == ["x" * 64]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＡＢＣ", "ABC"),
        ("ｺﾝ", "コン"),
        ("ﬁle", "file"),
        ("Straße", "Strasse"),
        ("漢語", "汉语"),
        ("が", "が"),
    ],
)
def test_texts_are_normalised(text: str, folded: str) -> None:
    assert normalised(text) == folded


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("café", "cafe"),
        ("ёлка", "елка"),
        ("øl", "ol"),
        ("كَتَبَ", "كتب"),
        ("أحمد", "احمد"),
        ("שָׁלוֹם", "שלום"),
        ("が", "が"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_marks_that_readers_leave_out_are_removed(word: str, bare: str) -> None:
    assert without_marks(word) == bare


def test_umlauts_are_written_out() -> None:
    assert [written_out(word) for word in ("prüfung", "smörgås", "café")] == [
        "pruefung",
        "smoergaas",
        None,
    ]


def test_stems_are_of_their_language() -> None:
    assert forms(["pumps", "4711", "über"], "en") == ["pump:en", "4711", "uber:en"]
    assert forms(["kündigungen"], "de") == forms(["kündigung"], "de")
    assert forms(["pumps"], None) == forms(["pumps"], "zh") == ["pumps"]


def test_grams_of_long_words_only() -> None:
    assert grams_of("prüfen") == [
        *("#pruf", "#rufe", "#ufen"),
        *("#prue", "#ruef", "#uefe", "#efen"),
    ]
    assert grams_of("pumpe") == ["#pump", "#umpe"]
    assert grams_of("pump") == grams_of("4711471147") == grams_of("東京大学東京") == []


def test_words_with_vowel_signs_are_words() -> None:
    """Of Arabic and Hindi: they are no letters to Python."""
    assert forms(["المصعدَ"], "ar") == forms(["المصعد"], "ar") != ["المصعد"]
    assert forms(["किताबें"], "hi") == forms(["किताब"], "hi")
    assert grams_of("مُهَنْدِس") == ["#مهند", "#هندس"]


def test_a_latin_text_has_the_words_that_it_has_beside_other_scripts() -> None:
    letters = Random(4)
    for _ in range(5000):
        text = "".join(letters.choices("aB1é-_./&@+#'’=~ ßŁ\n€§“…", k=letters.randrange(1, 14)))
        assert split(text) == split(f"{text} ☃")  # no word, nor Latin
