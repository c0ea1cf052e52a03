"""PDF: pages that are pictures, with and without text recognition; text layers that say nothing."""

import io

import pytest
from PIL import Image

from ingest.errors import Permanent
from ingest.formats.common.input_file import Recogniser
from ingest.formats.registry import extract as extract_file
from ingest.model import Coverage, Document
from ingest.page_words import Recognised, Word
from tests.builders.make_images import drawn, encoded
from tests.builders.make_pdf import Sheet, area, at, document, image, lines, rule

_SCAN = image(0, 0, 600, 800)


class Ocr(Recogniser):
    """Reads the same in every picture, or fails."""

    name = "fake 1"

    def __init__(self, text: str = "What the scan says", error: Permanent | None = None) -> None:
        self._text = text
        self._error = error
        self.sizes: list[tuple[int, int]] = []

    def recognise(self, image: Image.Image) -> Recognised:
        self.sizes.append(image.size)
        if self._error is not None:
            raise self._error
        return Recognised(self._text, [Word(self._text, (0.1, 0.2, 0.3, 0.4))])


def written_page() -> Image.Image:
    page = Image.new("L", (800, 1100), 250)
    for line in range(10):
        page.paste(drawn("Words in a script that nobody knows", size=28), (60, 80 + 90 * line))
    return page


def extract(*sheets: Sheet | bytes, ocr: Ocr | None = None) -> Document:
    return extract_file(io.BytesIO(document(*sheets)), name="a.pdf", ocr=ocr)


def test_a_picture_is_rendered_at_200_dots_an_inch_and_read() -> None:
    ocr = Ocr()

    found = extract(_SCAN, lines(50, 700, "Text of a page", "that needs no picture"), ocr=ocr)

    assert found.text == "What the scan says\n\nText of a page\nthat needs no picture"
    assert found.coverage == Coverage(pages=2, with_text=2, empty=0, by_ocr=1)
    assert ocr.sizes == [(1667, 2223)]


def test_a_huge_page_is_rendered_small_enough() -> None:
    ocr = Ocr()

    extract(Sheet(content=_SCAN, entries=b"/UserUnit 1 /MediaBox [0 0 14400 14400]"), ocr=ocr)

    width, height = ocr.sizes[0]
    assert width * height <= 26_000_000


def test_a_blank_page_is_empty_and_no_picture() -> None:
    ocr = Ocr()

    found = extract(b"", lines(50, 700, "Text."), area(0, 0, 600, 800, grey=1), ocr=ocr)

    assert found.coverage == Coverage(pages=3, with_text=1, empty=2)
    assert ocr.sizes == []


def test_text_drawn_as_curves_is_read_as_a_picture() -> None:
    drawn = b"".join(rule(50 + x, 700, 52 + x, 710) for x in range(0, 400, 4))

    assert extract(drawn, lines(50, 700, "Text.")).coverage.unread == 1


def test_a_picture_without_text_is_empty_not_unread() -> None:
    found = extract(_SCAN, lines(50, 700, "Text."), ocr=Ocr(""))

    assert found.coverage == Coverage(pages=2, with_text=1, empty=1)


def test_a_scan_with_writing_that_ocr_cannot_read_is_unread_and_a_blank_one_is_empty() -> None:
    scans = [written_page(), Image.new("L", (800, 1100), 240), written_page()]
    data = io.BytesIO(encoded(scans[0], "PDF", save_all=True, append_images=scans[1:]))

    with pytest.raises(Permanent) as caught:
        extract_file(data, name="a.pdf", ocr=Ocr(""))

    assert caught.value.code == "no_text"
    assert "2 of 3 pages have writing" in str(caught.value)


def test_a_picture_that_takes_too_long_is_unread_and_others_are_read() -> None:
    ocr = Ocr(error=Permanent("too slow", code="parser_timeout"))

    found = extract(_SCAN, lines(50, 700, "Text."), ocr=ocr)

    assert found.coverage == Coverage(pages=2, with_text=1, empty=0, unread=1, lost=(1,))


def test_other_ocr_errors_fail_the_document() -> None:
    ocr = Ocr(error=Permanent("no memory", code="parser_memory"))

    with pytest.raises(Permanent) as caught:
        extract(_SCAN, ocr=ocr)

    assert caught.value.code == "parser_memory"


def test_page_number_over_a_scan_does_not_count_as_text() -> None:
    scans = [_SCAN + at(300, 20, f"Page {number} of 3") for number in (1, 2, 3)]

    with pytest.raises(Permanent) as caught:
        extract(*scans)

    assert caught.value.code == "no_text"


def test_stamp_on_every_scan_does_not_count_as_text() -> None:
    scans = [_SCAN + at(300, 20, "ScanApp")] * 2

    with pytest.raises(Permanent) as caught:
        extract(*scans)

    assert caught.value.code == "no_text"


def test_few_words_typed_into_a_scanned_form_are_kept() -> None:
    found = extract(_SCAN + at(300, 400, "Ann Lee"))

    assert found.text == "Ann Lee"
    assert found.warnings == ("pages_unread",)


def test_words_over_a_scan_that_the_engine_missed_follow_its_text() -> None:
    found = extract(_SCAN + at(300, 400, "Ann Lee") + at(300, 20, "scan"), ocr=Ocr())

    assert found.text == "What the scan says\nAnn Lee"


def test_small_picture_beside_a_few_words_is_not_a_scan() -> None:
    assert extract(image(50, 50, 80, 40) + at(50, 700, "Thank you")).warnings == ()


def garbled() -> bytes:
    """Codes that no letter belongs to."""
    return b"".join(
        b"BT /F 12 Tf 1 0 0 1 50 %d Tm (%s) Tj ET\n" % (y, b"\\001\\002\\003\\004\\005\\006" * 5)
        for y in range(700, 500, -20)
    )


def test_unusable_text_layer_is_reported() -> None:
    found = extract(garbled(), lines(50, 700, "Text."))

    assert "garbled_text" in found.warnings


def test_page_with_unusable_text_layer_is_read_by_ocr() -> None:
    found = extract(garbled(), ocr=Ocr())

    assert found.text == "What the scan says"
    assert found.coverage.by_ocr == 1
    assert "garbled_text" not in found.warnings
