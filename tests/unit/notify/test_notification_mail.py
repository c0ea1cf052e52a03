"""Notifications by e-mail: what is said, and how a mail server's answers are taken."""

import socket
from datetime import UTC, datetime
from typing import Any

import pytest

from ingest.providers.notify.mail import Letter, Mailer, MailRefused
from ingest.providers.notify.mail_text import letter_of
from ingest.settings.smtp_url import SmtpServer
from tests.servers.smtp_stub import SmtpStub, smtp_stub

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
BATCH: dict[str, Any] = {
    "batchId": "b-1",
    "total": 12,
    "accepted": 10,
    "unchanged": 1,
    "duplicate": 0,
    "rejected": 1,
    "completed": 7,
    "partial": 1,
    "failed": 2,
    "cancelled": 0,
    "reviewNeeded": 0,
}
RESCRAPE: dict[str, Any] = {
    "name": "Wiki",
    "uri": "https://wiki.example/",
    "knowledgeSourceId": "s-1",
    "jobId": "j-1",
    "status": "review_needed",
    "digest": {"new": 3, "changed": 2, "removed": 0, "removalsHeld": 40},
}
JOB: dict[str, Any] = {
    "jobType": "url",
    "errorCode": "fetch_status",
    "errorMessage": "the server responded with HTTP 404",
    "attempts": 1,
    "jobId": "j-1",
    "knowledgeSourceId": "s-1",
    "name": "Wiki",
}


def event(type: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": type, "timestamp": "2026-11-28T03:00:00Z", "data": data}


def letter(text: str = "Hello.\n") -> Letter:
    return Letter(to="ops@mail.test", subject="Größe", text=text, message_id="7", at=AT)


def mailer(stub: SmtpStub, *, password: str | None = None) -> Mailer:
    server = SmtpServer(
        host="127.0.0.1",
        port=stub.port,
        security="none",
        username=password and "robot",
        password=password,
    )
    return Mailer(server=server, sender="rag@service.test")


@pytest.mark.parametrize(
    ("type", "data", "subject", "lines"),
    [
        (
            "batch.completed",
            BATCH,
            "Upload finished: 8 of 10 files are searchable",
            ["  failed:         2", "One row per file: GET /api/batches/b-1/report"],
        ),
        (
            "rescrape.completed",
            RESCRAPE,
            "Wiki: 3 new, 2 changed, 0 removed",
            ["Removals held:    40", "Approve or reject the removals: job j-1"],
        ),
        (
            "job.failed",
            JOB,
            "A job has failed: url, fetch_status",
            [
                "Reason:           fetch_status: the server responded with HTTP 404",
                "Knowledge source: Wiki (s-1)",
            ],
        ),
        ("endpoint.test", {}, "A test", ["At 2026-11-28T03:00:00Z."]),
    ],
)
def test_email_describes_the_event_in_words(
    type: str, data: dict[str, Any], subject: str, lines: list[str]
) -> None:
    written, text = letter_of(event(type, data))

    assert written == f"[rag-ingest] {subject}"
    assert set(lines) <= set(text.splitlines())


def test_names_cannot_inject_email_headers() -> None:
    data = {**RESCRAPE, "name": "x\r\nBcc: thief@mail.test\u2028" + "y" * 500, "uri": "a\nb"}

    subject, text = letter_of(event("rescrape.completed", data))

    assert subject.startswith("[rag-ingest] x Bcc: thief@mail.test y")
    assert len(subject) == 150
    assert len(subject.splitlines()) == 1
    assert text.startswith("a b was fetched again.\n")


async def test_email_arrives_with_its_headers() -> None:
    async with smtp_stub() as stub:
        await mailer(stub).send(letter())

    [taken] = stub.letters
    assert stub.envelopes == [("rag@service.test", "ops@mail.test")]
    assert (taken["From"], taken["To"]) == ("rag@service.test", "ops@mail.test")
    assert (taken["Subject"], taken["Message-ID"]) == ("Größe", "<7@service.test>")
    assert taken["Date"].datetime == AT
    assert taken["Auto-Submitted"] == "auto-generated"
    assert taken.get_content().strip() == "Hello."
    assert stub.logins == []


async def test_the_user_logs_in_when_one_is_named() -> None:
    async with smtp_stub() as stub:
        await mailer(stub, password="pass-word").send(letter())

    assert stub.logins == ["robot:pass-word"]
    assert len(stub.letters) == 1


@pytest.mark.parametrize(
    ("command", "answer", "status"),
    [
        ("RCPT", "550 no such mailbox", 550),
        ("MAIL", "451 come back later", 451),
        ("DATA", "554 spam", 554),
    ],
)
async def test_smtp_refusal_quotes_the_server(command: str, answer: str, status: int) -> None:
    async with smtp_stub(**{command: answer}) as stub:
        with pytest.raises(MailRefused, match=answer) as caught:
            await mailer(stub).send(letter())

    assert caught.value.status == status
    assert stub.letters == []


async def test_wrong_smtp_password_is_reported_without_the_password() -> None:
    async with smtp_stub(AUTH="535 wrong password") as stub:
        with pytest.raises(MailRefused, match="535") as caught:
            await mailer(stub, password="pass-word").send(letter())

    assert "pass-word" not in str(caught.value)


async def test_starttls_is_required_even_if_the_server_lacks_it() -> None:
    async with smtp_stub() as stub:
        server = SmtpServer(host="127.0.0.1", port=stub.port, security="starttls")
        with pytest.raises(MailRefused):
            await Mailer(server=server, sender="rag@service.test").send(letter())

    assert stub.letters == []


async def test_unreachable_mail_server_is_an_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server = SmtpServer(host="127.0.0.1", port=taken.getsockname()[1], security="none")
        with pytest.raises(MailRefused, match="cannot be reached") as caught:
            await Mailer(server=server, sender="rag@service.test").send(letter())

    assert caught.value.status is None
