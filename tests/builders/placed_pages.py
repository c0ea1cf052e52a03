"""Files whose words have known places: PDFs with text, and the same pages as scans."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from pdfminer.fontmetrics import FONT_METRICS

from tests.builders.make_pdf import Sheet, at, document, grid

Box = tuple[float, float, float, float]

WIDTH, HEIGHT = 600, 800
_WIDTHS = FONT_METRICS["Helvetica"][1]
_ASCENT, _DESCENT = 0.718, 0.207  # of Helvetica
_WORDS = (
    "river", "stone", "window", "market", "letter", "garden", "winter", "summer", "bridge",
    "forest", "engine", "paper", "silver", "harbour", "village", "mountain", "teacher", "student",
    "question", "answer", "number", "colour", "voice", "travel", "kitchen", "doctor", "hospital",
    "railway", "station", "morning", "evening", "shadow", "mirror", "candle", "pocket", "leather",
    "cotton", "island", "ocean", "valley", "thunder", "lightning", "rainbow", "meadow", "orchard",
    "vineyard", "castle", "tower",
)  # fmt: skip


class PlacedWord(NamedTuple):
    text: str
    box: Box
    """Shares of the page as it is shown, from its upper left corner."""
    line: int
    """Number of its line on the page."""


@dataclass(frozen=True)
class PlacedLine:
    """A line of a page, 600 by 800 points, from its upper left corner."""

    text: str
    x: float
    baseline: float
    size: float = 11
    is_text: bool = True
    """False for a header or footer, which the document's text leaves out."""

    @property
    def words(self) -> list[tuple[str, Box]]:
        """Its words with left, top, right, bottom in points."""
        found, x = [], self.x
        for word in self.text.split(" "):
            right = x + self.length(word)
            top, bottom = self.baseline - _ASCENT * self.size, self.baseline + _DESCENT * self.size
            found.append((word, (x, top, right, bottom)))
            x = right + self.length(" ")
        return found

    def length(self, text: str) -> float:
        """Points, in the font and size of the line."""
        return sum(_WIDTHS[character] for character in text) * self.size / 1000


@dataclass(frozen=True)
class PlacedPage:
    lines: Sequence[PlacedLine]
    extra: bytes = b""
    """Further PDF operators."""
    entries: bytes = b""
    """Further entries of the page's dictionary."""
    turns: int = 0
    """Clockwise quarter turns when it is shown."""
    origin: tuple[float, float] = (0, 0)
    """Of the visible part, from the upper left corner, in points; it goes to the far corner."""
    far: tuple[float, float] = (WIDTH, HEIGHT)
    matrix: bytes = b"1 0 0 1 0 0"
    """Of the content in the PDF."""

    @property
    def words(self) -> Iterator[PlacedWord]:
        """Words of the document's text."""
        left, top = self.origin
        width, height = self.far[0] - left, self.far[1] - top
        for number, line in enumerate(self.lines):
            if line.is_text:
                for word, (x0, y0, x1, y1) in line.words:
                    box = (
                        (x0 - left) / width, (y0 - top) / height,
                        (x1 - left) / width, (y1 - top) / height,
                    )  # fmt: skip
                    for _ in range(self.turns):
                        box = (1 - box[3], box[0], 1 - box[1], box[2])
                    yield PlacedWord(word, box, number)


@dataclass
class Writer:
    """Sets prose like a typesetter, with a random choice of words that a seed decides."""

    seed: int
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def sentence(self) -> str:
        words = self.random.choices(_WORDS, k=self.random.randint(6, 14))
        return " ".join(words).capitalize() + "."

    def paragraph(self, sentences: int = 4) -> str:
        return " ".join(self.sentence() for _ in range(sentences))


