"""Log lines on stderr: readable in a terminal, otherwise one JSON object per line.

Each line has an event name and fields, never the text of a document. Secrets of the settings are
removed from every line, also from lines of libraries and from tracebacks.
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

import structlog
from pydantic import SecretStr
from structlog.typing import EventDict, Processor, WrappedLogger

from ingest.redaction import parts_of, redact, secrets_inside
from ingest.settings.settings import Settings


def set_up_logging(settings: Settings, *, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's loggers to `stream`, by default stderr."""
    out = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    # Plain tracebacks: the other kinds print local variables, which hold documents and keys here.
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
                _Redaction(tuple(_secrets(settings))),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    # Our own loggers also log at INFO, where libraries report every request.
    for name in ("ingest", "api"):
        logging.getLogger(name).setLevel(logging.INFO)


class _Redaction:
    """The last processor: removes secrets from the finished line."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = secrets

    def __call__(self, _logger: WrappedLogger, _method: str, line: str | EventDict) -> str:
        return redact(str(line), secrets=self._secrets)


def _secrets(settings: Settings) -> Iterator[str]:
    """All secrets of the settings: whole, and the parts they consist of."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield from parts_of(value.get_secret_value())
        elif isinstance(value, str):
            yield from secrets_inside(value)
