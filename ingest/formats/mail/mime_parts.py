"""Parses bytes to a tree of MIME parts, with limits that the standard library lacks."""

import codecs
import email.parser
import re
from email.generator import BytesGenerator
from email.message import Message
from email.policy import Compat32
from io import BytesIO
from typing import Any, BinaryIO

from ingest.errors import Permanent
from ingest.formats.encoding.decode import HEAD, decode
from ingest.model import Encoding

_DEEPEST = 40  # every level costs the parser one check per line
_MOST_HEADERS = 5000  # of one part
_MOST_PARTS = 10_000
_LONGEST_HEADER = 16 * 1024  # characters; parameters are parsed in quadratic time
_SEVEN_BIT = re.compile(r"""charset\s*=\s*["']?(utf-7|hz(?:-gb-2312)?)\b""", re.IGNORECASE)
_SKIPPED_BEFORE = b" \t\r\n\xef\xbb\xbf"


class Part(Message):
    """A message or a part of one; knows its depth and enforces the limits."""

    depth = 0

    def set_raw(self, name: str, value: str) -> None:
        if len(self) >= _MOST_HEADERS:
            raise Permanent(
                f"The message has more than {_MOST_HEADERS} header fields.", code="archive_unsafe"
            )
        super().set_raw(name, value)

    def attach(self, payload: Any) -> None:
        payload.depth = self.depth + 1
        if payload.depth > _DEEPEST:
            raise Permanent(
                f"The message is nested more than {_DEEPEST} levels deep.", code="archive_unsafe"
            )
        super().attach(payload)


class _Policy(Compat32):
    """Cuts headers to a bounded length."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def parse(stream: BinaryIO) -> Message:
    """Parse the message in a seekable file; leading white space and a BOM are skipped.

    Raises Permanent `archive_unsafe`: nested too deep, too many parts or header fields.
    """
    stream.seek(0)
    head = stream.read(HEAD)
    if decode(head)[1].name.startswith(("utf-16", "utf-32")):
        stream.seek(0)
        return parse_bytes(decode(stream.read())[0].encode("utf-8", "replace"))
    stream.seek(len(head) - len(head.lstrip(_SKIPPED_BEFORE)))
    return _parser().parse(stream)


def parse_bytes(data: bytes) -> Message:
    """Parse the message in these bytes; limits as in parse()."""
    return _parser().parsebytes(data.lstrip(_SKIPPED_BEFORE))


def _parser() -> "email.parser.BytesParser[Message]":
    count = 0

    def part(policy: Any = None) -> Message:
        nonlocal count
        count += 1
        if count > _MOST_PARTS:
            raise Permanent(
                f"The message has more than {_MOST_PARTS} parts.", code="archive_unsafe"
            )
        return Part(policy=policy)

    return email.parser.BytesParser(part, policy=_Policy())


def unpacked(part: Message, inner: Message) -> Message:
    """The message inside a part; GroupWise encodes it, which no standard allows."""
    is_encoded = str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64"
    if not is_encoded or len(inner) or inner.is_multipart():
        return inner
    inner["Content-Transfer-Encoding"] = "base64"
    found = parse_bytes(content(inner))
    del inner["Content-Transfer-Encoding"]
    return found if len(found) else inner


def content(part: Message) -> bytes:
    """The part's bytes, without transfer encoding; empty for a container of parts."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def as_bytes(message: Message) -> bytes:
    """Serialise a nested message as a separate file."""
    buffer = BytesIO()
    policy = _Policy(max_line_length=0)
    BytesGenerator(buffer, mangle_from_=False, policy=policy).flatten(message)
    return buffer.getvalue()


def text(part: Message) -> tuple[str, Encoding]:
    """The part as text with LF line endings, and how it was decoded."""
    found, encoding = decoded(content(part), str(part.get("Content-Type", "")))
    return _lines(found), encoding


def decoded(data: bytes, declared: str) -> tuple[str, Encoding]:
    """The text of bytes under a Content-Type, and how it was decoded."""
    stated = _SEVEN_BIT.search(declared)
    if stated is None or not data.isascii():
        return decode(data, declared=declared)
    name = codecs.lookup(stated.group(1)).name  # valid UTF-8, so decode() would ignore the label
    found = data.decode(name, "replace")
    return found, Encoding(name=name, confidence=0.95, replaced=found.count("\ufffd"))


def _lines(found: str) -> str:
    return found.replace("\r\n", "\n").replace("\r", "\n")
