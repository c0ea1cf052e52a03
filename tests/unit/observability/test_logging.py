"""Log lines: JSON for machines, readable for people, without secrets in either."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from pydantic import SecretStr

from api.logging import set_up_logging
from ingest.settings.settings import Settings


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Logging is the process's: put it back."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("INGEST_ADMIN_KEY", "rk_operator")
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:pass-word@db/x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-provider")
    return Settings()


def test_a_line_is_one_json_object_with_event_level_time_and_fields(settings: Settings) -> None:
    out = io.StringIO()
    set_up_logging(settings, stream=out)
    structlog.get_logger("ingest.x").info("job.end", job_id="7")

    line = json.loads(out.getvalue())
    assert (line["event"], line["level"], line["job_id"]) == ("job.end", "info", "7")
    assert line["timestamp"].endswith("Z")


def test_a_terminal_gets_text(settings: Settings) -> None:
    out = Terminal()
    set_up_logging(settings, stream=out)
    structlog.get_logger("ingest.x").info("job.end", job_id="7")

    assert "job.end" in out.getvalue()
    assert not out.getvalue().startswith("{")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_secrets_are_cut_out_of_messages_fields_and_tracebacks(
    settings: Settings, stream: type[io.StringIO]
) -> None:
    out = stream()
    set_up_logging(settings, stream=out)
    local = "text of a document"
    try:
        raise ValueError(f"rk_operator {len(local)}")
    except ValueError as error:
        structlog.get_logger("api.x").error(
            "api.unexpected_error", exc_info=error, key="sk-provider"
        )
    logging.getLogger("library").error("cannot reach %s", "postgresql://user:pass-word@db/x")
    logging.getLogger("library").error("the password pass-word is wrong")

    told = out.getvalue()
    assert "ValueError" in told
    assert "cannot reach" in told
    for secret in ("rk_operator", "sk-provider", "pass-word", local):
        assert secret not in told


def test_every_secret_setting_is_cut_out_and_so_are_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIRECRAWL_API_KEY", "fc-provider")
    monkeypatch.setenv("FIRECRAWL_WEBHOOK_SECRET", "new-secret, old-secret")
    monkeypatch.setenv("INGEST_SMTP_URL", "smtp://robot:mail%2Fpass@mail.example")
    monkeypatch.setenv("INGEST_EMAIL_FROM", "robot@mail.example")
    out = io.StringIO()
    set_up_logging(Settings(), stream=out)
    logging.getLogger("library").error(
        "fc-provider, new-secret and old-secret, mail%%2Fpass and mail/pass at %s",
        "smtp://robot:mail%2Fpass@mail.example",
    )

    secret = "[secret]"
    assert json.loads(out.getvalue())["event"] == (
        f"{secret}, {secret} and {secret}, {secret} and {secret} at {secret}"
    )


def test_a_secret_that_is_only_in_the_settings_is_cut_out(settings: Settings) -> None:
    out = io.StringIO()
    key = settings.model_copy(update={"admin_key": SecretStr("an-operator's-own-words")})
    set_up_logging(key, stream=out)

    structlog.get_logger("ingest").info("said", by="an-operator's-own-words, and more")

    assert json.loads(out.getvalue())["by"] == "[secret], and more"


def test_library_logs_start_at_warning(settings: Settings) -> None:
    out = io.StringIO()
    set_up_logging(settings, stream=out)
    logging.getLogger("httpx").info("HTTP Request: GET /secret-path")
    logging.getLogger("httpx").warning("odd")

    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["odd"]
