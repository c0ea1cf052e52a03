"""Pages of PDFs and pictures as they are shown, and files that lie about them."""

import gzip
import io
import random

import pytest
from PIL import Image

from ingest.errors import Permanent
from ingest.formats import catalog, media_types
from ingest.page_words import Word, pack
from ingest.sandbox import page_views
from ingest.sandbox.messages import LARGEST_SIDE, LocateRequest, RenderRequest
from tests.builders.make_files import pdf, pdf_with_field
from tests.builders.make_images import ORIENTATION, encoded, frames, huge_png, with_exif
from tests.builders.make_pdf import Sheet, area, at, document


def drawn(data: bytes, media_type: str, *, page: int = 1, width: int = 100) -> Image.Image:
    request = RenderRequest(media_type=media_type, page=page, width=width)
    found = page_views.render(io.BytesIO(data), request)
    image = Image.open(io.BytesIO(found.png))
    image.load()
    assert image.size == (found.width, found.height)
    return image.convert("L")


def refusal(data: bytes, media_type: str, *, page: int = 1, width: int = 100) -> str:
    with pytest.raises(Permanent) as caught:
        drawn(data, media_type, page=page, width=width)
    return caught.value.code


def test_the_asked_page_of_a_pdf_is_drawn_upright() -> None:
    # Black in the lower left quarter, which a quarter turn clockwise moves to the upper left one.
    dark = Sheet(content=area(0, 0, 300, 400, grey=0), entries=b"/Rotate 90")
    data = document(b"", dark)

    image = drawn(data, media_types.PDF, page=2, width=80)

    assert image.size == (80, 60)
    assert (image.getpixel((10, 10)), image.getpixel((70, 10)), image.getpixel((10, 50))) == (
        0, 255, 255,
    )  # fmt: skip
    assert drawn(data, media_types.PDF, page=1).getextrema() == (255, 255)


def test_pages_of_a_compressed_file_are_drawn() -> None:
    data = document(area(0, 0, 300, 400, grey=0))

    assert drawn(gzip.compress(data), media_types.PDF).tobytes() == (
        drawn(data, media_types.PDF).tobytes()
    )


def test_values_of_forms_are_drawn_and_found() -> None:
    data = pdf_with_field("Filled by hand")
    ink = drawn(data, media_types.PDF, width=600).crop((60, 205, 400, 245)).getextrema()
    located = page_views.locate(
        io.BytesIO(data),
        LocateRequest(
            media_type=media_types.PDF, page=1, text="Filled by hand", ranges=((0, 14),)
        ),
    )  # fmt: skip

    assert ink[0] < 100  # type: ignore[operator]
    [[(left, top, right, bottom)]] = located.places
    assert 0.1 < left < right < 0.4
    assert 0.24 < top < bottom < 0.3
    assert (located.width, located.height, located.has_words) == (595, 842, True)


@pytest.mark.parametrize("page", [0, 3, 10**6])
def test_a_page_that_is_not_there_is_refused(page: int) -> None:
    assert refusal(pdf(["one", "two"]), media_types.PDF, page=page) == "corrupt"
    assert refusal(encoded(Image.new("L", (9, 9))), media_types.PNG, page=page) == "corrupt"


def test_frames_of_a_tiff_are_pages_and_a_photo_is_turned_as_its_camera_says() -> None:
    tiff = frames([Image.new("L", (40, 20), colour) for colour in (10, 200)])
    photo = with_exif(Image.new("L", (40, 20), 99), {ORIENTATION: 6})

    assert drawn(tiff, media_types.TIFF, page=2).getpixel((5, 5)) == 200
    assert refusal(tiff, media_types.TIFF, page=3) == "corrupt"
    assert drawn(photo, media_types.JPEG).size == (20, 40)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I", "F", "CMYK"])
def test_pictures_of_every_kind_are_drawn(mode: str) -> None:
    kind = "TIFF" if mode in ("I;16", "I", "F", "CMYK") else "PNG"
    data = encoded(Image.new(mode, (60, 30)), kind)

    assert drawn(data, f"image/{kind.lower()}", width=30).size == (30, 15)


def test_pictures_are_not_enlarged_and_large_pages_are_drawn_smaller() -> None:
    strip = document(Sheet(entries=b"/MediaBox [0 0 10 14000]"))

    assert drawn(encoded(Image.new("L", (60, 30))), media_types.PNG, width=999).size == (60, 30)
    width, height = drawn(strip, media_types.PDF, width=2560).size
    assert height <= LARGEST_SIDE
    assert width >= 1


def test_pages_that_take_too_much_memory_are_refused() -> None:
    bomb = document(
        Sheet(
            content=b"q 600 0 0 800 0 0 cm /J Do Q",
            entries=b"/Resources << /XObject << /J 11 0 R >> >>",
        ),
        extra=[
            b"<< /Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB"
            b" /BitsPerComponent 8 /Length 3 >>\nstream\nabc\nendstream"
        ],
    )  # fmt: skip

    assert refusal(bomb, media_types.PDF) == "too_large"
    assert refusal(huge_png(40_000, 40_000), media_types.PNG) == "too_large"


def test_words_of_a_scan_are_found_by_their_stored_places() -> None:
    packed = pack([Word("Grand", (0.1, 0.2, 0.3, 0.25)), Word("total", (0.32, 0.2, 0.5, 0.25))])
    request = LocateRequest(
        media_type=media_types.PNG, page=1, text="Grand total", ranges=((6, 11), (0, 0)),
        words=packed,
    )  # fmt: skip

    located = page_views.locate(io.BytesIO(encoded(Image.new("L", (400, 300)))), request)

    [[box], none] = located.places
    assert box == pytest.approx((0.32, 0.2, 0.5, 0.25), abs=1e-3)
    assert none == ()
    assert (located.width, located.height) == (400, 300)
    bare = page_views.locate(
        io.BytesIO(encoded(Image.new("L", (400, 300)))),
        LocateRequest(media_type=media_types.PNG, page=1, text="Grand", ranges=((0, 5),)),
    )
    assert (bare.places, bare.has_words) == (((),), False)


@pytest.mark.parametrize("seed", range(60))
def test_broken_files_are_drawn_or_refused(seed: int) -> None:
    """The parser process outlives them: pdfium's and Pillow's errors become codes."""
    chance = random.Random(seed)
    data = bytearray(
        chance.choice(
            [
                document(at(50, 700, "Some words of a page"), b"", at(9, 9, "more")),
                pdf_with_field("value"),
                frames([Image.effect_noise((30, 30), 50) for _ in range(3)]),
                encoded(Image.effect_noise((30, 30), 50), "JPEG"),
            ]
        )
    )
    for _ in range(chance.randint(1, 40)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    kind = (
        media_types.PDF if b"PDF" in data[:9] else
        media_types.TIFF if data[:2] == b"II" else media_types.JPEG
    )  # fmt: skip
    for page in (1, 2):
        try:
            drawn(bytes(data), kind, page=page)
            request = LocateRequest(media_type=kind, page=page, text="words", ranges=((0, 5),))
            page_views.locate(io.BytesIO(bytes(data)), request)
        except Permanent as error:
            assert error.code in ("corrupt", "too_large")  # noqa: PT017


def test_types_with_pictures_of_pages_are_pdfs_and_images() -> None:
    shown = {item.media_type for item in catalog.formats() if item.viewer is not None}

    assert shown == {media_types.PDF} | {
        item.media_type for item in catalog.formats() if item.media_type.startswith("image/")
    }
    assert refusal(b"text", "text/plain") == "unsupported_type"
