"""PDF: forms, comments, attachments, properties."""

import ctypes
import io

import pytest
from pypdfium2 import raw

from ingest.formats.pdf.engine import pdfium, pdfium_annotations
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_mail import Kept
from tests.builders.make_pdf import Sheet, document, embedded_file, lines

_TEXT = lines(50, 700, "Text of the page.")
_FORM = b"/AcroForm << /Fields [] /DA (/F 12 Tf) >>"


def extract(
    *sheets: Sheet,
    catalog: bytes = b"",
    extra: list[bytes] | None = None,
    members: Kept | None = None,
) -> Document:
    data = document(*sheets, catalog=catalog, extra=extra or [])
    return extract_file(io.BytesIO(data), name="a.pdf", members=members)


def test_comments_stand_at_the_end_of_their_page_as_quotations() -> None:
    comment = b"/Subtype /Text /Rect [10 10 30 30] /Contents (First line\\nSecond line)"

    found = extract(Sheet(content=_TEXT, annotations=[comment]), Sheet(content=_TEXT))

    assert found.text == ("Text of the page.\n\n> First line\n> Second line\n\nText of the page.")


def test_hidden_comments_and_links_are_ignored() -> None:
    annotations = [
        b"/Subtype /Text /Rect [10 10 30 30] /F 2 /Contents (secret)",
        b"/Subtype /Link /Rect [10 10 30 30] /Contents (a link)",
    ]

    assert extract(Sheet(content=_TEXT, annotations=annotations)).text == "Text of the page."


def test_ticked_boxes_are_listed_by_their_labels() -> None:
    def box(name: bytes, state: bytes) -> bytes:
        return (
            b"/Subtype /Widget /FT /Btn /Rect [10 10 30 30] /V /%s /AS /%s %s"
            b" /AP << /N << /Yes 11 0 R /Off 11 0 R >> >>" % (state, state, name)
        )

    boxes = [box(b"/T (a) /TU (I agree)", b"Yes"), box(b"/T (b) /TU (I refuse)", b"Off")]
    appearance = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Length 0 >>\nstream\n\nendstream"
    )

    # pdfium finds fields by the form's list: the annotations are objects 13 and 14.
    found = extract(
        Sheet(content=_TEXT, annotations=boxes),
        catalog=_FORM.replace(b"[]", b"[13 0 R 14 0 R]"),
        extra=[appearance],
    )

    assert found.text == "Text of the page.\n\n- [x] I agree"


def text_field(
    *entries: bytes, shows: bytes = b"", flags: bytes = b"/F 4", form: bytes = _FORM
) -> Document:
    """A page with one text field, object 13, whose appearance is object 11."""
    appearance = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F << /Type"
        b" /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Length %d >>\nstream\n%b\nendstream"
        % (len(shows), shows)
    )
    field = b"/Subtype /Widget /FT /Tx /Rect [50 600 250 620] /AP << /N 11 0 R >> %b %b" % (
        flags,
        b" ".join(entries),
    )
    return extract(
        Sheet(content=_TEXT, annotations=[field]),
        catalog=form.replace(b"[]", b"[13 0 R]"),
        extra=[appearance],
    )


def test_fields_of_a_page_taken_out_of_its_form_are_read() -> None:
    shows = b"BT /F 12 Tf 2 5 Td (Ann Lee) Tj ET"

    found = text_field(b"/T (name) /V (Ann Lee)", shows=shows, form=b"")

    assert found.text == "Text of the page.\nAnn Lee"


def test_a_value_that_the_appearance_of_its_field_does_not_hold_is_listed() -> None:
    found = text_field(b"/T (Text7) /TU (Full name) /V (Ann  Lee)", shows=b"0 0 10 10 re f")

    assert found.text == "Text of the page.\n\n- Full name: Ann Lee"


@pytest.mark.parametrize("shown", [b"Ann Lee", b"A n n   L e e", b"ANN LEE"])
def test_a_value_that_its_field_shows_is_said_once(shown: bytes) -> None:
    found = text_field(b"/T (name) /V (Ann Lee)", shows=b"BT /F 12 Tf 2 5 Td (%b) Tj ET" % shown)

    assert found.text.split() == f"Text of the page. {shown.decode()}".split()


@pytest.mark.parametrize(
    "secret", [b"/F 2", b"/F 32", b"/F 4 /Ff 8192"], ids=["hidden", "not viewed", "password"]
)
def test_values_that_readers_do_not_see_are_left_out(secret: bytes) -> None:
    assert text_field(b"/T (a) /V (secret)", flags=secret).text == "Text of the page."


