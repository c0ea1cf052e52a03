"""Bounces, read receipts and complaints: their fields are text."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_mail import Kept, multipart

PLAIN = "Content-Type: text/plain; charset=utf-8\r\n\r\n"


def extract(data: bytes, sink: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.eml", members=sink)


def test_bounce_message_shows_its_reason() -> None:
    status = (
        "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx\r\n\r\n"
        "Final-Recipient: rfc822; bob@example.com\r\nStatus: 5.1.1"
    )

    document = extract(multipart("report", PLAIN + "Sorry.", status))

    assert "Status: 5.1.1" in document.text


def test_sentences_of_a_delivery_report_are_kept() -> None:
    report = (
        "Content-Type: message/delivery-status\r\n\r\nThis message could not be sent\r\n"
        "because of restrictions.\r\n\r\nStatus: 5.3.0\r\n"
    )

    text = extract(multipart("report", report)).text

    assert "This message could not be sent\nbecause of restrictions.\n" in text
    assert "Status: 5.3.0" in text


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("feedback-report", "Feedback-Type: abuse\r\nOriginal-Rcpt-To: ann@example.com"),
        ("disposition-notification", "Final-Recipient: rfc822; ann@example.com\r\nDisposition: x"),
        ("global-delivery-status", "Reporting-MTA: dns; mx\r\n\r\nAction: failed"),
    ],
)
@pytest.mark.parametrize("is_kept", [False, True])
def test_the_fields_of_a_report_are_text(kind: str, fields: str, is_kept: bool) -> None:
    report = f"Content-Type: message/{kind}\r\n\r\n{fields}"
    sink = Kept() if is_kept else None

    text = extract(multipart("report", PLAIN + "A report.", report), sink).text

    assert "A report." in text
    assert all(line in text for line in fields.split("\r\n"))
    assert sink is None or sink.files == {}
