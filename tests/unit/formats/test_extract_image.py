"""Pictures: frames as pages, what they say about themselves, and what is refused."""

import io

import pytest
from PIL import Image

from ingest.errors import Permanent
from ingest.formats.common.input_file import Recogniser
from ingest.formats.image.pixels import grey
from ingest.formats.registry import extract
from ingest.model import Document
from ingest.page_words import Recognised, Word
from tests.builders.make_images import (
    ORIENTATION,
    described,
    drawn,
    encoded,
    frames,
    huge_png,
    with_exif,
)

PAPER = Image.new("L", (40, 30), 255)


class Told(Recogniser):
    """A recogniser that says what it was told to, picture after picture."""

    name = "told 1"

    def __init__(self, *answers: str | Permanent) -> None:
        self._answers = iter(answers)
        self.seen: list[Image.Image] = []

    def recognise(self, image: Image.Image) -> Recognised:
        self.seen.append(image)
        answer = next(self._answers)
        if isinstance(answer, Permanent):
            raise answer
        return Recognised(answer, [Word(answer, (0.1, 0.2, 0.3, 0.4))])


def read(data: bytes, ocr: Told | None = None, *, max_pages: int = 100) -> Document:
    return extract(io.BytesIO(data), name="scan", ocr=ocr, max_pages=max_pages)


def failure(data: bytes, ocr: Told | None = None, *, max_pages: int = 100) -> Permanent:
    with pytest.raises(Permanent) as caught:
        read(data, ocr, max_pages=max_pages)
    return caught.value


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP"])
def test_recognised_text_is_the_text_of_the_picture(kind: str) -> None:
    document = read(encoded(PAPER, kind), Told("Dear Sir"))

    assert document.text == "Dear Sir"
    assert (document.coverage.with_text, document.coverage.by_ocr) == (1, 1)
    assert document.extractor.endswith(", told 1")


def test_frames_of_a_tiff_are_pages() -> None:
    document = read(frames([PAPER, PAPER, PAPER]), Told("one", "", "three"))

    assert [document.text[page.start : page.end] for page in document.pages] == ["one", "", "three"]
    assert (document.coverage.with_text, document.coverage.empty) == (2, 1)
    assert document.coverage.by_ocr == 2


def test_thumbnail_frame_is_not_a_page() -> None:
    copy = Image.new("L", (4, 3))
    copy.encoderinfo = {"tiffinfo": {254: 1}}

    document = read(frames([PAPER, copy]), Told("one"))

    assert document.coverage.pages == 1


def test_of_an_animation_the_first_frame_is_read_and_the_document_says_so() -> None:
    document = read(frames([PAPER, Image.new("L", (40, 30), 9)], "GIF"), Told("first"))

    assert document.text == "first"
    assert document.warnings == ("only_first_frame",)


def test_a_page_that_takes_too_long_is_unread_and_the_others_are_not_lost() -> None:
    slow = Permanent("too slow", code="parser_timeout")

    document = read(frames([PAPER, PAPER]), Told(slow, "two"))

    assert document.text.strip() == "two"
    assert (document.coverage.unread, document.coverage.lost) == (1, (1,))


def test_ocr_crash_is_not_an_empty_page() -> None:
    crash = Permanent("crashed", code="parser_crashed")

    assert failure(encoded(PAPER), Told(crash)).code == "parser_crashed"


def test_recognised_lines_are_escaped_as_markdown() -> None:
    document = read(encoded(PAPER), Told("# 12 Main Street\n| stamp"))

    assert document.text == "\\# 12 Main Street\n\\| stamp"


def test_missing_ocr_engine_error_explains_how_to_enable_it() -> None:
    error = failure(encoded(PAPER))

    assert error.code == "no_text"
    assert "tesseract or the extra `ocr`" in str(error)


def test_picture_without_text_differs_from_unread_picture() -> None:
    error = failure(encoded(PAPER), Told(""))

    assert error.code == "no_text"
    assert str(error) == "No text was found in the picture."


def test_frame_with_writing_that_ocr_cannot_read_is_unread_and_a_blank_one_is_empty() -> None:
    writing = drawn("Words in a script\nthat nobody knows")

    document = read(
        frames([writing, *(PAPER.copy() for _ in range(3))]), Told("", "", "three", "four")
    )

    assert (document.coverage.unread, document.coverage.lost) == (1, (1,))
    assert document.coverage.empty == 1
    assert document.warnings == ("pages_unread",)


