"""Files within the text of a message, as mail programs put them there before MIME (uuencode)."""

import binascii
import re

# Matched one by one and for good: so the time is linear.
_FILE = re.compile(
    r"^begin [0-7]{3,4} (?P<name>[^\n]{1,255})\n(?P<lines>(?:[!-M][ -`]{1,99}\n)++)"
    r"(?:[ `]?\n)?end[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_MOST_ADDED = 3  # characters beside spaces


def split_files(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """The text without its files; the name and the bytes of each.

    What is cut off or damaged stays text.
    """
    if "\nend" not in text:
        return text, []
    pieces: list[str] = []
    files: list[tuple[str, bytes]] = []
    position = 0
    for found in _FILE.finditer(text):
        lines = found["lines"].splitlines()
        if 2 * sum(map(_is_whole, lines)) < len(lines):
            continue
        try:
            data = b"".join(map(_decoded, lines))
        except binascii.Error:
            continue
        files.append((found["name"].strip(), data))
        pieces.append(text[position : found.start()])
        position = found.end()
    return "".join([*pieces, text[position:]]), files


def _is_whole(line: str) -> bool:
    """Whether a line is as long as it says; some programs add a checksum or spaces at its end.

    Of a file, some may be shorter, where spaces at their ends were lost; of a text, most differ.
    """
    length = _length(line)
    return length <= len(line) and len(line.rstrip()) <= length + _MOST_ADDED


def _length(line: str) -> int:
    size = (ord(line[0]) - ord(" ")) & 63
    return 1 + (size + 2) // 3 * 4


def _decoded(line: str) -> bytes:
    return binascii.a2b_uu(line[: _length(line)])
