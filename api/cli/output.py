"""What commands print: text for people, JSON for programs, an error as one line."""

import json
import re
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ingest.redaction import redact

# File names and document text are untrusted: no escape sequences, no reversed reading order.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
NO_TERMINAL: Final = 10_000
"""Columns: lines in a pipe or a file are not wrapped."""


class CommandError(Exception):
    """The command cannot continue. The message is one line that says what to do; exit code 2."""


def out() -> Console:
    """Standard output: results only."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else NO_TERMINAL)


def notes() -> Console:
    """Standard error: progress and remarks, so that a pipe gets results only."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else NO_TERMINAL)


def plain(value: object) -> Text:
    """Untrusted text as one line without control characters and markup; None: empty."""
    return Text("" if value is None else _UNPRINTABLE.sub(" ", str(value)))


def table(columns: Iterable[str], *, no_wrap: Iterable[str] = ()) -> Table:
    """An empty table without borders; cells wrap, except in the columns `no_wrap`."""
    empty = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        empty.add_column(name, overflow="fold", no_wrap=name in no_wrap)
    return empty


def print_json(value: Any) -> None:
    """Write a JSON value as one line to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode())
    sys.stdout.write("\n")
    sys.stdout.flush()


def print_error(message: str) -> None:
    """Write an error as one line to standard error."""
    line = redact(" ".join(message.split()))
    sys.stderr.write(f"ingest: {plain(line).plain}\n")


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_parts(*parts: str | None) -> str:
    """The non-empty parts, separated by ` · `."""
    return " · ".join(part for part in parts if part)


def local_time(time: str, format: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time from the API in the local time zone."""
    return datetime.fromisoformat(time).astimezone().strftime(format)
