"""Header fields of messages as people read them; nothing here fails, however odd the header.

The standard library's policies raise on some malformed headers and show raw bytes as escapes, so
fields are read as they came (compat32) and decoded here.
"""

import binascii
import quopri
import re
from email.errors import HeaderParseError
from email.message import Message
from email.utils import collapse_rfc2231_value, parsedate_to_datetime
from itertools import groupby

from ingest.formats.encoding.decode import decode

_WORD = re.compile(r"=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bBqQ])\?([^?\n]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
_ODD = (ValueError, TypeError, IndexError, LookupError, HeaderParseError)
SHOWN = ("From", "To", "Cc", "Date")
"""Fields that are shown above the body."""
_LONGEST = 2000
"""Characters of one field; a mailing of thousands is not searched by its receivers."""


def fields(message: Message) -> list[tuple[str, str]]:
    """Name and value of the fields that are shown above the body: sender, receivers, date."""
    found = [(name, header(message, name)) for name in SHOWN[:-1]]
    found.append(("Date", date(header(message, "Date"))))
    return [(name, value) for name, value in found if value]


def header(message: Message, name: str) -> str:
    """A field on one line with its encoded words decoded; empty if it is not there."""
    return header_text(str(raw)) if (raw := _raw(message, name)) is not None else ""


def header_text(raw: str) -> str:
    """A value as it was sent, in readable form: encoded words, 8-bit bytes, folded lines."""
    if raw.isascii() and "=?" not in raw:  # nearly always
        return " ".join(raw.split())[:_LONGEST]
    text = _BETWEEN_WORDS.sub(r"\1", as_text(raw))
    pieces = []
    position = 0
    words = list(_WORD.finditer(text))
    # Some senders split a character between two words: bytes are joined before they are decoded.
    for charset, run in groupby(_runs(words), key=lambda item: (item[0], item[2])):
        group = [match for _, match, _ in run]
        pieces += [text[position : group[0].start()], _decoded(charset[0], group)]
        position = group[-1].end()
    return " ".join("".join([*pieces, text[position:]]).split())[:_LONGEST]


def date(value: str) -> str:
    """A date in ISO 8601 with its offset, or as it was written if it is none."""
    try:
        return parsedate_to_datetime(value).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return value


def file_name(part: Message) -> str:
    """The name that the sender gave to a part, by any of the ways in use; empty if none."""
    try:
        return header_text(part.get_filename(""))
    except _ODD:
        return ""


def parameter(part: Message, name: str) -> str:
    """A parameter of the content type; empty if there is none."""
    try:
        found = part.get_param(name, "")
    except _ODD:
        return ""
    return collapse_rfc2231_value(found)


def as_text(raw: str) -> str:
    """Text of what the parser read as ASCII: its foreign bytes are in surrogates."""
    if raw.isascii():
        return raw
    return decode(raw.encode("utf-8", "surrogateescape"))[0]


def _raw(message: Message, name: str) -> str | None:
    wanted = name.lower()
    return next((str(value) for key, value in message.raw_items() if key.lower() == wanted), None)


def _runs(words: list[re.Match[str]]) -> list[tuple[str, re.Match[str], int]]:
    """Charset, word, and a number that adjacent words share."""
    numbered = []
    number = 0
    for index, word in enumerate(words):
        if index and words[index - 1].end() != word.start():
            number += 1
        numbered.append((word.group(1).lower(), word, number))
    return numbered


def _decoded(charset: str, words: list[re.Match[str]]) -> str:
    data = b"".join(_payload(word.group(2).lower(), word.group(3)) for word in words)
    return decode(data, declared=f"text/plain; charset={charset}")[0]


def _payload(coding: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if coding == "q":
        return quopri.decodestring(data, header=True)
    try:
        return binascii.a2b_base64(data + b"==")
    except binascii.Error:
        return data
