"""Folds spellings of a word into one: width, ligatures, diacritics, variants of Chinese."""

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    import opencc

# Marks that readers leave out: accents of Latin, Greek and Cyrillic, points of Hebrew, vowel signs
# and tatweel of Arabic. Not those of Indic scripts and kana, which make other words.
_MARKS: Final = regex.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u200c\u200d]"
)
# Letters that decompose into nothing.
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "þ": "th", "æ": "ae"}
    | {"œ": "oe"}
    | {"ة": "ه", "ى": "ي", "ک": "ك", "ی": "ي", "ς": "σ"}
)
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa"})
_HAN: Final = regex.compile(r"\p{Han}")
# Where a digit is raised or lowered after another: 2¹⁰ is not 210.
_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉"
_POWER: Final = regex.compile(rf"(?<=\p{{Nd}})(?=[{_RAISED}])")


def normalised(text: str) -> str:
    """The text with one form for each character: full and half width, ligatures, ß as ss, and
    traditional Chinese as simplified, 2¹⁰ as 2^10. Keeps case and accents, which stemmers need."""
    if text.isascii():
        return text
    if any(digit in text for digit in _RAISED):  # few texts have any, and the pattern is slow
        text = _POWER.sub("^", text)
    text = unicodedata.normalize("NFKC", text).replace("ß", "ss").replace("ẞ", "SS")
    return _simplifier().convert(text) if _HAN.search(text) else text


def without_marks(word: str) -> str:
    """A lower-case word without diacritics."""
    if word.isascii():
        return word
    bare = _MARKS.sub("", unicodedata.normalize("NFD", word.translate(_LETTERS)))
    return unicodedata.normalize("NFC", bare)


def written_out(word: str) -> str | None:
    """A lower-case word with its umlauts as two letters, as on keyboards without them; None if it
    has none."""
    plain = unicodedata.normalize("NFC", word).translate(_UMLAUTS)
    return None if plain == word else plain


@cache
def _simplifier() -> "opencc.OpenCC":
    import opencc  # loads its dictionaries, and most texts have no Chinese

    return opencc.OpenCC("t2s")
