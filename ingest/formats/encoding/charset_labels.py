"""Finds the charset labels that files and senders declare, and maps them to codecs."""

import codecs
import re

_WITHIN = 64 * 1024  # bytes; browsers read 1,024, but pages may start with scripts and comments
_XML = re.compile(rb"\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_CSS = re.compile(rb"@charset \"([\w.:-]+)\";")
_COOKIE = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*[#;/*]+.{0,40}?coding[:=][ \t]*([\w.-]+)")
_COMMENT = re.compile(rb"<!--(?:(?!-->).)*-->", re.DOTALL)
_MARKUP = re.compile(rb"[\xef\xbb\xbf\s\0]*<")
_PARAMETER = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
# Browsers decode the label on the left as the right (WHATWG Encoding Standard).
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
# Labels that Python does not know.
_ALIASES = {
    "sjis": "cp932",
    "windows-874": "cp874",
    "visual": "iso8859-8",
    "logical": "cp1255",
    "iso-8859-8-i": "cp1255",
    "iso-8859-8-e": "cp1255",
    "macroman": "mac_roman",
    "mac-cyrillic": "mac_cyrillic",
    "mac-ukrainian": "mac_cyrillic",
    "dos-866": "cp866",
    "koi8": "koi8_r",
    "koi8-ru": "koi8_u",
    "gb_2312-80": "gb18030",
    "chinese": "gb18030",
    "unicode": "utf-16",
}
_NUMBERED = re.compile(r"(?:win(?:dows)?|cp|ms|ansi)[-_ ]?(125\d)")
_WIDE = re.compile(r"utf[-_]?(?:16|32)(?:[-_]?[lb]e)?|ucs-?[24]|unicode")
_NOT_CHARSETS = re.compile(r"utf|escape|idna|punycode|undefined|charmap|palmos|mbcs|oem")


def declarations(data: bytes, content_type: str | None) -> list[str]:
    """Labels as written: the sender's first, then the one inside the file."""
    found = [match.group(1) for match in _PARAMETER.finditer(content_type or "")]
    head = data[:_WITHIN]
    if _MARKUP.match(head):
        inside = _XML.match(head) or _META.search(_without_comments(head))
    else:
        inside = _CSS.match(head) or _COOKIE.match(head)
    if inside is not None:
        found.append(inside.group(1).decode("ascii", "ignore"))
    return found


def _without_comments(head: bytes) -> bytes:
    # No comment closes after the last `-->`; a search there would take quadratic time.
    end = head.rfind(b"-->") + 1
    return _COMMENT.sub(b"", head[: end + 2]) + head[end + 2 :] if end else head


def is_wide(label: str) -> bool:
    """Whether the label means UTF-16 or UTF-32."""
    return _WIDE.fullmatch(label.strip().lower()) is not None


def codec(label: str) -> str | None:
    """The codec that a label means; None for UTF, unknown labels, and codecs of another kind."""
    name = label.strip().lower().removeprefix("x-")
    numbered = _NUMBERED.fullmatch(name)
    name = f"cp{numbered[1]}" if numbered else _ALIASES.get(name, name)
    try:
        name = codecs.lookup(name).name
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