def test_pages_that_all_took_too_long_name_the_setting() -> None:
    error = failure(encoded(PAPER), Told(Permanent("too slow", code="parser_timeout")))

    assert error.code == "no_text"
    assert "INGEST_OCR_PAGE_TIMEOUT" in str(error)


@pytest.mark.parametrize("ocr", [None, Told("never asked")])
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "WEBP"])
def test_a_picture_that_is_cut_off_is_corrupt_with_and_without_an_engine(
    kind: str, ocr: Told | None
) -> None:
    data = encoded(Image.effect_noise((200, 200), 90).convert("RGB"), kind)

    assert failure(data[: len(data) // 3], ocr).code == "corrupt"


@pytest.mark.parametrize(
    ("width", "height"), [(20_000, 17_000), (60_000, 12_000), (12_000, 10_000)]
)
def test_a_picture_with_too_many_pixels_is_refused_before_it_is_decoded(
    width: int, height: int
) -> None:
    stream = io.BytesIO(huge_png(width, height))

    with pytest.raises(Permanent) as caught:
        extract(stream, ocr=Told())

    assert caught.value.code == "too_large"
    assert stream.tell() < 1000


def test_more_pages_than_allowed_are_refused() -> None:
    assert failure(frames([PAPER] * 4), max_pages=3).code == "too_many_pages"


def test_picture_metadata_has_size_and_exif() -> None:
    data = described(PAPER, {"Title": "Receipt", "Author": "A. Clerk"})

    document = read(data, Told("text"))

    assert document.title == "Receipt"
    assert document.metadata == {"width": 40, "height": 30, "author": "A. Clerk"}


def test_dates_of_exif_become_iso_dates() -> None:
    document = read(with_exif(PAPER, {306: "2024:01:31 10:20:30", 270: "a scan"}), Told("text"))

    assert document.metadata["modified"] == "2024-01-31T10:20:30"
    assert document.metadata["description"] == "a scan"


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("JPEG", "L"), ("PNG", "LA"), ("PNG", "P"), ("WEBP", "RGBA"), ("TIFF", "RGB")],
)
def test_a_picture_that_lies_on_its_side_is_turned_upright(kind: str, mode: str) -> None:
    ocr = Told("text")

    read(with_exif(PAPER.convert(mode), {ORIENTATION: 6}, kind), ocr)

    assert ocr.seen[0].size == (30, 40)


@pytest.mark.parametrize(("ink", "paper"), [(0, 255), (255, 0)])
def test_transparent_background_gets_a_contrasting_colour(ink: int, paper: int) -> None:
    image = Image.new("LA", (10, 10), (ink, 0))
    image.putpixel((5, 5), (ink, 255))

    result = grey(Image.open(io.BytesIO(encoded(image))))

    assert (result.getpixel((5, 5)), result.getpixel((0, 0))) == (ink, paper)


@pytest.mark.parametrize(("mode", "low", "high"), [("I;16", 300, 9000), ("F", 0.0, 1.0)])
def test_deep_pictures_keep_their_contrast(mode: str, low: float, high: float) -> None:
    image = Image.new(mode, (4, 4), low)
    image.putpixel((0, 0), high)

    assert grey(Image.open(io.BytesIO(encoded(image, "TIFF")))).getextrema() == (0, 255)


def test_a_large_picture_is_made_smaller_for_the_engine() -> None:
    ocr = Told("text")

    read(encoded(Image.new("1", (9000, 300))), ocr)

    assert ocr.seen[0].size == (4500, 150)
    assert ocr.seen[0].mode == "L"


def test_drawn_text_is_dark_on_white() -> None:
    assert grey(Image.open(io.BytesIO(encoded(drawn("text"))))).getextrema() == (0, 255)


def test_pages_before_a_broken_directory_of_a_tiff_are_kept() -> None:
    data = bytearray(frames([PAPER, PAPER, PAPER]))
    second = int.from_bytes(data[4:8], "little")
    entries = int.from_bytes(data[second : second + 2], "little")
    at = second + 2 + 12 * entries
    second = int.from_bytes(data[at : at + 4], "little")
    data[second + 2 : second + 4] = b"\xff\x7f"  # the page's width becomes a tag of no meaning

    document = read(bytes(data), Told("one"))

    assert document.text.strip() == "one"
    assert document.coverage.lost == (2,)
    assert "pages_failed" in document.warnings


def test_broken_later_frames_of_an_animation_are_ignored() -> None:
    data = frames([PAPER, Image.new("L", (40, 30), 9)], "GIF")

    assert read(data[:-12], Told("first")).text == "first"
