"""Decodes bytes to text by the first step that fits; `Encoding` records the result.

1. byte order mark                       4. declared charset (HTTP, HTML, XML), if the bytes agree
2. UTF-16/32 without one, ISO-2022       5. detection on a sample
3. strict UTF-8, or nearly so            6. replacement characters, counted

Logs and pasted texts may mix UTF-8 with lines in another encoding; such lines are decoded
separately. UTF-7 is never guessed, because it looks like ASCII. Memory: the bytes, the text and,
for a moment, one more copy of the text.
"""

import codecs
import re
from collections.abc import Iterable

from ingest.formats.encoding import charset
from ingest.formats.encoding.charset_labels import codec, declarations, is_wide
from ingest.model import Encoding

HEAD = 64 * 1024
"""Bytes at the start of a file that suffice to detect its type."""

_SAMPLE = 16 * 1024
_BOMS = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022 = (
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"\x1b\$[@B]|\x1b\(J"), "iso2022_jp_ext"),
)
_BLOCK = 1024 * 1024
_TRUSTED_ERRORS = 0.02  # share of non-ASCII bytes that a declared charset may fail to decode
_CONVINCING = 0.7  # confidence of a guess that overrules the declared charset
_UNFAMILIAR = 0.6  # of that confidence: how familiar the letters by the declaration may be
_PLAUSIBLE = 0.35  # confidence of a guess for the lines that are not UTF-8
_LARGEST_MIXTURE = 64 * 1024 * 1024  # bytes; each line becomes an object
_CONTROL = re.compile("[\x01-\x08\x0e-\x19\x1c-\x1f]")
_FOREIGN = re.compile(rb"[\x80-\xff]")
_HIGH = range(0x80, 0x100)
_LEADS = range(0xC2, 0xF5)  # lead bytes of UTF-8
_LAST_PLANE = 0x10  # of Unicode
_ENOUGH = 64  # non-ASCII bytes; fewer may be one name and a copyright sign
_CONTROLS = bytes({*range(1, 32)} - set(b"\t\n\r\b\f\v\x1a\x1b")) + b"\x7f"


def decode(data: bytes, *, declared: str | None = None) -> tuple[str, Encoding]:
    """The text of `data` and how it was decoded; never fails. `declared`: a Content-Type header."""
    by_bom = _by_bom(data)
    if by_bom is not None:
        return by_bom
    name = _wide(data[:HEAD]) or _iso_2022(data[:HEAD]) or _declared_wide(data, declared)
    if name is not None:
        return _decode_replacing(data, name, 0.95)
    try:
        return data.decode("utf-8"), Encoding(name="utf-8", confidence=1.0)
    except UnicodeDecodeError as error:
        return (
            _cut_utf8(data, error)
            or _mixed(data)
            or _nearly_utf8(data)
            or _by_declaration(data, declared)
            or _guess(data)
        )


def peek(head: bytes) -> str:
    """Decode the start of a text quickly: ASCII is right, other letters may be wrong."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return head[len(mark) :].decode(name, "replace")
    name = _wide(head) or _iso_2022(head) or ("cp500" if charset.is_ebcdic(head) else "utf-8")
    try:
        return head.decode(name)
    except UnicodeDecodeError:
        return head.decode("latin-1" if name == "utf-8" else name, "replace")


def is_text(head: bytes) -> bool:
    """Whether the first bytes of a file are text in some encoding (a few stray NULs allowed)."""
    if head.startswith(tuple(mark for mark, _ in _BOMS)) or _wide(head) or charset.is_ebcdic(head):
        return True
    name = _iso_2022(head)
    if name is not None and _is_clean(head, name):  # its shifts are control characters
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    nuls = head.count(0)
    return controls <= len(head) * 0.02 and nuls <= max(len(head) * 0.1, 16)


def _by_bom(data: bytes) -> tuple[str, Encoding] | None:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _decode_replacing(data[len(mark) :], name, 1.0)
    return None


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, by the positions of its NULs."""
    if 0 not in head:
        return None
    if len(head) % 4 == 0:
        for name, top, plane in (("utf-32-le", 3, 2), ("utf-32-be", 0, 1)):
            is_unicode = not any(head[top::4]) and max(head[plane::4]) <= _LAST_PLANE
            if is_unicode and _is_clean(head, name):
                return name
    if len(head) % 2 == 0:
        orders = [(head[1::2].count(0), "utf-16-le"), (head[::2].count(0), "utf-16-be")]
        for zeros, name in sorted(orders, reverse=True):
            if zeros and _is_clean(head, name) and _is_plausible(head.decode(name, "replace")):
                return name
    return None


def _is_plausible(text: str) -> bool:
    """Whether it was UTF-16: two ASCII letters as one unit give a rare Chinese character."""
    alphabetic = sum(char < "\u3000" for char in text)
    return alphabetic > 0.7 * len(text) or charset.common_cjk_share(text) > 0.6


def _is_clean(head: bytes, name: str) -> bool:
    text = head.decode(name, "replace")
    if "\0" in text or "\ufffd" in text[:-1]:  # the head may cut the last character
        return False
    return len(_CONTROL.findall(text)) <= len(text) * 0.02


def _iso_2022(head: bytes) -> str | None:
    if b"\x1b" not in head:
        return None
    for escape, name in _ISO_2022:
        if escape.search(head):
            return name
    return None


