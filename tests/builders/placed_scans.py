"""The pages of placed_pages.py as scans."""

import cmath
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PIL import Image, ImageDraw, ImageFont

from tests.builders.make_images import frames
from tests.builders.placed_pages import HEIGHT, WIDTH, Box, PlacedLine, PlacedPage, PlacedWord


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
