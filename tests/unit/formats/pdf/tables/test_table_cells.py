"""The parts of a cell of a PDF table, in the order in which they are read."""

from ingest.formats.pdf.tables.rows import Piece, texts


def piece(left: float, middle: float, text: str) -> Piece:
    return Piece(column=0, left=left, right=left + 8, middle=middle, height=10, text=text)


def test_parts_of_a_line_are_read_from_left_to_right_whatever_their_height() -> None:
    """A raised or lowered part is a little higher or lower than the rest of its line."""
    cell = [piece(20, 101, "-"), piece(0, 100, "HCO"), piece(10, 99, "₃")]

    assert texts(cell, 1) == ["HCO ₃ -"]


def test_parts_above_each_other_are_read_from_the_top_down() -> None:
    cell = [piece(0, 88, "below"), piece(2, 100, "above"), piece(0, 97, "over it")]

    assert texts(cell, 1) == ["above over it below"]
