"""What commands print: people's text by rich, JSON for programs, one line for what went wrong."""

import json
import re
import sys
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from ingest.redaction import redact

# File names and document text come from anywhere: no escape sequence, no reversed reading order.
_UNPRINTABLE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
NO_TERMINAL: Final = 10_000
"""Columns: lines in a pipe or a file are not broken."""


class CommandError(Exception):
    """The command cannot go on. The message is one line that says what to do; exit code 2."""


def out() -> Console:
    """Standard output: results and nothing else."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else NO_TERMINAL)


def notes() -> Console:
    """Standard error: progress and remarks, so that a pipe gets results only."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else NO_TERMINAL)


def plain(value: object) -> Text:
    """Text from outside as one line without control characters and without markup; None: empty."""
    return Text("" if value is None else _UNPRINTABLE.sub(" ", str(value)))


def print_json(value: Any) -> None:
    """One JSON value on one line of standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode())
    sys.stdout.write("\n")
    sys.stdout.flush()


def print_error(message: str) -> None:
    """What went wrong, as one line on standard error."""
    line = redact(" ".join(message.split()))
    sys.stderr.write(f"ingest: {plain(line).plain}\n")


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
