"""The mail server in a setting: what it may look like, and that mistakes stop the start."""

import pytest
from pydantic import ValidationError

from ingest.settings.settings import Settings
from ingest.settings.smtp_url import SmtpServer, is_mail_address, parse_smtp_url


@pytest.mark.parametrize(
    ("url", "host", "port", "security"),
    [
        ("smtp://mail.example", "mail.example", 587, "starttls"),
        ("smtp://mail.example:2525/", "mail.example", 2525, "starttls"),
        ("smtp://127.0.0.1?starttls=off", "127.0.0.1", 25, "none"),
        ("smtps://[::1]", "::1", 465, "tls"),
    ],
)
def test_scheme_and_option_decide_on_port_and_security(
    url: str, host: str, port: int, security: str
) -> None:
    server = parse_smtp_url(url)

    assert (server.host, server.port, server.security) == (host, port, security)
    assert (server.username, server.password) == (None, None)


def test_user_and_password_are_decoded_and_the_password_is_not_shown() -> None:
    server = parse_smtp_url("smtp://robot%40mail.example:p%40ss%2Fword@mail.example")

    assert server == SmtpServer(
        host="mail.example",
        port=587,
        security="starttls",
        username="robot@mail.example",
        password="p@ss/word",
    )
    assert "p@ss" not in repr(server)


@pytest.mark.parametrize(
    "url",
    [
        "mail.example",
        "http://mail.example",
        "smtp://",
        "smtp://user@mail.example",
        "smtp://mail.example:port",
        "smtp://mail.example/path",
        "smtp://mail.example?tls=on",
        "smtps://mail.example?starttls=off",
        "smtp://mail.example?starttls=maybe",
        "smtp://[::1",
    ],
)
def test_invalid_smtp_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"must|valid|option"):
        parse_smtp_url(url)


@pytest.mark.parametrize(
    ("url", "sender", "named"),
    [
        ("smtp://u:hidden-word@mail.example:x", "a@b.example", "INGEST_SMTP_URL is not a valid"),
        ("smtp://mail.example", None, "must be set together"),
        (None, "a@b.example", "must be set together"),
        ("smtp://mail.example", "A <a@b.example>", "INGEST_EMAIL_FROM must"),
    ],
)
def test_incomplete_mail_settings_stop_the_start(
    monkeypatch: pytest.MonkeyPatch, url: str | None, sender: str | None, named: str
) -> None:
    for name, value in (("INGEST_SMTP_URL", url), ("INGEST_EMAIL_FROM", sender)):
        monkeypatch.setenv(name, value or "")

    with pytest.raises(ValidationError, match=named) as caught:
        Settings()

    assert "hidden-word" not in caught.value.errors(include_input=False)[0]["msg"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ops+rag@mail.example", True),
        ("root@localhost", True),
        ("a@b.example,c@d.example", False),
        ("Ops <ops@mail.example>", False),
        ("ops@mail.example\r\nBcc: x@y.example", False),
        ("ops@mail.example?subject=x", False),
        ("öps@mail.example", False),
        ("@mail.example", False),
        ("ops", False),
    ],
)
def test_an_address_is_one_plain_address(text: str, expected: bool) -> None:
    assert is_mail_address(text) is expected
