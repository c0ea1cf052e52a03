"""A mailbox file into its messages, one in memory at a time.

Messages follow each other in mbox files, each after a line `From sender date`. Writers differ in
how they protect lines of text that begin the same way: most put `>` before them, some rely on a
count of bytes. So a line is taken for an envelope only if it looks like one: it holds a time and
a year, or a header field follows it; and it comes after a blank line, or both are true.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

_ENVELOPE = re.compile(rb"From .*\d:\d\d.*\b(?:19|20)\d\d\b")
_FIELD = re.compile(rb"[!-9;-~]+:|\r?\n|\Z")
_QUOTED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_LONGEST_ENVELOPE = 200  # bytes
_LONGEST_LINE = 1024 * 1024  # bytes; longer ones are read in pieces


def messages(stream: BinaryIO, *, largest: int) -> Iterator[tuple[bytes, bool]]:
    """The messages without their envelope lines, and whether one is complete.

    Of a message of more than `largest` bytes the first `largest` are given.
    """
    stream.seek(0)
    kept: list[bytes] = []
    size = 0
    is_open = False
    for line, is_envelope in _lines(stream):
        if is_envelope:
            if is_open:
                yield _message(kept), size <= largest
            kept, size, is_open = [], 0, True
            continue
        is_open = is_open or not line.isspace()
        size += len(line)
        if size <= largest:
            kept.append(line)
    if is_open:
        yield _message(kept), size <= largest


def _lines(stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Lines, and whether each is an envelope."""
    after_blank = True
    line = stream.readline(_LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    while line:
        following = stream.readline(_LONGEST_LINE)
        yield line, line.startswith(b"From ") and _is_envelope(line, following, after_blank)
        after_blank = line.isspace()
        line = following


def _is_envelope(line: bytes, following: bytes, after_blank: bool) -> bool:
    signs = bool(_ENVELOPE.match(line[:_LONGEST_ENVELOPE])) + bool(_FIELD.match(following))
    return signs > (0 if after_blank else 1)


def _message(lines: list[bytes]) -> bytes:
    return _QUOTED.sub(b"", b"".join(lines))
