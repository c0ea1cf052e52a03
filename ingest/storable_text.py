"""Make any text storable; used for texts, titles and all metadata.

Storable: encodes to UTF-8, has no NUL (Postgres refuses it), is NFC so that equal words compare
equal, has LF line ends and no invisible characters that split words or hide instructions.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

# Characters that need no repair. Most Western pages have no others, and one match is cheaper than
# a search for each fault.
_PLAIN = re.compile("[\t\n\x20-\x7e\xa0-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("[\r\v\f\x85\u2028\u2029]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Soft hyphen, zero-width space, direction marks, word joiners, byte order mark, non-characters.
# Kept: the (non-)joiners U+200C and U+200D, which are part of the spelling of Persian, of Indic
# scripts and of many emoji. (Sets of characters up to U+FFFF are searched ten times as fast.)
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff]"
)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_RARE = re.compile("[\U000101fd-\U0001e94a]")  # scripts with marks beyond U+FFFF; no emoji
_PLANES = range(0x10000, 0x110000, 0x10000)
_NON_CHARACTERS = re.compile(
    "[" + "".join(f"{chr(plane + 0xFFFE)}-{chr(plane + 0xFFFF)}" for plane in _PLANES) + "]"
)
# Tag characters mirror ASCII and are never shown, so they can hide instructions from readers. In
# flag emoji such as Scotland's they are part of the emoji.
_TAG = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    "|[\U000e0000-\U000e007f]"
)
# One variation selector selects the form of the character before it; several can hide data.
_SELECTORS = re.compile("([\ufe00-\ufe0f])[\ufe00-\ufe0f]+")
_ASTRAL_SELECTORS = re.compile(
    "([\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_MOST_MARKS = 30  # per character, as in Unicode's Stream-Safe Text Format; languages need five
_LAST_MARK = 0x1E94A
_GARBLED = {"replacement": 0.05, "control": 0.01, "private_use": 0.2}  # shares of a text
_DEEP = 32  # levels of nested metadata; deeper ones become text
_LONGEST_LINE = 300


def clean(text: str) -> tuple[str, Counter[str]]:
    """Storable text, and the number of repaired or removed characters by kind.

    Kinds: `surrogate_paired`, `surrogate`, `nul`, `control`, `invisible`, `tag` (characters that
    hide a text), `mark` (too many combining marks on one character). Idempotent and linear.
    """
    counts: Counter[str] = Counter()
    if _PLAIN.fullmatch(text):
        return text, counts
    if not text.isascii():
        text = _mend_surrogates(text, counts)
        astral = _ASTRAL.search(text) is not None
        text = _remove(_INVISIBLE, text, "invisible", counts)
        if astral:
            text = _remove(_NON_CHARACTERS, text, "invisible", counts)
            text = _reduce(_TAG, text, "tag", counts)
        text = _reduce(_ASTRAL_SELECTORS if astral else _SELECTORS, text, "tag", counts)
        # Normalisation sorts the marks of a character in quadratic time: limit their number.
        rare = astral and _RARE.search(text) is not None
        text = _reduce(_surplus_marks(rare=rare), text, "mark", counts)
    text = _NEWLINE.sub("\n", text.replace("\r\n", "\n"))
    if "\0" in text:
        counts["nul"] = text.count("\0")
        text = text.replace("\0", "")
    text = _remove(_CONTROL, text, "control", counts)
    return unicodedata.normalize("NFC", text), counts


def unreadable(text: str) -> Counter[str]:
    """Count unreadable characters by kind; they stay in the text.

    Kinds: `replacement` (U+FFFD, where bytes could not be decoded), `private_use` (glyphs of a
    specific font).
    """
    counts: Counter[str] = Counter()
    if not text.isascii():
        counts["replacement"] = text.count("\ufffd")
        counts["private_use"] = sum(1 for _ in _PRIVATE.finditer(text))
    return +counts


def is_garbled(counts: Counter[str], length: int) -> bool:
    """Whether the share of faulty characters in a text of `length` shows that it is garbled."""
    return any(counts[kind] > share * length for kind, share in _GARBLED.items())


def clean_line(text: str) -> str | None:
    """A title or name: storable, one line of at most 300 characters; None if nothing is left."""
    return " ".join(clean(text)[0].split())[:_LONGEST_LINE].rstrip() or None


def clean_json(value: Any, *, depth: int = 0) -> Any:
    """A JSON value with storable keys and strings at all levels.

    Types unknown to JSON become text; NaN and infinities become None.
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
    """Join adjacent surrogate pairs (left by UTF-16 parsers), drop lone surrogates."""
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


def _reduce(pattern: re.Pattern[str], text: str, kind: str, counts: Counter[str]) -> str:
    """Replace each match by its first group."""
    cleaned = pattern.sub(r"\1", text)
    if len(cleaned) < len(text):
        counts[kind] += len(text) - len(cleaned)
    return cleaned


@cache
def _surplus_marks(*, rare: bool) -> re.Pattern[str]:
    candidates = map(chr, range(0x300, (_LAST_MARK if rare else 0xFFFF) + 1))
    mark = f"[{''.join(filter(unicodedata.combining, candidates))}]"
    return re.compile(f"({mark}{mark}{{{_MOST_MARKS - 1}}}){mark}+")
