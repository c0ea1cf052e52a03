"""The path of an uploaded file: its identity within the application. Pure.

It is a label in the database, never a name on a disk. Still it is relative and free of anything
that could mislead a reader or a program that uses it later.
"""

import re
import unicodedata
from typing import Final

LONGEST: Final = 4096

_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")
# Control characters, soft hyphen, zero-width space, direction marks, word joiners, byte order
# mark, line separators, non-characters, tags. Kept: U+200C and U+200D, part of the spelling of
# Persian, of Indic scripts and of many emoji.
_REMOVED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_DRIVE: Final = re.compile("[A-Za-z]:")
# Segments allowed before a drive: none, or the question mark of long Windows paths (`\\?\C:\x`).
_BEFORE_DRIVE: Final[tuple[list[str], ...]] = ([], ["?"])


def decode_filename(raw: bytes) -> str:
    """A file name as text: UTF-8, and `%` with two hex digits for every byte that is not.

    So different names stay different, whatever encoding the client's disk uses.
    """
    text = raw.decode("utf-8", "surrogateescape")
    return _UNDECODABLE.sub(lambda match: f"%{ord(match.group()) - 0xDC00:02X}", text)


def normalise(name: str) -> str:
    """Turn a name into a relative, `/`-separated path; raises ValueError if there is none.

    Equal files get equal paths from every client: NFC, no drive, no leading slash, `.` and `..`
    resolved without leaving the root, no invisible characters. Spaces and dots at the ends stay,
    because they are part of a name on most systems.
    """
    text = unicodedata.normalize("NFC", visible(name)).replace("\\", "/")
    segments: list[str] = []
    for segment in text.split("/"):
        if segment == "..":
            del segments[-1:]
        elif _DRIVE.fullmatch(segment) and segments in _BEFORE_DRIVE:
            segments.clear()
        elif segment not in ("", "."):
            segments.append(segment)
    path = "/".join(segments)
    if not segments or not segments[-1].strip():
        raise ValueError("the part has no file name" if not name else "the path has no file name")
    if len(path) > LONGEST:
        raise ValueError(f"the path is longer than {LONGEST} characters")
    return path


def visible(text: str) -> str:
    """The text without characters that are invisible or cannot be stored."""
    return _REMOVED.sub("", text)
