"""Bytes to text, by a ladder; what was found goes into the encoding ledger (`Encoding`).

1. byte order mark                       4. declared charset (HTTP, HTML, XML), if the bytes agree
2. UTF-16/32 without one, ISO-2022       5. detection on a sample
3. strict UTF-8, or nearly so            6. replacement characters, counted
"""

import codecs
import re

from ingest.model import Encoding
from ingest.pipeline import charset

HEAD = 64 * 1024
"""Bytes from the start of a file that are enough to tell what it is."""

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
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)|<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
# What people mean by a name: browsers read the left as the right (WHATWG Encoding Standard).
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_NOT_CHARSETS = re.compile(r"utf|escape|idna|punycode|undefined|charmap|palmos|mbcs|oem")
_TRUSTED_ERRORS = 0.02  # a declared charset may be wrong in this share of the foreign bytes
_CONTROL = re.compile("[\x01-\x08\x0e-\x19\x1c-\x1f]")
_CONTROLS = bytes({*range(1, 32)} - set(b"\t\n\r\b\f\v\x1a\x1b")) + b"\x7f"


def decode(data: bytes, *, declared: str | None = None) -> tuple[str, Encoding]:
    """Text of `data` and how it was read; never fails. `declared`: a Content-Type header."""
    by_bom = _by_bom(data)
    if by_bom is not None:
        return by_bom
    name = _wide(data[:HEAD]) or _iso_2022(data[:HEAD])
    if name is not None:
        return _lossy(data, name, 0.95)
    try:
        return data.decode("utf-8"), Encoding(name="utf-8", confidence=1.0)
    except UnicodeDecodeError as error:
        return _nearly_utf8(data, error) or _by_declaration(data, declared) or _guess(data)


def peek(head: bytes) -> str:
    """The start of a text, quickly: its structure is right, letters beyond ASCII may be wrong."""
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
    controls = len(head) - len(head.translate(None, _CONTROLS))
    nuls = head.count(0)
    return controls <= len(head) * 0.02 and nuls <= max(len(head) * 0.1, 16)


def _by_bom(data: bytes) -> tuple[str, Encoding] | None:
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _lossy(data[len(mark) :], name, 1.0)
    return None


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, told by where its NULs stand."""
    if 0 not in head:
        return None
    if len(head) % 4 == 0:
        for name, high in (("utf-32-le", (2, 3)), ("utf-32-be", (0, 1))):
            if not any(any(head[offset::4]) for offset in high) and _is_clean(head, name):
                return name
    if len(head) % 2 == 0:
        orders = [(head[1::2].count(0), "utf-16-le"), (head[::2].count(0), "utf-16-be")]
        for zeros, name in sorted(orders, reverse=True):
            if zeros and _is_clean(head, name) and _is_plausible(head.decode(name, "replace")):
                return name
    return None


def _is_plausible(text: str) -> bool:
    """Whether this was UTF-16: two ASCII letters read as one unit are a rare Chinese character."""
    alphabetic = sum(char < "\u3000" for char in text)
    return alphabetic > 0.7 * len(text) or charset.everyday_cjk(text) > 0.6


def _is_clean(head: bytes, name: str) -> bool:
    text = head.decode(name, "replace")
    if "\0" in text or "\ufffd" in text[:-1]:  # the head may cut the last one
        return False
    return len(_CONTROL.findall(text)) <= len(text) * 0.02


def _iso_2022(head: bytes) -> str | None:
    for escape, name in _ISO_2022:
        if escape.search(head):
            return name
    return None


def _nearly_utf8(data: bytes, error: UnicodeDecodeError) -> tuple[str, Encoding] | None:
    """UTF-8 with a few broken bytes: cut off at the end, or one line pasted from elsewhere."""
    leads = len(data) - len(data.translate(None, bytes(range(0xC2, 0xF5))))
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    cut_off = error.reason == "unexpected end of data" and leads > broken
    if not cut_off and leads < 10 * broken:
        return None
    return text, Encoding(name="utf-8", confidence=0.9, replaced=broken)


def _by_declaration(data: bytes, content_type: str | None) -> tuple[str, Encoding] | None:
    for label in _declarations(data, content_type):
        name = _codec(label)
        if name is None:
            continue
        text, encoding = _lossy(data, name, 0.95)
        foreign = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
        if encoding.replaced <= foreign * _TRUSTED_ERRORS:
            return text, encoding
    return None


def _declarations(data: bytes, content_type: str | None) -> list[str]:
    found = [match.group(1) for match in _PARAMETER.finditer(content_type or "")]
    inside = _DECLARED.search(data[:4096])
    if inside is not None:
        found.append((inside.group(1) or inside.group(2)).decode("ascii", "ignore"))
    return found


def _codec(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    if _NOT_CHARSETS.search(name):
        return None
    meant = _MEANT.get(name, name)
    try:
        b" ".decode(meant, "replace")  # refuses bytes-to-bytes codecs such as base64
    except LookupError:
        return None
    return meant


def _guess(data: bytes) -> tuple[str, Encoding]:
    guess = charset.guess(_sample(data).replace(b"\0", b""))
    if guess is None:
        return _lossy(data, "cp1252", 0.1)
    return _lossy(data, guess.name, guess.confidence)


def _sample(data: bytes) -> bytes:
    """Some bytes around the first that is not ASCII, cut where no character is split."""
    if charset.is_ebcdic(data[:_SAMPLE]):
        return data[:_SAMPLE]
    foreign = re.search(rb"[\x80-\xff]", data)
    start = max(0, foreign.start() - 256) if foreign else 0
    sample = data[start : start + _SAMPLE]
    if len(data) <= start + _SAMPLE:
        return sample
    # No encoding of ours uses the bytes below 0x30 inside a character.
    end = max(sample.rfind(separator) for separator in (b"\n", b" ", b",", b"\t"))
    return sample[:end] if end > _SAMPLE // 2 else sample


def _lossy(data: bytes, name: str, confidence: float) -> tuple[str, Encoding]:
    """Decode with U+FFFD for what does not fit, and count those."""
    try:
        return data.decode(name), Encoding(name=name, confidence=confidence)
    except UnicodeDecodeError:
        text = data.decode(name, "replace")
        replaced = text.count("\ufffd")
        return text, Encoding(name=name, confidence=confidence, replaced=replaced)
