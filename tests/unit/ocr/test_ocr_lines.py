"""Recognised lines become text, or nothing where they are noise."""

import pytest

from ingest.page_words import Word
from ingest.providers.ocr.lines import OcrLine, cells, close_gaps, compose


def line(text: str, *, confidence: float = 95, right: float = 100, cells: int = 1) -> OcrLine:
    return OcrLine(
        text=text, confidence=confidence, left=0, top=0, right=right, bottom=10, cells=cells
    )


def test_lines_that_fill_their_paragraph_are_joined_and_paragraphs_are_apart() -> None:
    text = compose([[line("We arrived in the"), line("dead of night.")], [line("The end.")]])

    assert text == "We arrived in the dead of night.\n\nThe end."


def test_short_lines_are_not_joined() -> None:
    text = compose([[line("John Doe", right=30), line("123 Main St", right=45), line("Anytown")]])

    assert text == "John Doe\n123 Main St\nAnytown"


def test_table_rows_are_not_joined() -> None:
    text = compose([[line("Pulse 78", cells=2), line("Fever none", cells=2), line("All is well")]])

    assert text == "Pulse 78\nFever none\nAll is well"


@pytest.mark.parametrize("mark", ["•", "-", "12.", "(3)"])
def test_list_items_are_not_joined(mark: str) -> None:
    assert compose([[line("It can:"), line(f"{mark} read")]]) == f"It can:\n{mark} read"


def test_a_word_divided_at_the_end_of_a_line_is_mended() -> None:
    assert compose([[line("a recog-"), line("nised word")]]) == "a recognised word"


def test_hyphen_before_a_name_or_a_number_is_kept() -> None:
    assert compose([[line("Jean-"), line("Paul")]]) == "Jean- Paul"
    assert compose([[line("pages 1-"), line("2 of it")]]) == "pages 1- 2 of it"


def test_scripts_without_spaces_are_joined_without_spaces() -> None:
    assert compose([[line("新鲜甘草"), line("黄酮养分")]]) == "新鲜甘草黄酮养分"
    assert close_gaps("希望 美白 的 皮肤 and 안녕 하세요") == "希望美白的皮肤 and 안녕 하세요"


@pytest.mark.parametrize(
    "noise",
    [
        line("|_ .: ~", confidence=90),
        line("quite readable words", confidence=20),
        line("a", confidence=60),
        line("=+% ab -- ;;", confidence=60),
    ],
)
def test_noise_between_lines_is_dropped(noise: OcrLine) -> None:
    assert (
        compose([[line("Dear Sir,", right=50)], [noise], [line("Yours")]]) == "Dear Sir,\n\nYours"
    )


@pytest.mark.parametrize("short", ["7", "OK", "第"])
def test_short_lines_of_which_the_engine_is_sure_are_kept(short: str) -> None:
    assert compose([[line("Page", right=50)], [line(short)]]) == f"Page\n\n{short}"


@pytest.mark.parametrize("spot", ["L", "7", "第", "- I"])
def test_one_letter_in_a_whole_picture_is_noise(spot: str) -> None:
    assert compose([[line(spot)]]) == ""


def test_page_of_uncertain_words_has_no_text() -> None:
    assert compose([[line("vhs nne oa", confidence=35)], [line("yoiw et", confidence=38)]]) == ""
    assert compose([]) == ""


def test_line_is_split_at_wide_gaps() -> None:
    assert cells([(0, 40), (44, 80)], height=10) == 1
    assert cells([(0, 40), (60, 80), (110, 140)], height=10) == 3


def test_scraps_of_a_page_in_another_script_are_no_text() -> None:
    """RapidOCR is sure of the few letters of a Russian page that look Latin."""
    scraps = [[line("ak n", confidence=92, right=900)], [line("K ca a", confidence=91, right=900)]]

    assert compose(scraps) == ""


@pytest.mark.parametrize(
    "text",
    [
        "ALIUU U4IUU CG4 CUCE LALIUE UCAU GIOC IUIX 40t4 ixAL Lx 4CI uauuu a1C bLIU4 atCt U4at",
        "η n u η n η n η n η n η n",
    ],
)
def test_letters_seen_in_another_script_are_no_text(text: str) -> None:  # Hebrew, Armenian
    assert compose([[line(text, confidence=72)]]) == ""
    assert compose([[line(text, confidence=90)]]) == text  # part numbers, a matrix


def test_lines_that_were_found_but_not_read_make_the_rest_doubtful() -> None:
    assert compose([[line("Page 3")], *([line("", right=900)] for _ in range(20))]) == ""


def test_a_few_good_lines_among_noise_are_scraps() -> None:
    noise = [[line("DOHAMU VU BCTYyNaeT", confidence=29)] for _ in range(4)]

    assert compose([[line("B CUNY C MOMeHTa", confidence=55)], *noise]) == ""


def test_words_far_apart_are_no_scraps() -> None:
    words = [Word("Total", (0, 0, 0.05, 0.01)), Word("12.00", (0.9, 0, 0.95, 0.01))]
    row = OcrLine(
        text="Total 12.00", confidence=95, left=0, top=0, right=950, bottom=20, words=tuple(words)
    )

    assert compose([[row]]) == "Total 12.00"
