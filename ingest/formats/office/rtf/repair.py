"""Rewrites what the reader of RTF misreads: lossless for every reader that follows the format."""

import re
from collections.abc import Iterator
from typing import Final

# Text may have it too: `c:\\mac`.
_MAC: Final = re.compile(rb"\s*+\{(?:\\[a-z]+-?\d*\s*)*?\\mac(?![a-z0-9])")
_HEAD: Final = 200  # bytes in which a file says its character set
# Line breaks mean nothing in RTF; the reader takes what follows them for text of its own.
_BROKEN: Final = re.compile(rb"(\\u-?\d{1,5}(?:\\'[0-9a-fA-F]{2}){0,3})[\r\n]+(?=\\'[0-9a-fA-F])")
# A character beyond U+FFFF is a surrogate pair, which the reader drops.
# LibreOffice says between the two how many bytes stand for one of them in older readers.
_PAIR: Final = re.compile(rb"\\u(-?\d{4,5}) ?(?:\?|\\'[0-9a-fA-F]{2})?(\\uc\d ?)?\\u(-?\d{4,5})")
# `\*` begins a group; StarOffice writes it amid the formats of visible text.
_STRAY_STAR: Final = re.compile(rb"(?<=[a-z0-9 ])\\\*(?=\\[a-z])")
# Binary data of a link, which the reader takes for its address.
_LINK_DATA: Final = re.compile(rb"\{\\\*\\datafield(?![a-z])[^{}\\]*\}")
# A hard space and a hard hyphen, of which the reader leaves `~` and `_`: as bytes, which need no
# space behind the word in front of them. A backslash, braces, dashes and quotes of the text, which
# it drops from a table, to lose its place there. Underlining, for which it writes `__`. Of the
# instruction of a field it reads backslashes only as they are: `HYPERLINK \\l "mark"`.
_MISREAD: Final = re.compile(
    rb"\\(?:bin(\d{1,9}) ?|([~_\\{}]|ul(?:d|db|dash|dashd|dashdd|th|w|wave)?1?(?![a-z\d-])"
    rb"|(?:e[mn]dash|bullet|[lr](?:dbl)?quote)(?![a-z\d-]) ?)"
    rb"|fldinst(?![a-z])(?:(?!\\fldrslt|\}\s?\}).){0,1000})",
    re.DOTALL,
)
_INSTEAD: Final = {
    b"~": b"\\'20",
    b"_": b"\\'2d",
    b"\\": b"\\'5c",
    b"{": b"\\'7b",
    b"}": b"\\'7d",
    # `{}` keeps the reader from adding a space.
    b"emdash": b"{\\uc0\\u8212 }{}",
    b"endash": b"{\\uc0\\u8211 }{}",
    b"bullet": b"{\\uc0\\u8226 }{}",
    b"lquote": b"{\\uc0\\u8216 }{}",
    b"rquote": b"{\\uc0\\u8217 }{}",
    b"ldblquote": b"{\\uc0\\u8220 }{}",
    b"rdblquote": b"{\\uc0\\u8221 }{}",
}
_NO_LINE: Final = b"\\ulnone"
_BRACE: Final = re.compile(rb"\\bin(\d{1,9}) ?|\\[{}\\]|[{}]")
_BINARY: Final = re.compile(rb"[^\t\n\r -~]")
_WORD: Final = re.compile(rb"\\[a-z]+|\{")


def repair(data: bytes) -> bytes:
    """The file with what the reader knows."""
    data = b"".join(_without_misread(_without_tail(_with_code_page(data))))
    data = _STRAY_STAR.sub(b"", _LINK_DATA.sub(b"", data))
    return _PAIR.sub(_joined, _BROKEN.sub(rb"\1", data))


def _with_code_page(data: bytes) -> bytes:
    """The file with the number of the Macintosh's code page, by which alone the reader knows it."""
    head = data[:_HEAD]
    if b"\\ansicpg" in head:
        return data
    mac = _MAC.match(head)
    return head[: mac.end()] + b"\\ansicpg10000" + data[mac.end() :] if mac else data


def _without_tail(data: bytes) -> bytes:
    """The file without binary data behind its last brace, unless it was cut off."""
    end = data.rfind(b"}") + 1
    tail = data[end:]
    if not _BINARY.search(tail) or _WORD.search(tail):
        return data
    depth = at = 0
    while (token := _BRACE.search(data, at, end)) is not None:
        at = token.end() + int(token[1] or 0)
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
    return data if depth > 0 else data[:end]


def _without_misread(data: bytes) -> Iterator[bytes]:
    end = at = 0
    while (token := _MISREAD.search(data, at)) is not None:
        at = token.end() + int(token[1] or 0)
        if token[2] is not None:
            yield data[end : token.start()]
            yield _INSTEAD.get(token[2].rstrip(), _NO_LINE)
            end = at
    yield data[end:]


def _joined(pair: re.Match[bytes]) -> bytes:
    high, low = (int(number) & 0xFFFF for number in pair.group(1, 3))
    if not (0xD800 <= high < 0xDC00 <= low < 0xE000):
        return pair[0]
    return (pair[2] or b"") + b"\\u%d" % (0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
