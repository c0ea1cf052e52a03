"""Symbols, equations and WordArt of an RTF file, which its reader drops: written as text before."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

from ingest.formats.office.field_results import result
from ingest.formats.office.omml import math_text
from ingest.formats.office.xml_tree import storable

_START: Final = re.compile(rb"\{(?:\\\*\\(fldinst)|\\mmath)(?![a-zA-Z])")
_COMPUTED: Final = re.compile(rb"(?<![A-Za-z])(?:SYMBOL|EQ)\s")
_RESULT: Final = re.compile(rb"\s*(?=\{\\fldrslt(?![a-z]))")
_NEAR: Final = 600  # bytes in which an instruction says its kind, with formats in front
_LONGEST: Final = 500_000  # bytes of an instruction or equation
_DEEPEST: Final = 200  # groups in each other; lxml takes quadratic time for deep trees
_BRACE: Final = re.compile(rb"[{}]|\\(?:bin(\d{1,9}) ?|[{}\\])")
_TOKEN: Final = re.compile(
    rb"((?:\\'[0-9a-fA-F]{2}[\r\n]*)+)|\\u(-?\d{1,6}) ?|\\([\\{}])|\\([a-zA-Z]+)(-?\d*) ?|\\."
    rb"|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
_CODE_PAGE: Final = re.compile(rb"\\ansicpg(\d{3,5})")
_HEAD: Final = 1000  # bytes in which a file says its code page
_WORD_ART: Final = re.compile(rb"\{\\sp\s*\{\\sn gtextUNICODE\}\s*\{\\sv ([^{}]*)\}\}")
_BOX: Final = re.compile(rb"\{\\shptxt(?![a-z])")
# Of pictures and objects in a text box, the reader takes the properties and the data for text.
_NO_TEXT: Final = re.compile(
    rb"\{\\\*\\(?:picprop|objclass|blipuid)(?![a-z])[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}"
    rb"|(?<![\da-fA-F'\r\n])[\da-fA-F\r\n]{200,}+(?=\})"
)
_MATH: Final = "{m}"
"""The space of elements of equations."""


def write_drawn(data: bytes) -> bytes:
    """The file with the text of symbols, equations and WordArt."""
    if b"gtextUNICODE" in data:
        data = _WORD_ART.sub(rb"{\\shptxt \1\\par}", data)
    if b"\\shptxt" in data:
        data = b"".join(_without_pictures(data))
    return b"".join(_written(data, _codec(data))) if _START.search(data) else data


def _codec(data: bytes) -> str:
    """Of the bytes of this file that are letters."""
    stated = _CODE_PAGE.search(data, 0, _HEAD)
    name = f"cp{int(stated[1])}" if stated is not None else "cp1252"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _without_pictures(data: bytes) -> Iterator[bytes]:
    """Leaves out what is no text in text boxes."""
    done = 0
    while (found := _BOX.search(data, done)) is not None:
        end = _end(data, found.start())
        if end is None:
            break
        yield data[done : found.start()]
        yield _NO_TEXT.sub(b"", data[found.start() : end])
        done = end
    yield data[done:]


def _written(data: bytes, codec: str) -> Iterator[bytes]:
    done = at = 0
    while (found := _START.search(data, at)) is not None:
        at = found.end()
        is_field = found[1] is not None
        if is_field and not _COMPUTED.search(data, at, at + _NEAR):
            continue
        end = _end(data, found.start())
        if end is None:
            break
        if end - found.start() > _LONGEST:
            at = end
            continue
        group = data[found.end() : end - 1]
        if is_field:
            text = result("".join(text for text, _ in _texts(group, codec)))
            shown = _RESULT.match(data, end) if text else None
            # The reader knows the stored result: often empty, or letters of a font of symbols.
            end = end if shown is None else _end(data, shown.end())
            if end is None:
                break
            new = b"{\\fldrslt " + _as_rtf(text) + b"}"
        else:
            text = math_text(_equation(group, codec))
            new = b"{" + _as_rtf(text) + b"}"
        at = end
        if text:
            yield data[done : found.start()]
            yield new
            done = end
    yield data[done:]


def _end(data: bytes, start: int) -> int | None:
    """Behind the brace that closes the group which begins at `start`."""
    depth, at = 0, start
    while (token := _BRACE.search(data, at)) is not None:
        at = token.end() + int(token[1] or 0)
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if depth == 0:
            return at
    return None


def _texts(group: bytes, codec: str) -> Iterator[tuple[str, str]]:
    """Pieces of text, and in between control words and braces: one of the two is empty."""
    each = 1  # bytes for readers that do not know the character in front of them
    unread = 0
    for token in _TOKEN.finditer(group):
        encoded, code, escaped, word, count, brace, plain = token.groups()
        if encoded is not None or plain is not None:
            letters = plain or bytes.fromhex(encoded.translate(None, b"\\'\r\n").decode())
            letters, unread = letters[unread:], max(unread - len(letters), 0)
            if letters:
                yield letters.decode(codec, "replace"), ""
            continue
        if code is not None:
            unread = each
            yield _character(int(code)), ""
            continue
        unread = 0
        if word == b"uc" and count.isdigit():
            each = int(count[:2])
        elif word is not None or brace is not None:
            yield "", (word or brace).decode()
        elif escaped is not None:
            yield escaped.decode(), ""


def _character(code: int) -> str:
    return chr(code & 0xFFFF) if code < 0x10000 else chr(code) if code <= 0x10FFFF else ""


def _equation(group: bytes, codec: str) -> etree._Element:
    """The equation as in OMML: `\\mnum` is the element `num`, and so on."""
    root = etree.Element(f"{_MATH}oMath")
    groups = [(root, True)]  # and whether they have said what they are
    for text, word in _texts(group, codec):
        inside, is_known = groups[-1]
        if word == "{":
            groups.append((inside, False))
        elif word == "}":
            del groups[max(len(groups) - 1, 1) :]
        elif word and not is_known:
            is_math = word[0] == "m" and len(word) > 1 and len(groups) <= _DEEPEST
            item = etree.SubElement(inside, f"{_MATH}{word[1:]}") if is_math else inside
            groups[-1] = item, True
        elif text and inside.tag == f"{_MATH}r":
            etree.SubElement(inside, f"{_MATH}t").text = storable(text)
        elif text.strip():
            inside.set(f"{_MATH}val", storable(text.strip()))
    return root


def _as_rtf(text: str) -> bytes:
    return (
        b"{\\uc1 "
        + "".join(
            f"\\{char}" if char in "\\{}" else char if char < "\x7f" else f"\\u{ord(char)}?"
            for char in text
        ).encode("ascii")
        + b"}"
    )
