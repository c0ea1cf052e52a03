"""Reading order of lines that were found anywhere on a page."""

from ingest.providers.ocr.layout import ordered, turned
from ingest.providers.ocr.lines import OcrLine


def line(text: str, left: float, top: float, *, width: float = 300, height: float = 20) -> OcrLine:
    return OcrLine(
        text=text, confidence=90, left=left, top=top, right=left + width, bottom=top + height
    )


def column(name: str, left: float, *, rows: int = 4, top: float = 100) -> list[OcrLine]:
    return [line(f"{name} line of prose {row}", left, top + 25 * row) for row in range(rows)]


def texts(lines: list[OcrLine]) -> list[list[str]]:
    return [[row.text for row in paragraph] for paragraph in ordered(lines)]


def test_columns_are_read_one_after_the_other() -> None:
    found = texts(column("left", 0) + column("right", 320))

    assert found == [
        [f"left line of prose {row}" for row in range(4)],
        [f"right line of prose {row}" for row in range(4)],
    ]


def test_a_heading_across_columns_stands_before_them_and_a_footer_after_them() -> None:
    lines = [line("foot", 0, 400, width=700), *column("right", 320), *column("left", 0)]
    lines.append(line("head", 0, 50, width=700))

    found = texts(lines)

    assert [paragraph[0] for paragraph in found] == [
        "head", "left line of prose 0", "right line of prose 0", "foot",
    ]  # fmt: skip


def test_three_columns_are_found_although_their_boxes_overlap_a_little() -> None:
    found = texts(column("a", 0) + column("b", 297) + column("c", 594))

    assert [paragraph[0][0] for paragraph in found] == ["a", "b", "c"]


def test_cells_of_a_table_are_read_by_row() -> None:
    lines = [
        line(f"{name} {row}", left, 100 + 25 * row, width=60)
        for left, name in ((0, "item"), (200, "count"), (400, "price"))
        for row in range(5)
    ]

    [paragraph] = ordered(lines)

    assert [row.text for row in paragraph][1] == "item 1 count 1 price 1"
    assert {row.cells for row in paragraph} == {3}


def test_pieces_of_one_line_are_put_together_from_left_to_right() -> None:
    [[row]] = ordered([line("world", 105, 0, width=60), line("hello", 0, 3, width=100)])

    assert (row.text, row.cells) == ("hello world", 1)
    assert (row.left, row.top, row.right, row.bottom) == (0, 0, 165, 23)


def test_a_gap_between_lines_starts_a_paragraph() -> None:
    assert texts([line("one", 0, 0), line("two", 0, 25), line("three", 0, 80)]) == [
        ["one", "two"],
        ["three"],
    ]


def test_a_page_without_lines_has_no_paragraphs() -> None:
    assert ordered([]) == []


def test_lines_of_a_page_on_its_side_lie_as_if_it_was_upright() -> None:
    """A page of 200 x 100 whose top is at its right: it runs downwards, from right to left."""
    lines = [
        line("second", 100, 0, width=20, height=90),
        line("first", 150, 0, width=20, height=90),
    ]

    upright = turned(lines, width=200, height=100, quarters=1)

    assert [row.text for paragraph in ordered(upright) for row in paragraph] == ["first", "second"]
    assert (upright[1].left, upright[1].top, upright[1].right, upright[1].bottom) == (0, 30, 90, 50)


def test_four_quarter_turns_change_nothing_and_two_swap_the_corners() -> None:
    [box] = [line("text", 10, 20, width=30, height=5)]

    assert turned([box], width=100, height=50, quarters=4) == [box]
    [over] = turned([box], width=100, height=50, quarters=2)
    assert (over.left, over.top, over.right, over.bottom) == (60, 25, 90, 30)