def _declared_wide(data: bytes, declared: str | None) -> str | None:
    """The byte order of declared UTF-16: text of letters only may have no NUL to detect it by."""
    if len(data) % 2 or not any(map(is_wide, declarations(b"", declared))):
        return None
    for name in ("utf-16-le", "utf-16-be"):
        if _is_clean(data[:HEAD], name) and _is_plausible(data[:HEAD].decode(name, "replace")):
            return name
    return None


def _cut_utf8(data: bytes, error: UnicodeDecodeError) -> tuple[str, Encoding] | None:
    """UTF-8 that is cut off within a character and has other multi-byte ones before it."""
    if error.reason != "unexpected end of data" or _count(data, _LEADS) < 2:
        return None
    text = data[: error.start].decode("utf-8") + "\ufffd"
    return text, Encoding(name="utf-8", confidence=0.9, replaced=1)


def _nearly_utf8(data: bytes) -> tuple[str, Encoding] | None:
    """UTF-8 with a few invalid bytes, as in pasted text."""
    leads = _count(data, _LEADS)
    if leads < 10:
        return None
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if leads < 10 * broken:
        return None
    return text, Encoding(name="utf-8", confidence=0.9, replaced=broken)


def _mixed(data: bytes) -> tuple[str, Encoding] | None:
    """UTF-8 mixed with lines in one other encoding that is clearly detected."""
    if len(data) > _LARGEST_MIXTURE:
        return None
    lines = data.split(b"\n")
    strange = [line for line in lines if not line.isascii()]
    others = [line for line in strange if not _is_utf8(line)]
    # Legacy text can be valid UTF-8 by chance, but not in many lines.
    if len(strange) - len(others) < max(2, 0.2 * len(strange)):
        return None
    guess = charset.guess(b"\n".join(others)[:_SAMPLE])
    if guess is None or guess.confidence < _PLAUSIBLE:
        return None
    # Only UTF-8 hardly ever fits by chance, so it is tried on each line.
    text = "\n".join(
        line.decode("utf-8" if _is_utf8(line) else guess.name, "replace") for line in lines
    )
    replaced = text.count("\ufffd")
    return text, Encoding(name="utf-8", confidence=round(guess.confidence, 2), replaced=replaced)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _by_declaration(data: bytes, content_type: str | None) -> tuple[str, Encoding] | None:
    for label in declarations(data, content_type):
        name = codec(label)
        if name is None:
            continue
        text, encoding = _decode_replacing(data, name, 0.95)
        if encoding.replaced <= _count(data, _HIGH) * _TRUSTED_ERRORS:
            return _guess(data) if _is_wrong_default(data, name) else (text, encoding)
    return None


def _is_wrong_default(data: bytes, name: str) -> bool:
    """Whether cp1252 was only a template's default: the text is clearly in another script."""
    if name != "cp1252":
        return False
    sample = _sample(data)
    guess = charset.guess(sample)
    return (
        guess is not None
        and guess.name in charset.NOT_LATIN
        and guess.confidence > _CONVINCING
        and charset.familiarity(sample.decode(name, "replace"), name)
        < _UNFAMILIAR * guess.confidence
    )


def _guess(data: bytes) -> tuple[str, Encoding]:
    guess = charset.guess(_sample(data).replace(b"\0", b""))
    if guess is None:
        return _decode_replacing(data, "cp1252", 0.1)
    return _decode_replacing(data, guess.name, guess.confidence)


def _sample(data: bytes) -> bytes:
    """16 kB around the first non-ASCII byte; if it has few of them, up to 16 kB more from later."""
    if charset.is_ebcdic(data[:_SAMPLE]):
        return data[:_SAMPLE]
    sample, end = _window(data, 0, _SAMPLE)
    while end < len(data) and len(sample) < 2 * _SAMPLE and _count(sample, _HIGH) < _ENOUGH:
        window, end = _window(data, end, _SAMPLE // 8)
        if not window:
            break
        sample += b"\n" + window
    return sample


def _window(data: bytes, position: int, size: int) -> tuple[bytes, int]:
    """Bytes from shortly before the next non-ASCII byte on, and where to continue."""
    foreign = _FOREIGN.search(data, position)
    if foreign is None:
        return (data[position : position + size] if position == 0 else b""), len(data)
    start = max(position, foreign.start() - size // 64)
    window = data[start : start + size]
    if len(data) > start + size:
        # No candidate encoding uses bytes below 0x30 inside a character.
        end = max(window.rfind(separator) for separator in (b"\n", b" ", b",", b"\t"))
        window = window[:end] if end > size // 2 else window
    return window, start + size


def _count(data: bytes, values: Iterable[int]) -> int:
    """How many bytes have one of these values; does not copy all of `data`."""
    deleted = bytes(values)
    blocks = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
    return sum(len(block) - len(block.translate(None, deleted)) for block in blocks)


def _decode_replacing(data: bytes, name: str, confidence: float) -> tuple[str, Encoding]:
    """Decode with U+FFFD for invalid bytes, and count the replacements."""
    try:
        return data.decode(name), Encoding(name=name, confidence=confidence)
    except UnicodeDecodeError:
        text = data.decode(name, "replace")
        replaced = text.count("\ufffd")
        return text, Encoding(name=name, confidence=confidence, replaced=replaced)
