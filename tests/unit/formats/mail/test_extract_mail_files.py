"""Files inside of e-mails: their names, where they go, which of them are documents."""

import base64
import binascii
import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_mail
from tests.builders.make_mail import Kept, eml, multipart, nested

PLAIN = "Content-Type: text/plain; charset=utf-8\r\n\r\n"
HTML = "Content-Type: text/html; charset=utf-8\r\n\r\n"
FORWARDED = "Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\nFrom: c@d\r\n\r\nInner text."


def extract(data: bytes, sink: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.eml", members=sink)


def attached(
    name: str, data: bytes, *, kind: str = "application/pdf", how: str = "attachment"
) -> str:
    return (
        f"Content-Type: {kind}\r\nContent-Disposition: {how}; {name}\r\n"
        f"Content-Transfer-Encoding: base64\r\n\r\n{base64.encodebytes(data).decode()}"
    )


@pytest.mark.parametrize(
    ("parameter", "name"),
    [
        ('filename="plan b.pdf"', "plan b.pdf"),
        ("filename*=utf-8''Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"),
        ('filename="=?utf-8?q?Gr=C3=BC=C3=9Fe.pdf?="', "Grüße.pdf"),
        ("filename*0=pl; filename*1=an.pdf", "plan.pdf"),
        ("x=y", "attachment-1.pdf"),
    ],
)
def test_an_attachment_is_listed_and_handed_on_under_its_name(parameter: str, name: str) -> None:
    sink = Kept()

    document = extract(multipart("mixed", PLAIN + "Hi", attached(parameter, b"%PDF-1")), sink)

    assert sink.files == {name: b"%PDF-1"}
    assert document.metadata["attachments"] == [
        {"name": name, "sizeBytes": 6, "mediaType": "application/pdf"}
    ]


def test_alternative_with_a_file_name_is_not_an_attachment() -> None:
    page = 'Content-Type: text/html; name="message.html"\r\n\r\n<b>Lunch?</b>'
    sink = Kept()

    extract(multipart("alternative", page, PLAIN + "Lunch?"), sink)

    assert sink.files == {}


def test_small_inline_picture_is_listed_but_not_stored_as_document() -> None:
    logo = attached("filename=logo.png", b"x" * 100, kind="image/png", how="inline")
    scan = attached("filename=scan.png", b"x" * 60_000, kind="image/png", how="inline")
    sink = Kept()

    document = extract(multipart("related", HTML + "<p>Hi</p>", logo, scan), sink)

    assert list(sink.files) == ["scan.png"]
    assert document.metadata["attachmentCount"] == 2


def test_a_damaged_winmail_dat_is_listed_as_unreadable() -> None:
    sink = Kept()

    extract(
        multipart(
            "mixed", PLAIN + "x", attached("filename=winmail.dat", b"x", kind="application/ms-tnef")
        ),
        sink,
    )

    assert sink.refused == {"winmail.dat": "corrupt"}


def test_too_many_attachments_cost_only_themselves() -> None:
    document = extract(
        multipart("mixed", PLAIN + "Hi", attached("filename=a", b"x")), Kept(full=True)
    )

    assert "Hi" in document.text
    assert "attachments_not_kept" in document.warnings


def test_a_forwarded_message_becomes_a_file_of_its_own() -> None:
    sink = Kept()

    document = extract(multipart("mixed", PLAIN + "See below.", FORWARDED), sink)

    assert "Inner text." not in document.text
    assert "Inner text." in extract(sink.files["Inner.eml"]).text


def test_forwarded_message_is_inlined_without_member_sink() -> None:
    document = extract(multipart("mixed", PLAIN + "See below.", FORWARDED))

    assert "## Inner\n\nFrom: c@d\n\nInner text." in document.text


def test_attachments_of_the_unused_alternative_are_kept() -> None:
    rich = nested("mixed", HTML + "<p>Hi all</p>", attached("filename=a.pdf", b"%PDF-"))
    sink = Kept()

    extract(multipart("alternative", PLAIN + "Hi all", rich), sink)

    assert sink.files == {"a.pdf": b"%PDF-"}


@pytest.mark.parametrize("name", ["IT01_1.xml.p7m", "IT01_1.XML.P7M"])
def test_a_signed_file_is_handed_on_without_its_signature(name: str) -> None:
    signed = attached(
        f"filename={name}", make_mail.signed_block(b"<Fattura/>"), kind="application/pkcs7-mime"
    )
    sink = Kept()

    document = extract(multipart("mixed", PLAIN + "The invoice.", signed), sink)

    assert sink.files == {name[:-4]: b"<Fattura/>"}
    assert "Fattura" not in document.text


def uuencoded(name: str, data: bytes, *, end: str = "`\nend\n") -> str:
    lines = (binascii.b2a_uu(data[at : at + 45]).decode() for at in range(0, len(data), 45))
    return f"begin 644 {name}\n{''.join(lines)}{end}"


@pytest.mark.parametrize("end", ["`\nend\n", " \nend\n", "end"])
def test_files_within_the_text_are_handed_on(end: str) -> None:
    data = bytes(range(256)) * 3
    first, second = uuencoded("plan b.pdf", data), uuencoded("x.txt", b"Pump", end=end)
    sink = Kept()

    document = extract(eml(f"Two files:\n\n{first}\nand\n{second}"), sink)

    assert document.text.endswith("Two files:\n\n\nand")
    assert sink.files == {"plan b.pdf": data, "x.txt": b"Pump"}
    assert document.metadata["attachmentCount"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "begin 644 x.txt\n#4'5M\n",
        "begin 644 x.txt\nWe begin on Monday.\nend\n",
        "We begin 644 pumps.\nend\n",
        "begin 100 PRINT\nHELLO WORLD IS A PROGRAM\n10 GOTO 5\nend\n",
    ],
)
def test_text_that_is_no_file_stays_text(text: str) -> None:
    sink = Kept()

    assert text.split("\n")[1] in extract(eml(f"Note:\n{text}"), sink).text
    assert sink.files == {}


def test_a_signature_of_another_type_is_no_file() -> None:
    block = make_mail.signed_block(b"").replace(bytes.fromhex("a0020400"), b"")
    parts = (
        attached(f"filename={name}", data, kind="application/octet-stream")
        for name, data in (("a.pdf", b"%PDF-1"), ("a.pdf.p7s", block), ("b.txt", b"Pump"))
    )
    sink = Kept()

    extract(multipart("mixed", PLAIN + "Hi", *parts), sink)

    assert set(sink.files) == {"a.pdf", "b.txt"}
