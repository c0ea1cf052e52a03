"""Finds where sentences end: not behind abbreviations, initials and ordinal numbers."""

import re
from functools import cached_property
from typing import Final

from ingest.analysis.language import detect
from ingest.chunking.abbreviations import ANY, abbreviations, months
from ingest.chunking.structure import Position

# By number, as many look like other characters: quotation marks, then brackets and emphasis.
_QUOTES: Final = r"\"'\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u00ab\u00bb"
_CLOSING: Final = (
    rf"(?:[{_QUOTES})\]*_\u300d\u300f\uff09]|[ \u00a0\u202f](?:\u00bb|[\u201d)](?=\s|\Z))){{0,4}}"
)
# Of Latin, Greek and Cyrillic; Arabic, Urdu; Ethiopian, Armenian, Khmer, Burmese.
_STOPS: Final = r".!?\u2026\u061f\u06d4\u1362\u0589\u17d4\u104b"
# Full-width stops, and those of Hindi: no space is needed after them.
_DENSE_STOPS: Final = r"\u3002\uff01\uff1f\uff61\u0964\u0965"
_DENSE_CLOSING: Final = _CLOSING.replace(r"\u2018", "").replace(r"\u201c", "")  # they open there
_CJK: Final = r"[\u3040-\u30ff\u3400-\u9fff]"
_GREEK: Final = r"[\u0370-\u03ff\u1f00-\u1fff]"
_END: Final = re.compile(  # all begin with one set, for which the search is fast
    rf"[{_STOPS}{_DENSE_STOPS};](?:(?<=[{_STOPS}]){_CLOSING}\s+(?=[^\sa-z])"
    rf"|(?<=[{_DENSE_STOPS}]){_DENSE_CLOSING}\s*"
    rf"|(?<={_CJK}[!?])(?={_CJK})"  # between letters of full width
    rf"|(?<={_GREEK};){_CLOSING}\s+(?=[^\sa-z]))"  # a Greek question mark
)
_END_BEFORE: Final = re.compile(rf"[{_STOPS}{_DENSE_STOPS}]{_CLOSING}\s*\Z")
_OPENING: Final = re.compile(rf"[{_QUOTES}(\[{{*_/\u2013\u2014-]+")
# What follows a stop inside a sentence: `"No!" - she said`, `Why? (he asked)`, `Well . . .`
_CLOSING_QUOTE: Final = re.compile('["\u201c\u201d\u00bb]')  # `Dank u.”`
_GOES_ON: Final = re.compile(
    r"(?:[-\u2013\u2014]{1,2}[ \u00a0]?|\((?!\w{1,4}\)))(?=(?P<letter>\w))|[,;:/.!?\u2026](?![\w,])"
)
_LONGEST_WORD: Final = 20  # characters before a full stop
_ELISION: Final = re.compile(r"\A\w{1,5}['\u2019](?=\w{2})")  # l'art., but not `men's.`
_DAY: Final = re.compile(r"\d{1,2}")
_ROMAN: Final = re.compile(r"[IVX]{2,5}")
# A number at the start of a sentence counts: `2. The seller`, `3.1.2. Costs`.
_COUNTS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,4}|[IVX]{2,5}")
_BEFORE_COUNT: Final = re.compile(
    rf"(?:\A|\n|(?:[{_STOPS};]|(?<=[^\W\d]):){_CLOSING}[ \t]+)[(\[]?\Z"
)
_REMARK: Final = re.compile(r"\([^\W\d_]{2,6}")  # (lat. Homo, (мал. 8)
_DOTTED: Final = re.compile(r"(?:[^\W\d_]{1,3}\.){1,4}[^\W\d_]{1,4}")
_WRITES_ORDINALS: Final = frozenset(["cs", "et", "hr", "hu", "lt", "lv", "sk", "sl", "tr"])
"""Languages that write many ordinals as a number with a full stop, also before capitals."""
_UNITS: Final = frozenset(["ml", "mm", "мл", "см"])
"""Behind a number, these listed words are units, which take no full stop."""
_VOWELS: Final = "aeiouy"
_SYLLABIC: Final = re.compile(r"[rl]")  # vowels of Slavic languages: prst, vlk
_LONGEST_WITHOUT_VOWEL: Final = 5
# After these, a German number is an ordinal: `am 2. Tag`.
_BEFORE_ORDINAL: Final = frozenset(
    "am vom zum im beim der die das dem den des zur ab bis seit".split()  # noqa: SIM905
)


