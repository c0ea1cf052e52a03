"""Leaves out encoded bytes (base64, hexadecimal): no question finds them, and they would make
hundreds of chunks."""

import re
from typing import Final

_DATA_URI: Final = re.compile(
    r"(data:(?:[\w.+-]{1,60}/[\w.+-]{1,60})?(?:;[\w.+-]{1,40}=[^;,\s\"']{1,60}){0,5};base64,)"
    r"[A-Za-z0-9+/=_%-]{32,}+",
    re.IGNORECASE,
)
_LONGEST: Final = 1000
"""Characters without a space; no identifier, hash, token or address is that long."""
_RUN: Final = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{_LONGEST},}}+")
_KEPT: Final = 32  # characters of a blob: enough to recognise it
# At least 16 lines, as mail programs and certificates break them; sequences of genes or hashes have
# one case only.
_LINES: Final = re.compile(
    r"^[ \t]{0,16}[A-Za-z0-9+/]{60,100}+\n(?:[ \t]{0,16}[A-Za-z0-9+/]{60,100}+\n){14,}+"
    r"[ \t]{0,16}[A-Za-z0-9+/=]{1,100}$",
    re.MULTILINE,
)
_ENDING: Final = "…"


def without_encoded(text: str) -> tuple[str, int]:
    """The text with `…` for encoded bytes, and how many characters were left out. Linear.

    A data URI keeps its type, another blob its first 32 characters.
    """
    length = len(text)
    if ";base64," in text or ";BASE64," in text:
        text = _DATA_URI.sub(rf"\1{_ENDING}", text)
    if length >= _LONGEST:
        if _may_have_run(text):
            text = _RUN.sub(_shortened, text)
        text = _LINES.sub(_shortened, text)
    return text, length - len(text)


def _may_have_run(text: str) -> bool:
    """Whether a part without a space is so long that a run may be around it; a tenth of the time
    that the search takes."""
    half = _LONGEST // 2
    return any(" " not in text[start : start + half] for start in range(0, len(text), half))


def _shortened(match: re.Match[str]) -> str:
    blob = match.group()
    return blob[:_KEPT] + _ENDING if _is_encoded(blob[:_LONGEST]) else blob


def _is_encoded(blob: str) -> bool:
    """Whether letters of both cases and digits are mixed, or the digits of hexadecimal numbers."""
    has_digits = any(map(str.isdigit, blob))
    is_mixed = any(map(str.islower, blob)) and any(map(str.isupper, blob))
    is_hexadecimal = not set(blob.lower()) - set("0123456789abcdef") and not blob.isdigit()
    return has_digits and (is_mixed or is_hexadecimal) and len(set(blob)) > 12