def test_a_page_whose_text_flattening_destroys_is_read_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = pdfium.load_page
    documents: list[int] = []

    def load_noted(document: int, index: int) -> int | None:
        documents.append(document)
        page: int | None = load(document, index)
        return page

    def destroy(page: int) -> None:
        pdfium_annotations.flatten(page)
        other = ctypes.cast(load(documents[0], 0), raw.FPDF_PAGE)
        while part := raw.FPDFPage_GetObject(other, 0):
            raw.FPDFPage_RemoveObject(other, part)
        raw.FPDFPage_GenerateContent(other)
        raw.FPDF_ClosePage(other)

    monkeypatch.setattr(pdfium, "load_page", load_noted)
    monkeypatch.setattr("ingest.formats.pdf.page.flatten", destroy)
    monkeypatch.setattr("ingest.formats.pdf.annotations._FEWEST_WORDS", 4)

    found = text_field(b"/T (name) /V (Ann Lee)", shows=b"BT /F 12 Tf 2 5 Td (Ann Lee) Tj ET")

    assert found.text == "Text of the page.\n\n- name: Ann Lee"


@pytest.mark.parametrize(
    ("drawn", "more", "flattened", "text"),
    [
        (b"", b"", 0, "Text of the page."),
        (b"", b"/Subtype /Link /Rect [0 0 9 9]", 0, "Text of the page."),
        (b"BT /F 12 Tf 1 0 0 1 5 5 Tm (Signed by Ann) Tj ET", b"", 1, "Signed by Ann"),
        (b"", b"/Subtype /FreeText /Rect [0 0 9 9] /Contents (Note)", 1, "> Note"),
    ],
)
def test_a_signature_is_drawn_into_its_page_if_it_shows_something(
    monkeypatch: pytest.MonkeyPatch, drawn: bytes, more: bytes, flattened: int, text: str
) -> None:
    calls: list[int] = []

    def flatten(page: int) -> None:
        calls.append(page)
        pdfium_annotations.flatten(page)

    monkeypatch.setattr("ingest.formats.pdf.page.flatten", flatten)
    signature = (
        b"/Subtype /Widget /FT /Sig /T (Signature) /Rect [50 600 250 620] /AP << /N 11 0 R >>"
    )
    appearance = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F 3 0 R >> >>"
        b" /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn)
    )

    found = extract(
        Sheet(content=_TEXT, annotations=[signature, *filter(None, [more])]),
        catalog=_FORM.replace(b"[]", b"[13 0 R]"),
        extra=[appearance],
    )

    assert text in found.text
    assert len(calls) == flattened


def test_attached_files_are_listed_and_kept() -> None:
    kept = Kept()

    found = extract(
        Sheet(content=_TEXT),
        catalog=b"/Names << /EmbeddedFiles << /Names [(notes.txt) 12 0 R] >> >>",
        extra=embedded_file(b"hello", "notes.txt"),
        members=kept,
    )

    assert found.metadata["attachments"] == [{"name": "notes.txt", "sizeBytes": 5}]
    assert kept.files == {"notes.txt": b"hello"}


def test_files_of_comments_are_kept_too() -> None:
    kept = Kept()
    pin = b"/Subtype /FileAttachment /Rect [10 10 30 30] /FS 12 0 R"

    extract(
        Sheet(content=_TEXT, annotations=[pin]),
        extra=embedded_file(b"hello", "pin.txt"),
        members=kept,
    )

    assert kept.files == {"pin.txt": b"hello"}


def test_too_many_attachments_do_not_affect_the_text() -> None:
    found = extract(
        Sheet(content=_TEXT),
        catalog=b"/Names << /EmbeddedFiles << /Names [(notes.txt) 12 0 R] >> >>",
        extra=embedded_file(b"hello", "notes.txt"),
        members=Kept(full=True),
    )

    assert found.text == "Text of the page."
    assert found.warnings == ("attachments_not_kept",)


def test_values_of_an_xfa_form_are_listed_and_the_form_reported() -> None:
    xml = (
        b"<xfa:datasets xmlns:xfa='http://www.xfa.org/schema/xfa-data/1.0/'><xfa:data><form>"
        b"<Name>Ann Lee</Name><Empty/></form></xfa:data></xfa:datasets>"
    )
    packet = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(xml), xml)

    found = extract(
        Sheet(content=_TEXT),
        catalog=b"/AcroForm << /Fields [] /XFA [(datasets) 11 0 R] >> /NeedsRendering true",
        extra=[packet],
    )

    assert found.text == "Text of the page.\n\n- Name: Ann Lee"
    assert found.warnings == ("xfa_form",)


def test_the_language_is_kept() -> None:
    assert extract(Sheet(content=_TEXT), catalog=b"/Lang (de-CH)").metadata["language"] == "de-CH"


def test_a_field_behind_thousands_of_links_keeps_its_value() -> None:
    link = b"/Subtype /Link /Rect [10 10 12 12] /A << /S /URI /URI (https://example.com) >>"
    appearance = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Length 0 >>\nstream\n\nendstream"
    )
    field = (
        b"/Subtype /Widget /FT /Tx /T (Sum) /V (1,183.80) /Rect [50 600 250 620]"
        b" /AP << /N 11 0 R >>"
    )
    count = 2100

    found = extract(
        Sheet(content=_TEXT, annotations=[*[link] * count, field]),
        catalog=b"/AcroForm << /Fields [%d 0 R] /DA (/F 12 Tf) >>" % (13 + count),
        extra=[appearance],
    )

    assert "1,183.80" in found.text
