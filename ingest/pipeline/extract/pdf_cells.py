"""Places of single characters, what is in a cell, and the table in place of its lines."""

from collections.abc import Sequence

from ingest.pipeline.extract import pdf_raw
from ingest.pipeline.extract.pdf_lines import HYPHEN, Line, PageLines, turned


class Glyphs:
    """Where each character of a line is, left to right; asked for when it is needed."""

    def __init__(self, text_page: int, turn: int) -> None:
        self._text_page = text_page
        self._turn = turn
        self._extents: dict[int, list[tuple[float, float]]] = {}

    def knows(self, line: Line) -> bool:
        """Whether pdfium's characters are those of the line's text."""
        return line.end - line.start == len(line.text) and line.kind == "text"

    def extents(self, line: Line) -> list[tuple[float, float]]:
        """Left and right end of each character."""
        if line.start not in self._extents:
            characters = range(line.start, line.end)
            boxes = turned(pdf_raw.char_boxes(self._text_page, characters), self._turn)
            self._extents[line.start] = [(left, right) for left, _, right, _ in boxes.tolist()]
        return self._extents[line.start]


def is_beside(line: Line, following: Line) -> bool:
    """Whether a line goes on to the right of another, at the same height."""
    return following.left >= line.right and abs(following.bottom - line.bottom) < 0.5 * line.height


def cell_text(pieces: Sequence[tuple[float, str]]) -> str:
    """One line of the pieces of a cell, each with its height on the page."""
    text = ""
    for _, piece in sorted(pieces, key=lambda item: -item[0]):
        piece = piece.strip()
        if text.endswith(HYPHEN):
            joint = "" if piece[:1].islower() else "-"
            text = text[: -len(HYPHEN)] + joint + piece
        else:
            text = f"{text} {piece}" if text else piece
    return text.replace(HYPHEN, "-")


def put_table(page: PageLines, inside: Sequence[Line], markdown: str) -> None:
    """Put a table where the first of its lines was."""
    gone = {id(line) for line in inside}
    made = Line(
        markdown,
        left=min(line.left for line in inside),
        top=max(line.top for line in inside),
        right=max(line.right for line in inside),
        bottom=min(line.bottom for line in inside),
        kind="table",
    )
    first = next(index for index, line in enumerate(page.lines) if id(line) in gone)
    rest = [line for line in page.lines[first:] if id(line) not in gone]
    page.lines = [*page.lines[:first], made, *rest]
