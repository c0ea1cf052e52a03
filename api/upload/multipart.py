"""multipart/form-data as a stream of parts: constant memory for any number and size of parts.

The framework's own form parser is not used: it limits the number of parts and keeps them all.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from api.problems import Malformed, UnsupportedMedia

# Room for a path of 4,096 characters in any encoding; more is an attack.
MAX_HEADER_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 16

_BOUNDARY: Final = re.compile(r';\s*boundary=(?:"([^"]+)"|([^\s;"]+))', re.IGNORECASE)
# Old clients write a quote inside a value as `\"`, browsers as `%22`; browsers escape line ends
# too. Other backslashes and percent signs are literal.
_PARAMETER: Final = re.compile(rb';\s*([A-Za-z0-9_*-]+)\s*=\s*(?:"((?:\\"|[^"])*)"|([^\s;]*))')
_ESCAPED: Final = re.compile(rb'\\(")|%(22|0[DA])', re.IGNORECASE)
_EXTENDED: Final = re.compile(rb"([A-Za-z0-9-]*)'[^']*'(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHead:
    """The head of a part; its bytes follow."""

    name: str
    filename: bytes | None
    """The name without quotes and escapes; UTF-8 if the client follows the standard."""


@dataclass(frozen=True, slots=True)
class PartEnd:
    """Ends the part whose bytes came before."""


Token = PartHead | bytes | PartEnd


async def read(content_type: str, body: AsyncIterator[bytes]) -> AsyncIterator[Token]:
    """Yield the parts of a body: for each its head, its bytes in pieces, its end.

    Raises UnsupportedMedia or Malformed with the code `invalid_multipart`.
    """
    reader = _Reader(_boundary(content_type))
    async for piece in body:
        for token in reader.feed(piece):
            yield token
    reader.close()


def _boundary(content_type: str) -> str:
    if content_type.partition(";")[0].strip().lower() != "multipart/form-data":
        raise UnsupportedMedia("send files as multipart/form-data", code="invalid_multipart")
    match = _BOUNDARY.search(content_type)
    if match is None:
        raise _malformed("the content type has no boundary")
    return match.group(1) or match.group(2)


def _malformed(why: str) -> Malformed:
    return Malformed(f"invalid multipart body: {why}", code="invalid_multipart")


class _Reader:
    """Turns the parser's callbacks into tokens."""

    def __init__(self, boundary: str) -> None:
        self._tokens: list[Token] = []
        self._field = b""
        self._value = b""
        self._disposition: bytes | None = None
        self._is_complete = False
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": self._on_part_end,
                    "on_end": self._on_end,
                },
                max_header_count=MAX_HEADERS,
                max_header_size=MAX_HEADER_BYTES,
            )
        except (FormParserError, UnicodeEncodeError):
            raise _malformed("the boundary is not valid") from None

    def feed(self, piece: bytes) -> list[Token]:
        """Parse these bytes; returns the tokens that are now complete."""
        self._tokens = []
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise _malformed(str(error)) from None
        return self._tokens

    def close(self) -> None:
        """End the body; raises Malformed unless it ended with the last boundary."""
        if not self._is_complete:
            raise _malformed("the body ends before its last boundary")

    def _on_part_begin(self) -> None:
        self._disposition = None

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field = self._value = b""

    def _on_headers_finished(self) -> None:
        self._tokens.append(_part(self._disposition))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._tokens.append(data[start:end])

    def _on_part_end(self) -> None:
        self._tokens.append(PartEnd())

    def _on_end(self) -> None:
        self._is_complete = True


def _part(disposition: bytes | None) -> PartHead:
    if disposition is None or disposition.partition(b";")[0].strip().lower() != b"form-data":
        raise _malformed("a part has no Content-Disposition: form-data")
    parameters = {
        match.group(1).lower(): _unquoted(match) for match in _PARAMETER.finditer(disposition)
    }
    name = parameters.get(b"name")
    if name is None:
        raise _malformed("a part has no name")
    extended = _extended(parameters.get(b"filename*"))
    return PartHead(
        name=name.decode("utf-8", "replace"),
        filename=parameters.get(b"filename") if extended is None else extended,
    )


def _unquoted(match: re.Match[bytes]) -> bytes:
    quoted, plain = match.group(2), match.group(3)
    if quoted is None:
        return plain
    return _ESCAPED.sub(lambda found: found.group(1) or bytes([int(found.group(2), 16)]), quoted)


def _extended(value: bytes | None) -> bytes | None:
    """An RFC 5987 value such as `UTF-8''na%C3%AFve.txt`, as UTF-8; None if it is not one."""
    match = _EXTENDED.fullmatch(value) if value is not None else None
    if match is None:
        return None
    raw = unquote_to_bytes(match.group(2))
    if match.group(1).lower() == b"iso-8859-1":
        return raw.decode("latin-1").encode()
    return raw
