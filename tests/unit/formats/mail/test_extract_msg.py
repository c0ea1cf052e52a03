"""Outlook items: properties in all encodings, attachments, items inside of items."""

import io
import struct
from datetime import UTC, datetime

import compressed_rtf
import pytest
from olefile import OleFileIO

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_mail
from tests.builders.make_mail import Kept, Tree, msg_attachment, msg_item, ole

CLASS, SUBJECT, BODY, HTML, RTF = 0x001A, 0x0037, 0x1000, 0x1013, 0x1009
NAME, SMTP, ADDRESS = 0x3001, 0x39FE, 0x3003
NOTE = {CLASS: "IPM.Note", SUBJECT: "Hello", BODY: "The body."}


def extract(tree: Tree, sink: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(ole(tree)), name="a.msg", members=sink)


def ticks(moment: datetime) -> int:
    return int((moment - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7


def person(name: str, address: str, *, kind: int) -> Tree:
    return msg_item({NAME: name, SMTP: address}, kind="part", numbers={0x0C15: kind})


def test_people_date_and_body_are_read() -> None:
    item = msg_item(
        {**NOTE, 0x0C1A: "Ann", 0x0C1F: "ann@example.com"},
        times={0x0039: ticks(datetime(2022, 12, 23, 18, 8, 48, tzinfo=UTC))},
        recipients=[person("Bob", "bob@example.com", kind=1), person("Cy", "", kind=2)],
    )

    document = extract(item)

    assert document.text == (
        "# Hello\n\nFrom: Ann <ann@example.com>\nTo: Bob <bob@example.com>\nCc: Cy\n"
        "Date: 2022-12-23T18:08:48+00:00\n\nThe body."
    )
    assert document.title == "Hello"


def test_addresses_that_only_exchange_knows_are_left_out() -> None:
    item = msg_item({**NOTE, 0x0C1A: "Ann", 0x0C1F: "/o=ExchangeLabs/cn=ann"})

    assert "From: Ann\n" in extract(item).text


def test_transport_headers_take_precedence() -> None:
    item = msg_item({**NOTE, 0x007D: "From: Real <real@example.com>\r\n\r\n", 0x0C1A: "Ann"})

    assert "From: Real <real@example.com>" in extract(item).text


@pytest.mark.parametrize("page", [950, 0])
def test_strings_of_bytes_are_read_by_their_code_page_or_by_what_they_look_like(page: int) -> None:
    body = "格式測試。這是一封用來測試的信件。請不要回覆。" * 5
    item = msg_item({**NOTE, SUBJECT: "測試", BODY: body}, charset="cp950", numbers={0x3FFD: page})

    document = extract(item)

    assert document.title == "測試"
    assert body in document.text
    assert document.encoding is not None
    assert document.encoding.name in ("cp950", "big5hkscs")


def test_an_item_with_a_page_only_is_read_from_it() -> None:
    item = msg_item({CLASS: "IPM.Note", SUBJECT: "Hello"})
    item["__substg1.0_10130102"] = "<meta charset=windows-1252><b>Grüße</b>".encode("cp1252")

    assert "**Grüße**" in extract(item).text


def test_a_page_is_in_its_own_code_page() -> None:
    item = msg_item({CLASS: "IPM.Note"}, numbers={0x3FFD: 1251, 0x3FDE: 20866})
    item["__substg1.0_10130102"] = "<p>Кто там</p>".encode("koi8-r")

    assert "Кто там" in extract(item).text


def test_an_item_with_rich_text_only_is_read_from_it() -> None:
    item = msg_item({CLASS: "IPM.Note", SUBJECT: "Hello"})
    item["__substg1.0_10090102"] = compressed_rtf.compress(rb"{\rtf1\ansi Rich \b text\b0 .}")

    assert "Rich **text**" in extract(item).text


def test_rich_text_that_is_damaged_leaves_the_rest_readable() -> None:
    item = msg_item({CLASS: "IPM.Note", SUBJECT: "Hello"})
    item["__substg1.0_10090102"] = b"not compressed at all"

    assert extract(item).text == "# Hello"


def test_attachments_are_listed_and_handed_on() -> None:
    sink = Kept()

    document = extract(msg_item(NOTE, attachments=[msg_attachment("Grüße.pdf", b"%PDF-1")]), sink)

    assert sink.files == {"Grüße.pdf": b"%PDF-1"}
    assert document.metadata["attachments"] == [
        {"name": "Grüße.pdf", "sizeBytes": 6, "mediaType": "application/pdf"}
    ]


def test_an_embedded_item_becomes_a_message_of_its_own_with_its_files() -> None:
    inner = msg_item(
        {**NOTE, SUBJECT: "Größe", BODY: "Inner text."},
        kind="embedded",
        attachments=[msg_attachment("b.txt", b"deep")],
    )
    sink = Kept()

    extract(msg_item(NOTE, attachments=[msg_attachment("", inner)]), sink)

    (name, data), *_ = sink.files.items()
    deeper = Kept()
    document = extract_file(io.BytesIO(data), name=name, members=deeper)
    assert name == "Größe.eml"
    assert "Inner text." in document.text
    assert deeper.files == {"b.txt": b"deep"}


def test_embedded_item_is_inlined_without_member_sink() -> None:
    inner = msg_item({**NOTE, SUBJECT: "Inner", BODY: "Inner text."}, kind="embedded")

    document = extract(msg_item(NOTE, attachments=[msg_attachment("", inner)]))

    assert "## Inner\n\nInner text." in document.text


def test_an_appointment_says_when_and_where() -> None:
    item = msg_item(
        {**NOTE, CLASS: "IPM.Appointment", 0x8001: "Room 5"},
        times={0x8000: ticks(datetime(2024, 5, 1, 12, tzinfo=UTC))},
    )
    named = struct.pack("<IHHIHH", 0x820D, 6, 0, 0x8208, 6, 1)
    item["__nameid_version1.0"] = {"__substg1.0_00030102": named}

    document = extract(item)

    assert "Start: 2024-05-01T12:00:00+00:00\nLocation: Room 5\n\nThe body." in document.text


def test_contact_fields_are_read() -> None:
    document = extract(
        msg_item({CLASS: "IPM.Contact", SUBJECT: "Ann", 0x3A16: "Acme", 0x3A08: "+49 30 1"})
    )

    assert "Company: Acme\nBusiness phone: +49 30 1" in document.text


def test_an_encrypted_item_is_encrypted() -> None:
    block = make_mail.signed_block(b"x", signed=False)
    item = msg_item(
        {CLASS: "IPM.Note.SMIME", SUBJECT: "x"}, attachments=[msg_attachment("", block)]
    )

    with pytest.raises(Permanent) as caught:
        extract(item)

    assert caught.value.code == "no_text"


def test_a_signed_item_is_read_from_its_signed_part() -> None:
    signed = make_mail.multipart("signed", "Content-Type: text/plain\r\n\r\nSigned text.")
    item = msg_item(
        {CLASS: "IPM.Note.SMIME.MultipartSigned", SUBJECT: "x"},
        attachments=[msg_attachment("smime.p7m", signed)],
    )

    assert "Signed text." in extract(item).text


def test_thousands_of_recipients_are_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their folder is a chain here, as some programs write it, deeper than recursion may go."""
    people = [person(f"P{n}", f"p{n}@a.example", kind=1) for n in range(1500)]
    # What the library searches through; an entry must be found without it.
    monkeypatch.setattr(OleFileIO, "_find", lambda *_: pytest.fail("searched"))

    found = extract(msg_item({0x0037: "Hello", 0x1000: "Body."}, recipients=people))

    assert "To: P0 <p0@a.example>, P1 <p1@a.example>" in found.text
    assert found.text.endswith("Body.")
