"""Where chunks stand on pages: on generated files with known places, and rules of the search."""

import random

import pytest

from ingest.chunking.alignment import NOT_FOUND, align, fold
from ingest.chunking.places import locate, spread
from ingest.page_words import Word
from tests import chunk_places
from tests.chunk_places import Case


@pytest.mark.parametrize("name", chunk_places.text_cases())
def test_chunks_of_pages_with_text_are_found(name: str) -> None:
    found = chunk_places.overlaps(chunk_places.text_cases()[name])

    assert sum(iou >= 0.5 for iou in found) >= 0.95 * len(found) > 2, found


@pytest.fixture(scope="module")
def scans() -> dict[str, Case]:
    return chunk_places.ocr_cases()


@pytest.mark.parametrize("name", ["skewed scan", "scan on its side"])
def test_chunks_of_recognised_pages_are_found(scans: dict[str, Case], name: str) -> None:
    found = chunk_places.overlaps(scans[name])

    assert sum(iou >= 0.5 for iou in found) >= 0.9 * len(found) > 1, found


def matched(text: str, page: str) -> str:
    """The letters of the page that were found for the text, in the text's order; `_` for none."""
    mine, theirs = fold(text), fold(page)
    found = align(mine.letters, theirs.letters)
    return "".join("_" if at == NOT_FOUND else theirs.letters[at] for at in found)


def test_only_letters_and_digits_count() -> None:
    page = "The quick-\nest   ﬁsh “swims”\r\n— 42 times"

    assert matched("The **quickest** fish swims 42 times", page) == "thequickestfishswims42times"


def test_what_one_side_lacks_is_left_out() -> None:
    page = "Header of each page. The text goes on and on. Page 7"

    assert matched("The text goes # on and on. A note!", page) == "thetextgoesonandon_____"


def test_blocks_in_another_order_are_found() -> None:
    writer = random.Random(3)
    blocks = [" ".join(str(writer.randrange(10**6)) for _ in range(9)) for _ in range(30)]
    shuffled = writer.sample(blocks, len(blocks))

    text = " ".join(blocks)
    found = matched(text, " ".join(shuffled))

    pairs = list(zip(found, fold(text).letters, strict=True))
    assert all(mine in ("_", theirs) for mine, theirs in pairs)
    assert found.count("_") < 0.05 * len(found)  # the ends of blocks


def test_of_equal_texts_the_one_in_order_is_found() -> None:
    same = "the same words again"
    text = f"first {same} second {same} third"
    mine = fold(text)

    assert align(mine.letters, mine.letters) == list(range(len(mine.letters)))


def test_boxes_of_a_line_are_joined_and_lines_are_not() -> None:
    page = [
        Word("one", (0.1, 0.1, 0.2, 0.12)),
        Word("two", (0.21, 0.1, 0.3, 0.12)),
        Word("three", (0.1, 0.13, 0.2, 0.15)),
    ]
    text, boxes = spread(page)

    [found] = locate("one two three", [(0, 13)], text, boxes, most=9)

    assert [[round(side, 3) for side in box] for box in found] == [
        [0.1, 0.1, 0.3, 0.12],
        [0.1, 0.13, 0.2, 0.15],
    ]
    [one] = locate("one two three", [(0, 13)], text, boxes, most=1)
    assert [[round(side, 3) for side in box] for box in one] == [[0.1, 0.1, 0.3, 0.15]]


def test_a_part_of_a_word_has_its_part_of_the_box() -> None:
    text, boxes = spread([Word("abcdefghij", (0.0, 0.0, 1.0, 0.1))])

    [[box]] = locate("abcdefghij", [(5, 10)], text, boxes, most=9)

    assert [round(side, 3) for side in box] == [0.5, 0.0, 1.0, 0.1]


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("a" * 20_000, "a" * 30_000),
        ("ab" * 20_000, "ba" * 20_000),
        ("".join(map(chr, range(0x4E00, 0x9FFF))), "".join(map(chr, range(0x9FFE, 0x4DFF, -1)))),
        ("x", ""),
        ("", "x"),
    ],
)
def test_hostile_texts_take_no_long_time(text: str, page: str) -> None:
    """A quadratic search would take minutes, and the suite would hang."""
    assert len(align(text, page)) == len(text)
