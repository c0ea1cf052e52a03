"""Secrets are cut out by what stands around them and by what they are; ordinary words stay."""

import io
import json
import logging
import time
from collections.abc import Iterator
from datetime import timedelta

import httpx
import psycopg
import pytest
import structlog
from pydantic import SecretStr, ValidationError

from api.cli.output import print_error
from api.logging import set_up_logging
from ingest.errors import Permanent, SetupError, Snooze, Transient
from ingest.postgres.server_check import check_server
from ingest.redaction import Redactor, redact
from ingest.settings.loading import load_settings
from ingest.settings.settings import Settings


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Logging is the process's: put it back."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("postgresql://rag:pw@db/rag is down", "postgresql://rag:[secret]@db/rag is down"),
        ("postgresql://rag:p@ss@db/rag", "postgresql://rag:[secret]@db/rag"),
        ("postgres//rag:p/w?x#y@db", "postgres//rag:[secret]@db"),
        ("https://tok-en@api.example/v1", "https://[secret]@api.example/v1"),
        ("http://:pw@proxy:3128", "http://:[secret]@proxy:3128"),
        ("host=db password=pw user=rag", "host=db password=[secret] user=rag"),
        ("password = 'it''s \\' x' host=db", "password = [secret]'s \\' x' host=db"),
        ("password='never ends host=db", "password=[secret]"),
        ("sslpassword=pw PASSWORD=pw", "sslpassword=[secret] PASSWORD=[secret]"),
        ("GET /x?key=pw&limit=1", "GET /x?key=[secret]&limit=1"),
        ("GET /x?a=1&access_token=pw", "GET /x?a=1&access_token=[secret]"),
        ("OPENAI_API_KEY=pw", "OPENAI_API_KEY=[secret]"),
        ("Authorization: Bearer abcdefgh", "Authorization: Bearer [secret]"),
        ("authorization: Basic cmFnOnB3", "authorization: Basic [secret]"),
        ('{"password": "p\\"w", "user": "rag"}', '{"password": "[secret]", "user": "rag"}'),
        (
            "Incorrect API key provided: sk-abcdef1234567890XYZ.",
            "Incorrect API key provided: [secret].",
        ),
        ("rk_mWJ3b0Gm6v7lqAqH2m0x9cN1kq8H", "[secret]"),
    ],
)
def test_a_secret_is_known_by_its_context(text: str, cut: str) -> None:
    assert redact(text) == cut
    assert redact(cut) == cut


@pytest.mark.parametrize(
    "text",
    [
        "the file /data/key/token/password.txt is missing",
        "blob_key=ab/cd dedupe_key=x",
        "send an API key as `Authorization: Bearer <key>`",
        "http://localhost:8080/users/me@example.com",
        "basic authorization is not read",
        "keyword=value",
        "mail to ops@example.com",
        "/srv/sk-2024-01-01-long-name/x",
    ],
)
def test_ordinary_words_are_not_redacted(text: str) -> None:
    assert redact(text) == text


def test_short_password_is_not_redacted_inside_words() -> None:
    settings = Settings(database_url=SecretStr("postgresql://rag:data@db/rag"))
    told = logged(
        settings, "cannot write /data/blobs/x: no space for data in postgresql://rag:data@db/y"
    )

    assert told == "cannot write /data/blobs/x: no space for data in postgresql://rag:[secret]@db/y"


def test_a_password_that_is_a_word_is_cut_out_where_it_stands_alone() -> None:
    redactor = Redactor(["documents"])

    assert redactor("tried documents, /documents/a.pdf and documents.txt") == (
        "tried [secret], /documents/a.pdf and documents.txt"
    )


def test_a_long_or_dense_secret_is_cut_out_anywhere() -> None:
    redactor = Redactor(["correct-horse-battery", "xK9#mQ2$vL"])

    assert redactor("/x/correct-horse-battery/y axK9#mQ2$vLb") == "/x/[secret]/y a[secret]b"


def logged(settings: Settings, message: str, error: Exception | None = None) -> str:
    out = io.StringIO()
    set_up_logging(settings, stream=out)
    logging.getLogger("library").error("%s", message, exc_info=error)
    line = json.loads(out.getvalue())
    return str(line.get("exception") or line["event"])


SETTINGS = {
    "DATABASE_URL": "postgresql://rag:hunter2%2Fx@db/rag",
    "INGEST_LISTEN_URL": "postgresql://rag:hunter2%2Fx@direct/rag",
    "INGEST_SMTP_URL": "smtp://robot:hunter2%2Fx@mail.example",
    "INGEST_STORAGE": "gs://robot:hunter2%2Fx@bucket/x",
    "OPENAI_BASE_URL": "https://robot:hunter2%2Fx@llm.example/v1",
    "OPENAI_API_KEY": "hunter2%2Fx",
    "FIRECRAWL_API_KEY": "hunter2%2Fx",
    "FIRECRAWL_WEBHOOK_SECRET": "other-one,hunter2%2Fx",
    "INGEST_ADMIN_KEY": "hunter2%2Fx",
    "HTTPS_PROXY": "http://robot:hunter2%2Fx@proxy.example:3128",
}


