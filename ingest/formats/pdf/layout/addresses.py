"""Web addresses and paths of files that go on in the next line, without a hyphen."""

import re

_SCHEME = re.compile(r"(?:https?|ftp):$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?|ftp)://|(?<![\w.])www\.", re.IGNORECASE)
_PATH = re.compile(r"\W?(?:/[\w.~+-]+){1,20}/$")
_MAY_END = frozenset("/-_=&?%#~+.@")  # signs behind which an address is broken
_MAY_BEGIN = frozenset("/?&=#%_")  # signs before which it is
_PART = re.compile(r"[\w~%+-]{2,}[/.?=&#_%@]\w")  # what is a part of an address, and no word
_PART_OF_PATH = re.compile(r"[\w.+-]{2,}/\w")
_CLOSING = {"(": ")", "<": ">", "[": "]"}
_WORDS = ("and/or", "und/oder", "et/ou", "y/o", "e/o", "en/of")


def is_broken_address(text: str, following: str) -> bool:
    """Whether an address at the end of a full line goes on at the beginning of the next one."""
    end = text[text.rfind(" ") + 1 :]
    if "/" not in end and not end.endswith(":") and "www." not in end.lower():  # most lines
        return False
    begin = following.partition(" ")[0]
    if not end or not begin:
        return False
    if _SCHEME.search(end):
        return begin.startswith("//")
    if end.endswith("://"):
        return begin[0].isalnum()
    if _ADDRESS.search(begin) or begin.startswith(_WORDS):
        return False
    if not _ADDRESS.search(end):
        return _PATH.fullmatch(end) is not None and _PART_OF_PATH.match(begin) is not None
    if end[-1] not in _MAY_END:
        return begin[0] in _MAY_BEGIN and len(begin) > 1
    if not begin[0].isascii() or not begin[0].isalnum():
        return False
    is_open = end[0] in _CLOSING and _CLOSING[end[0]] not in end
    return _PART.match(begin) is not None or (is_open and _CLOSING[end[0]] in begin)
