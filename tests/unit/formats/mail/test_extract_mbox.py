"""Mailboxes: where messages begin, and that none harms another."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.mail import mbox, mbox_split
from ingest.formats.mail.mbox_split import messages
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_mail import Kept, deep, eml, multipart
from tests.builders.make_mail import mbox as mailbox

ENVELOPE = b"From ann@example.com Fri Dec 23 12:08:48 2022\n"
PLAIN = "Content-Type: text/plain\r\n\r\n"
ENCRYPTED = multipart("encrypted", "Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1")


def extract(data: bytes, sink: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.mbox", members=sink)


def split(data: bytes, *, largest: int = 1000) -> list[bytes]:
    return [message for message, _ in messages(io.BytesIO(data), largest=largest)]


def test_every_message_is_a_section() -> None:
    document = extract(mailbox(eml("One.", subject="First"), eml("Two.", subject="Second")))

    assert document.text.startswith("# First\n\nFrom: Ann <ann@example.com>\n")
    assert "One.\n\n# Second\n\nFrom:" in document.text
    assert document.metadata["messages"] == 2


def test_a_message_without_a_subject_has_its_number() -> None:
    document = extract(mailbox(eml("One."), b"From: a@b\n\nTwo."))

    assert "\n# Message 2\n\nFrom: a@b\n\nTwo." in document.text


def test_lines_that_only_look_like_envelopes_are_text() -> None:
    message = (
        b"Subject: x\n\nHi,\n\nFrom now on we meet at 10:30.\nFrom here to there\n\n"
        b"The rest.\nFrom 10:30 on, in 2024, we meet."
    )

    assert split(ENVELOPE + message + b"\n") == [message]


def test_a_quoted_line_loses_one_mark() -> None:
    found = split(ENVELOPE + b"Subject: x\n\n>From a friend\n>>From another\n> From a third\n")

    assert found == [b"Subject: x\n\nFrom a friend\n>From another\n> From a third"]


def test_from_line_without_date_or_header_is_not_an_envelope() -> None:
    found = split(ENVELOPE + b"Subject: x\n\nFrom me to you\n\nwith love\n")

    assert len(found) == 1


@pytest.mark.parametrize(
    "envelope",
    [
        b"From 1275@xxx Wed Jul 16 06:24:10 +0000 2008\r\n",
        b"From - Fri Dec 23 12:08:48 2022\n",
        b"From MAILER-DAEMON\n",
    ],
)
def test_envelopes_of_all_programs_begin_a_message(envelope: bytes) -> None:
    data = envelope + b"Subject: a\n\nx\n\n" + envelope + b"Subject: b\n\ny\n"

    assert len(split(data)) == 2


def test_blank_lines_before_the_first_message_are_skipped() -> None:
    assert split(b"\n\n" + ENVELOPE + b"Subject: x\n\ny\n") == [b"Subject: x\n\ny"]


def test_messages_are_found_wherever_the_blocks_of_reading_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = b"".join(ENVELOPE + b"Subject: %d\n\n%d\n\n" % (at, at) for at in range(300))
    at_once = split(data)
    monkeypatch.setattr(mbox_split, "_BLOCK", 61)

    in_blocks = split(data)

    assert len(at_once) == 300
    assert in_blocks == at_once


def test_attachments_lie_in_a_folder_for_their_message() -> None:
    part = "Content-Disposition: attachment; filename=a.txt\r\n\r\nx"
    message = multipart("mixed", PLAIN + "Hi", part, subject="On/off")
    sink = Kept()

    extract(mailbox(eml("first"), message), sink)

    assert list(sink.files) == ["0002 On_off/a.txt"]


def test_unreadable_message_does_not_affect_others() -> None:
    document = extract(mailbox(deep(60), eml("Good.")))

    assert "Good." in document.text
    assert document.metadata["messagesFailed"] == 1
    assert "messages_failed" in document.warnings


def test_a_mailbox_of_nothing_but_encrypted_messages_is_encrypted() -> None:
    with pytest.raises(Permanent) as caught:
        extract(mailbox(ENCRYPTED, ENCRYPTED))

    assert caught.value.code == "encrypted"


def test_an_encrypted_message_among_others_is_reported() -> None:
    document = extract(mailbox(ENCRYPTED, eml("Good.")))

    assert "Good." in document.text
    assert "encrypted_parts" in document.warnings


def test_a_message_larger_than_allowed_is_cut_off_and_reported() -> None:
    data = ENVELOPE + b"Subject: x\n\n" + b"line\n" * 1000 + ENVELOPE + b"Subject: y\n\nz\n"

    found = list(messages(io.BytesIO(data), largest=100))

    assert [is_whole for _, is_whole in found] == [False, True]
    assert len(found[0][0]) <= 100


def test_more_text_than_a_document_may_have_is_refused_with_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mbox, "_MOST_TEXT", 0)

    with pytest.raises(Permanent, match="split it") as caught:
        extract(mailbox(eml("One.")))

    assert caught.value.code == "too_large"
