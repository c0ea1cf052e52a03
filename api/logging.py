"""Log lines: readable in a terminal, one JSON object per line everywhere else. On stderr.

An event name and its fields, as style.md asks for; never the text of a document. What is secret in
the settings is cut out of every line, whoever wrote it: a library, or a traceback.
"""

import logging
import sys
from collections.abc import Sequence
from typing import Final, TextIO
from urllib.parse import unquote, urlsplit

import structlog
from pydantic import SecretStr
from structlog.typing import EventDict, Processor, WrappedLogger

from ingest.config import Settings

_HIDDEN: Final = "[secret]"
# A secret of a few characters would cut holes into ordinary words.
_SHORTEST_SECRET: Final = 6


def set_up_logging(settings: Settings, *, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's loggers to `stream`, by default stderr."""
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Plain tracebacks: the other kinds print local variables, which are documents and keys here.
    renderer: list[Processor] = (
        [
            structlog.dev.ConsoleRenderer(
                exception_formatter=structlog.dev.plain_traceback, pad_event_to=24
            )
        ]
        if out.isatty()
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *renderer,
                _Redactor(_secrets(settings)),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    # Ours say more than libraries, which report every request at this level.
    for name in ("ingest", "api"):
        logging.getLogger(name).setLevel(logging.INFO)


class _Redactor:
    """The last step: replaces secrets in the finished line."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def __call__(self, _logger: WrappedLogger, _method: str, line: str | EventDict) -> str:
        text = str(line)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def _secrets(settings: Settings) -> list[str]:
    """Everything that the settings keep secret: whole, and what it consists of. Longest first."""
    values: set[str] = set()
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            text = value.get_secret_value()
            values |= {text, *(part.strip() for part in text.split(",")), *_password(text)}
    return sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len)[::-1]


def _password(url: str) -> set[str]:
    """The password in a URL, as it is written there and as it is meant."""
    try:
        password = urlsplit(url).password or ""
    except ValueError:  # it is no URL
        return set()
    return {password, unquote(password)}
