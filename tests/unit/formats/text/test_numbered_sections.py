"""Plain text whose titles count: standards, contracts and books."""

# ruff: noqa: RUF001  (Cyrillic letters)

import pytest

from ingest.formats.text.numbered_sections import with_sections

RFC = (
    "Status\n\n1.  Introduction\n\n   A rope that is not coiled tangles, and it has to be\n\n\n"
    "Knot                 Standards Track                [Page 1]\n\f\n"
    "RFC 9999             Rope Transfer              January 2024\n\n\n"
    "   untangled first.\n\n2.  Coils\n\n2.1.  Turns\n\n   They are round.\n\n"
    "Knot                 Standards Track                [Page 2]\n\f"
    "RFC 9999             Rope Transfer              January 2024\n\n3.  End\n\n   Bye.\n"
)


def headings(text: str) -> list[str]:
    return [line for line in with_sections(text).split("\n") if line.startswith("#")]


def test_sections_of_an_rfc_are_headings_and_its_pages_one_text() -> None:
    text = with_sections(RFC)

    assert headings(RFC) == ["# 1. Introduction", "# 2. Coils", "## 2.1. Turns", "# 3. End"]
    assert "it has to be\n   untangled first.\n" in text
    assert "[Page" not in text
    assert "January" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "§ 1 Mietsache\r\n\r\nEin Seil.\r\n\r\n§ 2 Miete\r\n\r\nZehn.\r\n\r\n"
            "§ 3 Ende\r\n\r\nNie.",
            ["# § 1 Mietsache", "# § 2 Miete", "# § 3 Ende"],
        ),
        (
            "1 What is it?\n\nA rope.\n\n2 Why?\n\nTo pull.\n\n3 Who?\n\nAda.\n",
            ["# 1 What is it?", "# 2 Why?", "# 3 Who?"],
        ),
        (
            "ROPES\n\nBOOK I\n\nCHAPTER I\n\nCHAPTER II\n\nCHAPTER III\n\n"
            "BOOK ONE\n\nCHAPTER I.\n\nIt was dark.\n\nCHAPTER II.\nThe knot\n\n"
            "It was tied.\n\nBOOK II\n\nChapter 3: End\n\nBye.\n",
            [
                "# BOOK ONE",
                "## CHAPTER I.",
                "## CHAPTER II.",
                "# BOOK II",
                "## Chapter 3: End",
            ],
        ),
        (
            "Глава 1\n\nТемно.\n\nГлава 2\n\nСветло.\n\nГлава 3\n\nКонец.\n",
            ["# Глава 1", "# Глава 2", "# Глава 3"],
        ),
        # no sections: lists, missing numbers, sentences, tables of contents, versions
        ("1. Coil it\n\n2. Tie it\n\n3. Go home\n", []),
        ("1. Coil\n\nx\n\n3. Tie\n\nx\n\n4. Go\n\nx\n", []),
        ("2. Coil\n\nx\n\n3. Tie\n\nx\n\n4. Go\n\nx\n", []),
        ("1. Coil it.\n\nx\n\n2. Tie it.\n\nx\n\n3. Go home.\n\nx\n", []),
        ("1. Coils\n2. Turns\n3. Ends\n", []),
        ("1.2 Fixes\n\nx\n\n1.1 Fixes\n\nx\n\n1.0 First\n\nx\n", []),
        ("Chapter 3 of it says so.\n\nCHAPTER I\n\nx\n\nCHAPTER II\n\nx\n", []),
        ("10 ropes\n\nx\n\n20 knots\n\nx\n\n30 ends\n\nx\n", []),
    ],
)
def test_only_numbers_that_follow_one_another_make_sections(text: str, expected: list[str]) -> None:
    for start in ("", "Ropes\n\n"):
        assert headings(start + text) == expected
        if not expected:
            assert with_sections(start + text) == start + text


def test_text_at_the_start_of_a_page_stays_if_pages_begin_differently() -> None:
    text = "".join(f"A rope.\n\n[Page {at}]\n\fKnot {at} holds.\n\nBye.\n" for at in range(1, 4))

    assert with_sections(text) == text


def test_a_list_of_steps_in_a_longer_text_makes_no_sections() -> None:
    steps = "1. Coil it\n\nx\n\n2. Tie it\n\nx\n\n3. Go home\n\nx\n\n"
    other = "A rope.\n\n" * 20

    for text in (other + steps, steps + other, steps.replace("2. Tie it", "2. Tie it so:")):
        assert with_sections(text) == text
    assert headings("A rope.\n\n" + steps) == ["# 1. Coil it", "# 2. Tie it", "# 3. Go home"]


def test_heads_of_pages_that_repeat_a_title_are_no_chapters() -> None:
    text = "\f".join(f"\nChapter {at // 3 + 1}: Knots {at}\n\nThe rope\n" for at in range(9))

    assert headings(text) == [
        "# Chapter 1: Knots 0",
        "# Chapter 2: Knots 3",
        "# Chapter 3: Knots 6",
    ]


def test_titles_of_two_lines_in_a_table_of_contents_are_no_chapters() -> None:
    contents = "CHAPTER 1. Coils\n\nCHAPTER 2. Knots,\nand Turns\n\nCHAPTER 3. Ends\n\n"
    chapters = [
        f"CHAPTER {number}. {name}" for number, name in enumerate(("Coils", "Knots", "Ends"), 1)
    ]
    text = f"{contents}A word before.\n\n" + "".join(
        f"{title}\n\nIt was.\n\n" for title in chapters
    )

    assert headings(text) == [f"# {title}" for title in chapters]


def test_numbered_references_to_sections_are_no_chapters() -> None:
    text = "".join(f"Section {number}.1\n\nx\n\n" for number in range(1, 5))

    assert with_sections(text) == text


@pytest.mark.parametrize("number", ["THREE", "III.", "3"])
def test_chapters_count_in_words_and_numerals(number: str) -> None:
    text = f"CHAPTER I\n\nx\n\nCHAPTER II\n\nx\n\nCHAPTER {number}\n\nx\n"

    assert headings(text)[-1] == f"# CHAPTER {number}"


@pytest.mark.parametrize(
    "piece",
    ["\n", "1. A:\n\nx\n\n", "[Page 1]\n\f\n\n", "chapter\n\n", "§ " * 9, "\n\n1 " + " " * 200],
)
def test_long_texts_of_what_is_looked_for_stay_as_they_are(piece: str) -> None:
    text = "1. A\n" + piece * (400_000 // len(piece))

    assert with_sections(text) == text
