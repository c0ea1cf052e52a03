"""PDF: pages, passwords, scans, damage."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.common.input_file import InputFile
from ingest.formats.pdf.engine import pypdf_fallback
from ingest.formats.pdf.layout.markdown import tidy
from ingest.formats.pdf.text import metadata, title
from ingest.formats.pdf.torn import better_text
from ingest.formats.registry import extract as extract_file
from ingest.model import Coverage, Document, Page
from tests.builders import make_files
from tests.builders.make_pdf import at, document, lines


def extract(data: bytes, max_pages: int = 100) -> Document:
    return extract_file(io.BytesIO(data), name="a.pdf", max_pages=max_pages)


def refusal(data: bytes, max_pages: int = 100) -> str:
    with pytest.raises(Permanent) as caught:
        extract(data, max_pages)
    return caught.value.code


def test_each_page_has_its_range_of_characters() -> None:
    document = extract(make_files.pdf(["First page.\nSecond line.", "Second page."]))

    assert [document.text[page.start : page.end] for page in document.pages] == [
        "First page.\nSecond line.",
        "Second page.",
    ]
    assert [page.number for page in document.pages] == [1, 2]


def test_pages_of_pictures_are_counted_as_unread() -> None:
    document = extract(make_files.pdf(["Text.", None, "More."]))

    assert document.coverage == Coverage(pages=3, with_text=2, empty=0, unread=1, lost=(2,))
    assert document.pages[1] == Page(number=2, start=7, end=7)


def test_scan_without_ocr_raises_no_text() -> None:
    assert refusal(make_files.scanned_pdf(2)) == "no_text"


def test_pdf_with_user_password_raises_encrypted() -> None:
    assert refusal(make_files.pdf(user_password="x")) == "encrypted"


def test_a_file_does_not_inherit_the_password_of_the_one_read_before() -> None:
    head = b"%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"
    pages = b"2 0 obj << /Type /Pages /Kids [] /Count 0 >> endobj\n"
    start = len(head + pages)
    places = b"".join(b"\1%b\0" % place.to_bytes(3) for place in (9, len(head), start))
    # pypdf cannot read this table, so that pdfium's word decides.
    table = b"3 0 obj << /Type /XRef /Size 4 /W [1 3 1] /Root 1 0 R /Filter /None /Length %d >>" % (
        len(places)
    )
    empty = b"%b%b%b stream\n%b\nendstream endobj\nstartxref\n%d\n%%%%EOF" % (
        head, pages, table, places, start,
    )  # fmt: skip

    assert refusal(make_files.pdf(user_password="x")) == "encrypted"
    assert refusal(empty) == "corrupt"


def test_owner_password_does_not_prevent_reading() -> None:
    assert extract(make_files.pdf(owner_password="x")).text == "Hello from a PDF."


def test_the_fallback_engine_opens_owner_passwords() -> None:
    data = make_files.pdf(["Page one.", "Page two."], owner_password="x")
    source = InputFile(stream=io.BytesIO(data), media_type="application/pdf")

    extraction = pypdf_fallback.extract(source, wants_password=True)

    assert extraction.parts == ["Page one.", "Page two."]


def test_too_many_pages_are_refused() -> None:
    data = make_files.pdf(["a", "b", "c"])

    assert refusal(data, max_pages=2) == "too_many_pages"
    assert extract(data, max_pages=3).coverage.pages == 3


def test_filled_form_fields_are_read() -> None:
    assert "Filled in by hand" in extract(make_files.pdf_with_field("Filled in by hand")).text


def test_a_truncated_pdf_is_corrupt() -> None:
    assert refusal(make_files.pdf()[:400]) == "corrupt"


def test_pdf_without_cross_reference_table_is_repaired() -> None:
    data = make_files.pdf(["Still readable."])
    table = data.rindex(b"xref\n0")

    document = extract(data[:table] + data[data.rindex(b"trailer") :])

    assert document.text == "Still readable."


def test_pdf_header_alone_raises_corrupt() -> None:
    assert refusal(b"%PDF-1.7\nnothing else that makes sense") == "corrupt"


def test_the_title_comes_from_the_properties() -> None:
    assert extract(make_files.pdf(title="Annual\0 report")).title == "Annual report"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("Microsoft Word - Report", "Report"), ("Untitled", None), ("10811.exe", None), ("", None)],
)
def test_titles_made_up_by_programs_are_dropped(stated: str, expected: str | None) -> None:
    assert title(stated) == expected


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("D:20240229101530+02'00'", "2024-02-29T10:15:30+02:00"),
        ("D:20240229101530Z", "2024-02-29T10:15:30+00:00"),
        ("D:20240229101530-0330", "2024-02-29T10:15:30-03:30"),
        ("D:202402291015", "2024-02-29T10:15:00"),
        ("D:2024", "2024-01-01"),
        ("D:20241399", "D:20241399"),
        ("last week", "last week"),
    ],
)
def test_dates_become_iso_8601_and_invalid_ones_are_kept(stated: str, expected: str) -> None:
    assert metadata({"CreationDate": stated}) == {"created": expected}


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("of\ufb01ce \ufb02oor", "office floor"),
        ("x² and ½", "x² and ½"),
        ("\u2f08", "\u4eba"),
        ("a\u00a0b", "a b"),
    ],
)
def test_ligatures_and_presentation_forms_are_replaced(raw: str, clean: str) -> None:
    assert tidy(raw) == clean


@pytest.mark.parametrize(
    ("opinion", "expected"),
    [
        ("some words set wide apart", "some words set wide apart"),
        ("", "s o m e w o r d s s e t w i d e a p a r t"),
        (None, "s o m e w o r d s s e t w i d e a p a r t"),
        ("other", "s o m e w o r d s s e t w i d e a p a r t"),
    ],
)
def test_letters_torn_apart_are_joined_if_the_second_engine_can(
    opinion: str | None, expected: str
) -> None:
    assert better_text("s o m e w o r d s s e t w i d e a p a r t", lambda: opinion) == expected


def test_words_of_usual_length_ask_no_second_engine() -> None:
    assert better_text("some words of usual length in a line", lambda: "x") == (
        "some words of usual length in a line"
    )


def apart(text: str) -> str:
    return "  ".join(" ".join(word) for word in text.split())


_APART = ["Letters of every word here", "stand apart, as in old letters", "größer als Äpfel"]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(lines(50, 700, *map(apart, _APART)), id="spaces"),
        pytest.param(
            b"".join(
                at(50, 700 - 20 * row, text, before="9 Tc") for row, text in enumerate(_APART)
            ),
            id="character spacing",
        ),
    ],
)
def test_letters_spaced_apart_are_joined_to_words(page: bytes) -> None:
    assert extract(document(page)).text.split() == " ".join(_APART).split()


@pytest.mark.parametrize(
    "row", ["x o x x o x o o x x o x", "l i k e t h i s w i t h o u t w o r d s"]
)
def test_single_letters_without_words_are_left_as_they_are(row: str) -> None:
    assert extract(document(lines(50, 700, *[row] * 3))).text.split() == row.split() * 3


def test_letters_drawn_with_a_shadow_are_read_once() -> None:
    title = "bound ahead"
    page = b"".join(
        at(50 + 8.9 * place + shift, 700 - shift, letter, size=16)
        for place, letter in enumerate(title)
        for shift in (0, 3)
    )

    assert extract(document(page)).text.removeprefix("# ") == title


@pytest.mark.parametrize(
    "line", ["XXXXXX", "aabbccdd", "1122334455", "AABBCC DDEEFF", "ooppqqrrsstt uuvv"]
)
def test_letters_that_stand_twice_beside_each_other_are_kept(line: str) -> None:
    assert extract(document(lines(50, 700, line))).text == line


@pytest.mark.parametrize("junk", [b"x" * 1500 + b"\n", b"Warning: a line of a script\n" * 300])
def test_pdf_after_more_junk_than_readers_skip_is_read(junk: bytes) -> None:
    assert extract(junk + make_files.pdf(["Words."])).text == "Words."
