"""Crooked scans are put straight before an engine sees them."""

import pytest
from PIL import Image, ImageOps

from ingest.providers.ocr.skew import skew, straightened, unrotated
from tests.builders.make_images import drawn

PAGE = drawn("\n".join(f"OcrLine {number} of a page of text" for number in range(12)), size=24)


@pytest.mark.parametrize("angle", [-6.0, -1.5, 0.8, 4.0])
def test_a_crooked_page_is_turned_back(angle: float) -> None:
    crooked = PAGE.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=255)

    assert skew(crooked) == pytest.approx(-angle, abs=0.25)
    assert abs(skew(straightened(crooked, skew(crooked)))) < 0.4


def test_a_crooked_page_on_its_side_is_turned_back_too() -> None:
    ragged = Image.new("L", (700, 900), 255)
    for number in range(40):
        text = drawn(f"{7 ** (number + 40)}"[: 8 + number * 7 % 25], size=16)
        ragged.paste(
            text.crop((20, 20, text.width - 20, text.height - 16)),
            (number * 89 % 350, 20 + 21 * number),
        )
    crooked = ragged.rotate(93, Image.Resampling.BICUBIC, expand=True, fillcolor=255)

    assert skew(crooked) == pytest.approx(-3, abs=0.25)


@pytest.mark.parametrize("image", [PAGE, Image.new("L", (50, 50), 7), Image.new("L", (1, 1))])
def test_straight_page_is_unchanged(image: Image.Image) -> None:
    assert straightened(image, skew(image)) is image


def test_corners_that_turning_adds_have_the_colour_of_the_paper() -> None:
    dark = Image.eval(PAGE, lambda value: 255 - value)
    crooked = dark.rotate(5, Image.Resampling.BICUBIC, expand=True, fillcolor=0)

    assert straightened(crooked, skew(crooked)).getpixel((0, 0)) == 0


@pytest.mark.parametrize("angle", [-6.0, 4.0])
def test_a_place_on_the_straight_page_is_found_on_the_crooked_one(angle: float) -> None:
    crooked = Image.new("L", (600, 800), 255)
    crooked.paste(0, (420, 100, 440, 110))
    straight = straightened(crooked, angle)
    dot = ImageOps.invert(straight).point(lambda value: 255 * (value > 128)).getbbox()
    assert dot is not None
    shares = (
        dot[0] / straight.width, dot[1] / straight.height,
        dot[2] / straight.width, dot[3] / straight.height,
    )  # fmt: skip

    left, top, right, bottom = unrotated(shares, straight.size, crooked.size, angle)

    assert (left + right) / 2 * 600 == pytest.approx(430, abs=2)
    assert (top + bottom) / 2 * 800 == pytest.approx(105, abs=2)
