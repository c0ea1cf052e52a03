"""Files whose words have known places: PDFs with text, and the same pages as scans."""

import cmath
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from pdfminer.fontmetrics import FONT_METRICS
from PIL import Image, ImageDraw, ImageFont

from tests.builders.make_images import frames
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


def cropped(page: PlacedPage, left: float, top: float) -> PlacedPage:
    """The page without a strip at its left and its top."""
    box = b"/CropBox [%g 0 %d %g]" % (left, WIDTH, HEIGHT - top)
    return replace(page, entries=box, origin=(left, top))


def turned(page: PlacedPage, turns: int) -> PlacedPage:
    """The page, shown after so many clockwise quarter turns."""
    return replace(page, entries=b"/Rotate %d" % (90 * turns), turns=turns)


_UPRIGHT = {
    1: ((HEIGHT, WIDTH), b"0 1 -1 0 800 0"),
    2: ((WIDTH, HEIGHT), b"-1 0 0 -1 600 800"),
    3: ((HEIGHT, WIDTH), b"0 -1 1 0 -200 800"),
}


def turned_upright(lines: Sequence[PlacedLine], turns: int) -> PlacedPage:
    """A page whose content lies on its side in the file, and is shown upright."""
    far, matrix = _UPRIGHT[turns]
    shown = [line for line in lines if line.baseline < far[1] - 40]
    return PlacedPage(shown, entries=b"/Rotate %d" % (90 * turns), far=far, matrix=matrix)


@dataclass(frozen=True)
class Scan:
    image: Image.Image
    words: Sequence[PlacedWord]


def scan(lines: Sequence[PlacedLine], *, dots: float = 3.0) -> Scan:
    """A picture of the lines, `dots` pixels a point, in a font of Pillow."""
    image = Image.new("L", (round(WIDTH * dots), round(HEIGHT * dots)), 255)
    draw = ImageDraw.Draw(image)
    words: list[PlacedWord] = []
    for number, line in enumerate(lines):
        font = ImageFont.load_default(line.size * dots)
        assert isinstance(font, ImageFont.FreeTypeFont)
        ascent, descent = font.getmetrics()
        x, y = line.x * dots, line.baseline * dots
        for word in line.text.split(" "):
            draw.text((x, y), word, font=font, fill=0, anchor="ls")
            right = x + font.getlength(word)
            if line.is_text:
                box = _shares((x, y - ascent, right, y + descent), image)
                words.append(PlacedWord(word, box, number))
            x = right + font.getlength(" ")
    return Scan(image, words)


def skewed(page: Scan, degrees: float) -> Scan:
    """The scan, turned counter-clockwise by a few degrees about its middle."""
    image = page.image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    turn = cmath.rect(1, -math.radians(degrees))  # clockwise, as y runs downwards
    middle = complex(image.width, image.height) / 2
    words = []
    for word in page.words:
        x0, y0, x1, y1 = _pixels(word.box, image)
        corners = [(complex(x, y) - middle) * turn + middle for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [corner.real for corner in corners], [corner.imag for corner in corners]
        words.append(word._replace(box=_shares((min(xs), min(ys), max(xs), max(ys)), image)))
    return Scan(image, words)


def on_its_side(page: Scan) -> Scan:
    """The scan, turned counter-clockwise by 90 degrees."""
    words = [
        word._replace(box=(word.box[1], 1 - word.box[2], word.box[3], 1 - word.box[0]))
        for word in page.words
    ]
    return Scan(page.image.transpose(Image.Transpose.ROTATE_90), words)


def tiff_of(scans: Sequence[Scan]) -> bytes:
    return frames([page.image for page in scans])


def pdf_of_scans(scans: Sequence[Scan]) -> bytes:
    buffer = io.BytesIO()
    first, *rest = (page.image for page in scans)
    first.save(buffer, "PDF", save_all=True, append_images=rest, resolution=216)
    return buffer.getvalue()


def _shares(box: Box | tuple[int, int, int, int], image: Image.Image) -> Box:
    x0, y0, x1, y1 = box
    return x0 / image.width, y0 / image.height, x1 / image.width, y1 / image.height


def _pixels(box: Box, image: Image.Image) -> Box:
    x0, y0, x1, y1 = box
    return x0 * image.width, y0 * image.height, x1 * image.width, y1 * image.height
