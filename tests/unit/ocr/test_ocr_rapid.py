"""RapidOCR reads pictures for real: its models come with the extra `ocr`."""

from collections.abc import Callable

import pytest
from PIL import Image, ImageOps

from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.providers.ocr.rapid import RapidOcr, is_installed
from tests.builders.make_images import drawn

TEXT = "Invoice 4711\nTotal amount"


@pytest.fixture(scope="module")
def rapid() -> RapidOcr:
    return RapidOcr(OcrSettings(engine="rapidocr"))


def upright(image: Image.Image) -> Image.Image:
    return image


def sideways(image: Image.Image) -> Image.Image:
    return image.transpose(Image.Transpose.ROTATE_90)


def downwards(image: Image.Image) -> Image.Image:
    return image.transpose(Image.Transpose.ROTATE_270)


def upside_down(image: Image.Image) -> Image.Image:
    return image.transpose(Image.Transpose.ROTATE_180)


@pytest.mark.parametrize("turn", [upright, sideways, downwards, upside_down])
def test_picture_is_read_in_every_orientation(
    rapid: RapidOcr, turn: Callable[[Image.Image], Image.Image]
) -> None:
    assert rapid.read(turn(drawn(TEXT))).split() == TEXT.split()


@pytest.mark.parametrize("turn", [upright, sideways, downwards, upside_down])
def test_words_stand_where_they_are_in_the_picture(
    rapid: RapidOcr, turn: Callable[[Image.Image], Image.Image]
) -> None:
    picture = drawn("Invoice 4711", size=48)
    half = picture.copy()  # only the first word
    half.paste(255, (picture.width * 6 // 11, 0, picture.width, picture.height))

    [first, second] = rapid.recognise(turn(picture)).words

    true = ImageOps.invert(turn(half)).getbbox()
    assert true is not None
    width, height = turn(picture).size
    assert (first.text, second.text) == ("Invoice", "4711")
    centre = ((true[0] + true[2]) / 2 / width, (true[1] + true[3]) / 2 / height)
    left, top, right, bottom = first.box
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx(centre, abs=0.06)


@pytest.mark.parametrize("size", [(90, 90), (1, 1), (2000, 1), (1, 300)])
def test_picture_without_text_is_read_as_empty_string(
    rapid: RapidOcr, size: tuple[int, int]
) -> None:
    assert rapid.read(Image.new("L", size, 200)) == ""


def test_a_picture_that_takes_too_long_is_given_up() -> None:
    hasty = RapidOcr(OcrSettings(engine="rapidocr", page_timeout=0))

    with pytest.raises(Permanent) as caught:
        hasty.read(drawn("one line"))
    assert caught.value.code == "parser_timeout"


def test_rapidocr_models_are_installed_with_the_package(rapid: RapidOcr) -> None:
    assert is_installed()
    assert rapid.name.startswith("rapidocr 3.")