@pytest.mark.parametrize("variable", SETTINGS)
def test_every_setting_that_carries_a_secret_is_cut_out_of_every_error(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, SETTINGS[variable])
    if variable == "INGEST_LISTEN_URL":
        monkeypatch.setenv("DATABASE_URL", "postgresql://db/rag")
    if variable == "INGEST_SMTP_URL":
        monkeypatch.setenv("INGEST_EMAIL_FROM", "robot@mail.example")
    message = f"cannot use {SETTINGS[variable]} with hunter2%2Fx"
    url = httpx.Request("GET", f"https://robot:hunter2%2Fx@api.example/?key={SETTINGS[variable]}")
    told = [
        str(kind)
        for kind in (
            SetupError(message),
            Permanent(message, code="internal"),
            Transient(message, code="internal"),
            Snooze(timedelta(0), reason="retry", message=message),
        )
    ]
    settings = load_settings()
    told += [
        logged(settings, message),
        logged(settings, "x", httpx.ConnectError(f"no route to {url.url}", request=url)),
        logged(settings, "x", psycopg.OperationalError(message)),
        repr(settings),
    ]
    print_error(message)
    told.append(capsys.readouterr().err)

    assert [text for text in told if "hunter2" in text] == []


MALFORMED = [
    "postgres:/rag:PASSWORD@db.invalid/rag",
    "postgres//rag:PASSWORD@db.invalid/rag",
    "postgresql+psycopg://rag:PASSWORD@db.invalid/rag",
    "postgresql:://rag:PASSWORD@db.invalid/rag",
    "postgresql://rag:PASSWORD@db.invalid:port/rag",
    "postgresql://rag:PASSWORD@db.invalid:5432x/rag",
    "postgresql://rag:PASSWORD@[::1/rag",
    "postgresql://rag:PASSWORD@db.invalid/rag?nothing=x",
    "postgresql://rag:PASSWORD%zz@db.invalid/rag",
    "rag:PASSWORD@db.invalid/rag",
    "host=db.invalid user=rag password='PASSWORD",
    "host=db.invalid user=rag password=PASSWORD nonsense",
    "host=db.invalid user=rag pasword=PASSWORD",
    "host=db.invalid port=x user=rag password=PASSWORD",
    " PASSWORD ",
]
PASSWORDS = [
    "hunter2",
    "hun ter2",
    "hun/ter2",
    "hun@ter2",
    "hun?ter2",
    "hun#ter2",
    "hun:ter2",
    "hun%ter2",
    'hun"ter2',
    "hun'ter2",
    "h%40un@ter2",
]


def connect_as_configured() -> None:
    settings = load_settings()
    assert settings.database_url is not None
    check_server(settings.database_url.get_secret_value())


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_malformed_database_url_never_shows_its_password(
    password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    well_formed = "postgresql://rag:PASSWORD@db.invalid/rag?connect_timeout=1"
    for template in [*MALFORMED, well_formed]:
        monkeypatch.setenv("DATABASE_URL", template.replace("PASSWORD", password))
        with pytest.raises(SetupError) as refused:
            connect_as_configured()

        told = str(refused.value)
        assert told.startswith("DATABASE_URL"), template
        assert "hun" not in told, template
        assert "ter2" not in told, template


def test_settings_errors_quote_no_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres:/rag:hunter2@db/rag")
    monkeypatch.setenv("INGEST_PORT", "hunter2")

    with pytest.raises(ValidationError) as refused:
        Settings()
    assert "hunter2" not in str(refused.value)


def test_redaction_is_linear_in_time() -> None:
    started = time.process_time()
    for text in ("//:" * 30_000, "password=" * 10_000, "_" * 100_000, 'key="' * 20_000):
        redact(text)

    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "variable",
    ["OPENAI_BASE_URL", "FIRECRAWL_API_URL", "INGEST_PUBLIC_URL", "INGEST_SMTP_URL"],
)
@pytest.mark.parametrize("password", ["hun/ter2", "hun#ter2", "hun?ter2", "hun[ter2"])
def test_a_malformed_url_in_a_setting_never_shows_its_password(
    variable: str, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = "smtp" if variable == "INGEST_SMTP_URL" else "https"
    monkeypatch.setenv(variable, f"{scheme}://robot:{password}@host.example/v1")
    monkeypatch.setenv("INGEST_EMAIL_FROM", "robot@mail.example")
    if variable != "INGEST_SMTP_URL":
        monkeypatch.setenv("INGEST_SMTP_URL", "smtp://mail.example")

    with pytest.raises(SetupError) as refused:
        load_settings()
    assert variable in str(refused.value)
    assert "hun" not in str(refused.value)
    assert "ter2" not in str(refused.value)
