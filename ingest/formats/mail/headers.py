"""Decodes header fields of messages; never fails, however malformed the header.

The standard library's policies raise on some malformed headers and show raw bytes as escapes, so
fields are parsed undecoded (compat32) and decoded here.
"""

import binascii
import quopri
import re
from email.errors import HeaderParseError
from email.message import Message
from email.utils import collapse_rfc2231_value, parsedate_to_datetime
from itertools import groupby

from ingest.formats.encoding.decode import decode
from ingest.formats.mail.mime_parts import decoded
from ingest.optional_steps import improve

_WORD = re.compile(r"=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bBqQ])\?([^?\n]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
_ODD = (ValueError, TypeError, IndexError, LookupError, HeaderParseError)
REPORTS = frozenset(
    f"message/{kind}"
    for kind in (
        "delivery-status", "disposition-notification", "feedback-report", "tracking-status",
        "global-delivery-status", "global-disposition-notification",
    )
)  # fmt: skip
"""Types of parts that hold fields, not a message."""
SHOWN = ("From", "To", "Cc", "Date")
"""Fields that are shown above the body."""
_LONGEST = 2000
"""Characters of one field; nobody searches a mass mailing by its recipients."""


def fields(message: Message) -> list[tuple[str, str]]:
    """Names and values of the fields shown above the body: sender, recipients, date."""
    found = [(name, header(message, name)) for name in SHOWN[:-1]]
    found.append(("Date", date(header(message, "Date"))))
    return [(name, value) for name, value in found if value]


def header(message: Message, name: str) -> str:
    """A field on one line with its encoded words decoded; empty if missing."""
    return header_text(str(raw)) if (raw := _raw(message, name)) is not None else ""


def fields_or_raw(message: Message) -> tuple[tuple[str, str], ...]:
    """As fields(); those that cannot be decoded as they are."""
    raw = ((name, _as_it_is(message, name)) for name in SHOWN)
    return improve(
        "fields",
        lambda: tuple(fields(message)),
        otherwise=lambda: tuple((name, value) for name, value in raw if value),
    )


def header_or_raw(message: Message, name: str) -> str:
    """As header(); what cannot be decoded as it is."""
    return improve(
        "fields", lambda: header(message, name), otherwise=lambda: _as_it_is(message, name)
    )


def _as_it_is(message: Message, name: str) -> str:
    return " ".join(str(message.get(name, "")).split())


def header_text(raw: str) -> str:
    """A raw value in readable form: decodes encoded words and 8-bit bytes, unfolds lines."""
    if raw.isascii() and "=?" not in raw:  # the common case
        return " ".join(raw.split())[:_LONGEST]
    text = _BETWEEN_WORDS.sub(r"\1", as_text(raw))
    pieces = []
    position = 0
    words = list(_WORD.finditer(text))
    # Some senders split a character between two words, so bytes are joined before decoding.
    for charset, run in groupby(_runs(words), key=lambda item: (item[0], item[2])):
        group = [match for _, match, _ in run]
        pieces += [text[position : group[0].start()], _decoded(charset[0], group)]
        position = group[-1].end()
    return " ".join("".join([*pieces, text[position:]]).split())[:_LONGEST]


def status_lines(groups: list[Message]) -> list[str]:
    """Lines of a report, which the parser splits into groups of fields.

    Some servers write sentences instead, which the parser takes for the body of a group.
    """
    found: list[str] = []
    for group in groups:
        found += (f"{name}: {header_text(str(value))}" for name, value in group.raw_items())
        words = group.get_payload()
        found += words.split("\n") if isinstance(words, str) and words.strip() else []
    return found


def date(value: str) -> str:
    """A date in ISO 8601 with its UTC offset; unchanged if it cannot be parsed."""
    try:
        return parsedate_to_datetime(value).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return value


def file_name(part: Message) -> str:
    """The file name of a part, in any of the notations in use; empty if it has none."""
    try:
        return header_text(part.get_filename(""))
    except _ODD:
        return ""


def parameter(part: Message, name: str) -> str:
    """A parameter of the Content-Type; empty if missing."""
    try:
        found = part.get_param(name, "")
    except _ODD:
        return ""
    return collapse_rfc2231_value(found)


def as_text(raw: str) -> str:
    """Decode a value in which the parser kept non-ASCII bytes as surrogates."""
    if raw.isascii():
        return raw
    return decode(raw.encode("utf-8", "surrogateescape"))[0]


def _raw(message: Message, name: str) -> str | None:
    wanted = name.lower()
    return next((str(value) for key, value in message.raw_items() if key.lower() == wanted), None)


def _runs(words: list[re.Match[str]]) -> list[tuple[str, re.Match[str], int]]:
    """Charset and encoded word, with a run number that adjacent words share."""
    numbered = []
    number = 0
    for index, word in enumerate(words):
        if index and words[index - 1].end() != word.start():
            number += 1
        numbered.append((word.group(1).lower(), word, number))
    return numbered


def _decoded(charset: str, words: list[re.Match[str]]) -> str:
    data = b"".join(_payload(word.group(2).lower(), word.group(3)) for word in words)
    return decoded(data, f"text/plain; charset={charset}")[0]


def _payload(coding: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if coding == "q":
        return quopri.decodestring(data, header=True)
    try:
        return binascii.a2b_base64(data + b"==")
    except binascii.Error:
        return data