def set_lines(
    text: str, *, x: float, y: float, width: float, size: float = 11, hyphenate: bool = False
) -> list[PlacedLine]:
    """Lines of this width; with `hyphenate`, words are divided where they fit in part."""
    lines: list[PlacedLine] = []
    row = ""
    words = text.split(" ")
    while words:
        word = words.pop(0)
        longer = f"{row} {word}".strip()
        if PlacedLine(longer, x, y, size).length(longer) <= width:
            row = longer
            continue
        part = len(word) // 2
        if hyphenate and part >= 3 and row and word.isalpha():
            row, word = f"{row} {word[:part]}-", word[part:]
        lines.append(PlacedLine(row, x, y + 1.2 * size * len(lines), size))
        row = word
    return [*lines, PlacedLine(row, x, y + 1.2 * size * len(lines), size)]


def prose(
    writer: Writer, *, paragraphs: int = 7, size: float = 11, hyphenate: bool = False
) -> list[PlacedLine]:
    """A page of one column."""
    lines: list[PlacedLine] = []
    y = 80.0
    for _ in range(paragraphs):
        new = set_lines(writer.paragraph(), x=60, y=y, width=470, size=size, hyphenate=hyphenate)
        lines += new
        y = new[-1].baseline + 24
    return [line for line in lines if line.baseline < HEIGHT - 60]


def columns(writer: Writer) -> list[PlacedLine]:
    """A heading across, and two columns, the right one first in the file."""
    head = PlacedLine("A report of the harbour office", 60, 70, 20)
    sides = []
    for x in (60, 320):
        side: list[PlacedLine] = []
        y = 110.0
        for _ in range(6):
            new = set_lines(writer.paragraph(3), x=x, y=y, width=220)
            side += new
            y = new[-1].baseline + 22
        sides.append([line for line in side if line.baseline < HEIGHT - 60])
    return [head, *sides[0], *sides[1]]


def repeated(writer: Writer) -> list[PlacedLine]:
    """The same paragraph again and again, with a line of its own between."""
    same = writer.paragraph(3)
    lines: list[PlacedLine] = []
    y = 80.0
    for number in range(8):
        own = PlacedLine(f"Part {number}: {writer.sentence()}", 60, y, 11)
        new = set_lines(same, x=60, y=y + 26, width=470)
        lines += [own, *new]
        y = new[-1].baseline + 26
    return [line for line in lines if line.baseline < HEIGHT - 60]


def table(writer: Writer) -> PlacedPage:
    """A ruled table of like rows between two paragraphs."""
    xs, top = (60.0, 200.0, 340.0, 480.0), 200.0
    ys = [top + 20 * row for row in range(16)]
    before = set_lines(writer.paragraph(), x=60, y=80, width=470)
    cells = [
        PlacedLine(text, x + 4, y + 14, 10)
        for row, y in enumerate(ys[:-1])
        for x, text in zip(xs, ("Name", "Size", "State") if row == 0 else
                           (writer.random.choice(_WORDS), str(row % 3), "open"), strict=False)
    ]  # fmt: skip
    after = set_lines(writer.paragraph(), x=60, y=560, width=470)
    return PlacedPage([*before, *cells, *after], extra=grid(xs, [HEIGHT - y for y in ys]))


def with_furniture(lines: Sequence[PlacedLine], number: int) -> list[PlacedLine]:
    """The lines between a header and a footer."""
    header = PlacedLine("Annual report of the harbour office", 60, 30, 9, is_text=False)
    footer = PlacedLine(f"page {number}", 280, 780, 9, is_text=False)
    return [header, *lines, footer]


def pdf_of(pages: Iterable[PlacedPage]) -> bytes:
    """The pages as a PDF with text."""
    return document(
        *(
            Sheet(
                content=b"q %b cm\n%b%bQ"
                % (
                    page.matrix,
                    page.extra,
                    b"".join(
                        at(line.x, HEIGHT - line.baseline, line.text, size=line.size)
                        for line in page.lines
                    ),
                ),
                entries=page.entries,
            )
            for page in pages
        )
    )