class Sentences:
    """The sentence ends of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def last_end(self, start: Position, limit: Position) -> Position | None:
        """Where the white space behind the last sentence end in [start, limit] ends."""
        found = [m for m in _END.finditer(self._text, start - 1, limit + 1) if m.end() <= limit]
        return next((m.end() for m in reversed(found) if self._ends(m)), None)

    def first_end(self, start: Position, limit: Position) -> Position | None:
        """The same for the first one, before the limit."""
        found = _END.finditer(self._text, start, limit)
        return next((m.end() for m in found if m.end() < limit and self._ends(m)), None)

    def is_end(self, position: Position) -> bool:
        """Whether a sentence ends at this position, or at the white space before it."""
        start = max(0, position - 2 * _LONGEST_WORD)
        match = _END_BEFORE.search(self._text[start:position])
        return match is not None and not self.is_abbreviation(start + match.start())

    def is_abbreviation(self, dot: Position) -> bool:
        """Whether the character there is a full stop that ends no sentence."""
        if self._text[dot : dot + 1] != ".":
            return False
        before = self._text[max(0, dot - _LONGEST_WORD) : dot]
        raw = (before.split() or [""])[-1] if not before[-1:].isspace() else ""
        word = _ELISION.sub("", _without_opening(raw))
        if not word:
            return False
        if _COUNTS.fullmatch(word) and self._begins(dot - len(word)):
            return True
        if raw.islower() and _REMARK.fullmatch(raw):
            return True
        following = _without_opening(self._text[dot + 1 : dot + 1 + _LONGEST_WORD].lstrip())
        if word.isdecimal() or _ROMAN.fullmatch(word):
            return self._is_ordinal(word, before, following)
        if len(word) == 1 and word.lower() != word.upper():
            return word.isalpha() and not _CLOSING_QUOTE.match(self._text, dot + 1)
        if word in _UNITS and before[: -len(word)].rstrip()[-1:].isdecimal():
            return False
        return bool(_DOTTED.fullmatch(word)) or self._is_listed(word, following)

    def _ends(self, match: re.Match[str]) -> bool:
        following = self._text[match.end() : match.end() + 1]
        if following.islower() or self.is_abbreviation(match.start()):
            return False
        more = _GOES_ON.match(self._text, match.end())
        if more is None or "\n" in match[0]:
            return True
        return more["letter"] is not None and not more["letter"].islower()

    def _begins(self, start: Position) -> bool:
        """Whether a sentence or a line begins here."""
        before = self._text[max(0, start - _LONGEST_WORD) : start]
        match = _BEFORE_COUNT.search(before)
        if match is None:
            return False
        word = _without_opening((before[: match.start()].split() or [""])[-1])
        word = _ELISION.sub("", word).lower()
        return not (match[0].startswith(".") and (len(word) == 1 or word in abbreviations()))

    def _is_listed(self, word: str, following: str) -> bool:
        lower = word.lower()
        is_number = following[:1].isdecimal()
        if is_number and lower.endswith("str"):
            return True  # Hauptstr. 5, Anna-Seghers-Str. 12
        languages = abbreviations().get(lower)
        if languages is not None:
            spoken = (ANY, self._language) if self._language else (ANY, *languages)
            own = [languages[language] for language in spoken if language in languages]
            return bool(own) and (is_number or not all(own))
        return (
            len(word) <= _LONGEST_WITHOUT_VOWEL
            and word.isascii()
            and word.isalpha()
            and not word.isupper()
            and not any(vowel in lower for vowel in _VOWELS)
            and not _SYLLABIC.search(lower[1:-1])
        )

    def _is_ordinal(self, number: str, before: str, following: str) -> bool:
        if not following or not (_DAY.fullmatch(number) or _ROMAN.fullmatch(number)):
            return False
        words = before.split()
        if self._language in _WRITES_ORDINALS:
            return len(words) < 2 or not words[-2].endswith(".")  # str. 12.
        word = re.split(r"[\s.,;:)]", following, maxsplit=1)[0].lower()
        if word in months():
            return True
        return len(words) > 1 and words[-2].lower() in _BEFORE_ORDINAL and self._language == "de"

    @cached_property
    def _language(self) -> str | None:
        return detect(self._text)


def _without_opening(text: str) -> str:
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening else text
