"""PDF: files made to hang, to swell or to lie."""

import io
import zlib

import pytest

from ingest.errors import Permanent
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout import vertical
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files
from tests.builders.make_pdf import Sheet, at, document, grid, lines


def extract(data: bytes) -> Document:
    return extract_file(io.BytesIO(data), name="a.pdf")


def test_a_page_tree_that_contains_itself_ends() -> None:
    data = document(at(50, 700, "Text."))
    looped = data.replace(b"/Type /Pages /Kids [", b"/Type /Pages /Kids [2 0 R ")

    try:
        text = extract(looped).text
    except Permanent as error:
        assert error.code in ("corrupt", "no_text")  # noqa: PT017  # either end is a clear one
    else:
        assert "Text." in text


def test_a_form_that_draws_itself_ends() -> None:
    form = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject <<"
        b" /X 11 0 R >> >> /Length 5 >>\nstream\n/X Do\nendstream"
    )
    sheet = Sheet(
        content=at(50, 700, "Text beside it.") + b"/X Do\n",
        entries=b"/Resources << /Font << /F 3 0 R >> /XObject << /X 11 0 R >> >>",
    )

    assert extract(document(sheet, extra=[form])).text == "Text beside it."


def test_cyclic_bookmarks_terminate() -> None:
    outline = [
        b"<< /Type /Outlines /First 12 0 R /Last 12 0 R >>",
        b"<< /Title (Text) /Parent 11 0 R /Next 12 0 R /First 12 0 R /Dest [14 0 R /Fit] >>",
    ]

    found = extract(document(at(50, 700, "Text."), catalog=b"/Outlines 11 0 R", extra=outline))

    assert "Text." in found.text


def test_entities_of_form_data_are_not_expanded() -> None:
    xml = b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/hostname'>]><a><c>&b;x</c></a>"
    packet = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(xml), xml)

    found = extract(
        document(
            at(50, 700, "Text."),
            catalog=b"/AcroForm << /Fields [] /XFA [(datasets) 11 0 R] >> /NeedsRendering true",
            extra=[packet],
        )
    )

    assert found.text.splitlines()[0] == "Text."


def test_thousands_of_rules_are_not_read_as_a_table() -> None:
    rules = grid([50 + x / 10 for x in range(0, 5000, 25)], [100, 400, 700])

    found = extract(document(rules + lines(60, 600, *["a  b  c"] * 5)))

    assert "a b c" in " ".join(found.text.split())


def test_attachment_with_false_length_does_not_fail_the_document() -> None:
    packed = zlib.compress(b"x" * 1000)
    extra = [
        b"<< /Type /EmbeddedFile /Filter /FlateDecode /Length 99999 >>\nstream\n%b\nendstream"
        % packed,
        b"<< /Type /Filespec /F (a.txt) /EF << /F 11 0 R >> >>",
    ]

    found = extract(
        document(
            at(50, 700, "Text."),
            catalog=b"/Names << /EmbeddedFiles << /Names [(a.txt) 12 0 R] >> >>",
            extra=extra,
        )
    )

    assert found.text == "Text."
    assert found.metadata["attachments"][0]["name"] == "a.txt"


def test_the_slow_engine_for_vertical_text_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdfium, "count_objects", lambda page: 50_000)

    assert vertical.VerticalPages(io.BytesIO()).text(0, 0) is None


@pytest.mark.parametrize("up", [0.0, 0.1])
def test_text_drawn_over_itself_is_read_once(up: float) -> None:
    data = document(b"".join(at(50, 400 + up * time, "Drawn again.") for time in range(200)))

    assert extract(data).text == "Drawn again."


def test_title_of_lone_surrogates_does_not_affect_the_text() -> None:
    data = make_files.pdf(["Text."], title="Title")
    broken = b"/Title <FEFFD8000041>"

    found = extract(_with_title(data, broken))

    assert found.text == "Text."


def _with_title(data: bytes, title: bytes) -> bytes:
    start = data.index(b"/Title")
    end = data.index(b")", start) + 1
    return data[:start] + title + data[end:]
