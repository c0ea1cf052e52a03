"""Blank pages, photos and writing are told apart by their ink."""

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

from ingest.formats.common.ink import has_writing

_SIZE = (1240, 1754)  # A4 at 150 dpi
_LETTERS = "This agreement is made between the parties and takes effect on the day of it."
_PAPER = Image.new("L", _SIZE, 255)

Draw = Callable[[], Image.Image]
"""Makes a picture: only for the test that looks at it."""


def written(*, size: int = 26, lines: int = 20, ink: int = 0, paper: int = 255) -> Image.Image:
    picture = Image.new("L", _SIZE, paper)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    for line in range(lines):
        draw.text((130, 150 + 1.6 * size * line), _LETTERS[:70], fill=ink, font=font)
    return picture


def grained(picture: Image.Image, deviation: float = 8, specks: float = 0) -> Image.Image:
    chance = np.random.default_rng(1)
    values = np.asarray(picture) + chance.normal(0, deviation, picture.size[::-1])
    values[chance.random(values.shape) < specks] = 30
    return Image.fromarray(values.clip(0, 255).astype(np.uint8))


def shaded(picture: Image.Image) -> Image.Image:
    shade = np.linspace(0, 60, picture.width)[None, :]
    return Image.fromarray((np.asarray(picture) - shade).clip(0, 255).astype(np.uint8))


def marked(draw_on: Callable[[ImageDraw.ImageDraw], object]) -> Image.Image:
    picture = _PAPER.copy()
    draw_on(ImageDraw.Draw(picture))
    return grained(picture, 4)


def holes(draw: ImageDraw.ImageDraw) -> None:
    draw.rectangle((0, 0, 24, _SIZE[1]), fill=20)  # the scanner's lid
    for height in (650, 1100):
        draw.ellipse((60, height, 96, height + 36), fill=30)


def dust(draw: ImageDraw.ImageDraw) -> None:
    chance = random.Random(3)
    for _ in range(60):
        x, y = chance.randrange(_SIZE[0]), chance.randrange(_SIZE[1])
        draw.ellipse((x - 2, y - 2, x + 2, y + 2), fill=60)


def folds(draw: ImageDraw.ImageDraw) -> None:
    for height in (585, 1170):
        draw.line((0, height, _SIZE[0], height + 6), fill=170, width=3)


def rules(draw: ImageDraw.ImageDraw) -> None:
    for height in range(200, 1600, 60):
        draw.line((100, height, 1140, height), fill=60, width=3)


def bars(draw: ImageDraw.ImageDraw) -> None:
    for number in range(20):
        draw.rectangle((300 + 30 * number, 700, 308 + 30 * number + number % 9, 1000), fill=0)


def photo() -> Image.Image:
    """Clouds of all sizes: tones without paper."""
    chance = np.random.default_rng(9)
    total = np.zeros(_SIZE[::-1])
    for side in (6, 12, 24, 60, 120, 240):
        spots = Image.fromarray((chance.random((side, side)) * 255).astype(np.uint8))
        total += np.asarray(spots.resize(_SIZE, Image.Resampling.BICUBIC)) / side**0.7
    return Image.fromarray((255 * (total - total.min()) / np.ptp(total)).astype(np.uint8))


def shining_through() -> Image.Image:
    back = ImageOps.mirror(written()).filter(ImageFilter.GaussianBlur(3))
    return grained(back.point(lambda value: 255 - (255 - value) // 14), 4)


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(lambda: _PAPER, id="white"),
        pytest.param(lambda: Image.new("L", _SIZE, 0), id="black"),
        pytest.param(lambda: grained(_PAPER, 20), id="grain"),
        pytest.param(lambda: grained(_PAPER, 4, specks=0.002), id="specks"),
        pytest.param(lambda: grained(Image.new("L", _SIZE, 180)), id="coloured paper"),
        pytest.param(lambda: grained(shaded(_PAPER)), id="shade"),
        pytest.param(shining_through, id="writing on the back"),
        *(
            pytest.param(partial(marked, what), id=what.__name__)
            for what in (holes, dust, folds, rules)
        ),
        pytest.param(lambda: marked(bars), id="bar code"),
        pytest.param(photo, id="photo"),
        pytest.param(lambda: Image.new("L", (40, 30), 255), id="small"),
        pytest.param(lambda: Image.new("L", (2000, 1), 255), id="a line of pixels"),
    ],
)
def test_blank_pages_and_photos_have_no_writing(draw: Draw) -> None:
    assert not has_writing(draw())


def blurred(radius: int) -> Image.Image:
    return grained(written().filter(ImageFilter.GaussianBlur(radius)), 3)


def beside_a_photo() -> Image.Image:
    page = written(lines=14)
    page.paste(photo().resize((1000, 700)), (120, 900))
    return page


@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(written, id="page"),
        pytest.param(lambda: written(lines=1), id="one line"),
        pytest.param(lambda: written(size=80, lines=3), id="large"),
        pytest.param(lambda: written(size=13, lines=60), id="small"),
        pytest.param(lambda: grained(shaded(written()), 20), id="grain and shade"),
        pytest.param(lambda: grained(written(ink=170)), id="faint"),
        pytest.param(lambda: written(ink=255, paper=20), id="white on black"),
        pytest.param(lambda: written().rotate(90, expand=True), id="on its side"),
        pytest.param(lambda: written().convert("1").convert("L"), id="fax"),
        pytest.param(lambda: written().resize((2480, 3508)), id="300 dpi"),
        pytest.param(lambda: written(lines=2).crop((110, 130, 900, 260)), id="cut out"),
        *(pytest.param(partial(blurred, radius), id=f"blur {radius}") for radius in (3, 5, 8)),
        pytest.param(beside_a_photo, id="beside a photo"),
    ],
)
def test_writing_is_seen_however_badly_it_was_scanned(draw: Draw) -> None:
    assert has_writing(draw())
