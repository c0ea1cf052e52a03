"""Any text becomes storable text, in one place: for the text, the title and all metadata.

Storable: encodes to UTF-8, holds no NUL (Postgres refuses it), is NFC so that equal words are
equal, has LF line ends and no invisible characters that split words or hide instructions.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("[\r\v\f\x85\u2028\u2029]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Soft hyphen, zero-width space, direction marks, word joiners, byte order mark, non-characters,
# tag characters. Kept: the (non-)joiners U+200C and U+200D, which are part of the spelling of
# Persian, of Indic scripts and of many emoji.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f]"
)
_DEEP = 32  # levels of nested metadata; deeper ones become text
_LONGEST_LINE = 300


def clean(text: str) -> tuple[str, Counter[str]]:
    """Storable text, and how many characters were repaired or removed by kind.

    Kinds: `surrogate_paired`, `surrogate`, `nul`, `control`, `invisible`. Idempotent.
    """
    counts: Counter[str] = Counter()
    if not text.isascii():
        text = _mend_surrogates(text, counts)
        text = _remove(_INVISIBLE, text, "invisible", counts)
    text = _NEWLINE.sub("\n", text.replace("\r\n", "\n"))
    if "\0" in text:
        counts["nul"] = text.count("\0")
        text = text.replace("\0", "")
    text = _remove(_CONTROL, text, "control", counts)
    return unicodedata.normalize("NFC", text), counts


def clean_line(text: str) -> str | None:
    """A title or a name: storable, on one line of 300 characters, None if nothing is left."""
    return " ".join(clean(text)[0].split())[:_LONGEST_LINE].rstrip() or None


def clean_json(value: Any, *, depth: int = 0) -> Any:
    """A JSON value whose keys and strings, however deep, are storable.

    What JSON does not know becomes text; NaN and infinities become None.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) or depth >= _DEEP:
        return clean(str(value))[0]
    if isinstance(value, Mapping):
        return {
            clean(str(key))[0]: clean_json(item, depth=depth + 1) for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_json(item, depth=depth + 1) for item in value]
    return clean(str(value))[0]


def _mend_surrogates(text: str, counts: Counter[str]) -> str:
    """Join halves that stand side by side (parsers of UTF-16 leave them), drop the single ones."""
    if not _SURROGATE.search(text):
        return text
    text, paired = _PAIR.subn(_join, text)
    if paired:
        counts["surrogate_paired"] = paired
    return _remove(_SURROGATE, text, "surrogate", counts)


def _join(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _remove(pattern: re.Pattern[str], text: str, kind: str, counts: Counter[str]) -> str:
    cleaned, removed = pattern.subn("", text)
    if removed:
        counts[kind] += removed
    return cleaned
