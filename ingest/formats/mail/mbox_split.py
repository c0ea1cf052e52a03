"""Splits a mailbox file into messages, with one in memory at a time.

In an mbox file, each message follows an envelope line `From sender date`. Programs differ in how
they escape body lines that start the same way: most put `>` before them, some rely on a byte
count. So a line is an envelope only if two of three signs are present: it holds a time and a
year, a header field follows it, a blank line precedes it.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

_CANDIDATE = re.compile(rb"\nFrom (?P<rest>[^\n]{0,300})(?=\n(?P<field>[!-9;-~]{1,100}:)?)")
_BLANK_LINE = re.compile(rb"\n[ \t]*\r?\Z")
_DATE = re.compile(rb".*\d:\d\d.*\b(?:19|20)\d\d\b")
_QUOTED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_BLOCK = 1024 * 1024  # bytes
_OVERLAP = 1024  # bytes; longer than any candidate
_START = b"\n\n"  # stands in for the blank line that the first envelope lacks


def messages(stream: BinaryIO, *, largest: int) -> Iterator[tuple[bytes, bool]]:
    """Yield each message without its envelope line, and whether it is complete.

    A message of more than `largest` bytes is cut off there.
    """
    stream.seek(0)
    message = _Message(largest)
    pending = _START + stream.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
    position = 0
    while True:
        block = stream.read(_BLOCK)
        settled = max(position, len(pending) - (_OVERLAP if block else 0))
        for candidate in _CANDIDATE.finditer(pending, max(0, position - 1)):
            if candidate.start() >= settled:
                break
            if _is_envelope(candidate, pending):
                message.add(pending[position : candidate.start()])
                yield from message.end()
                position = candidate.end() + 1
        message.add(pending[position:settled])
        position = max(position, settled)
        if not block:
            break
        kept = max(0, position - _OVERLAP)  # to see the line before the next envelope
        pending, position = pending[kept:] + block, position - kept
    yield from message.end()


def _is_envelope(candidate: re.Match[bytes], data: bytes) -> bool:
    start = candidate.start()
    after_blank = _BLANK_LINE.search(data[max(0, start - _OVERLAP) : start]) is not None
    signs = bool(_DATE.match(candidate["rest"])) + (candidate["field"] is not None)
    return signs > (0 if after_blank else 1)


class _Message:
    """Collects the pieces of a message, up to `largest` bytes."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        room = self._largest - self._size
        self._size += len(piece)
        if room > 0:
            self._pieces.append(piece[:room])

    def end(self) -> Iterator[tuple[bytes, bool]]:
        """Yield the message unless it is blank, and start the next one."""
        data = b"".join(self._pieces).strip(b"\r\n")
        is_whole = self._size <= self._largest
        self._pieces, self._size = [], 0
        if data.strip():
            yield (_QUOTED.sub(b"", data) if b">From " in data else data), is_whole
