"""Terms of the keyword index: what words of a language become, as 32-bit numbers.

Two words of an application share a number about once in four billion pairs.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import numpy as np
import regex
from numpy.typing import NDArray

from ingest.analysis.folding import without_marks, written_out
from ingest.analysis.language import has_stemmer, stems
from ingest.analysis.words import UNSPACED

Terms = NDArray[np.int32]

SEPARATOR: Final = 0
"""Between the fields of a chunk; no term."""
GRAM: Final = 4
"""Letters of a gram."""
_SHORTEST: Final = 5
"""Letters of a word that is also indexed by its grams."""
_LETTERS: Final = regex.compile(r"[\p{L}\p{M}]+")
_ENGLISH: Final = "en"


def forms(words: Sequence[str], language: str | None) -> list[str]:
    """The stems of lower-case words, without diacritics.

    A stem is marked with its language, since the same letters are another word in another one. A
    word is its own form in a language without a stemmer, and if it is no word: a number, a code.
    """
    if language is None or not has_stemmer(language):
        return [without_marks(word) for word in words]
    return [
        f"{without_marks(stem)}:{language}" if is_word(word) else without_marks(word)
        for word, stem in zip(words, stems(list(words), language), strict=True)
    ]


def is_word(word: str) -> bool:
    """Whether a word is one of a language, with inflections: not a number, code or CJK."""
    if word.isascii():
        return word.isalpha()
    # `isalpha` is false for vowel signs, of Arabic and Hindi for example.
    return _LETTERS.fullmatch(word) is not None and UNSPACED.match(word) is None


def has_grams(language: str | None) -> bool:
    """Whether words of a language are also indexed by their grams, for compounds and inflections.

    Not English, whose stems find more without them (docs/decisions.md).
    """
    return language != _ENGLISH


def grams(words: Iterable[str], language: str | None) -> set[str]:
    """The grams of the longer words."""
    if not has_grams(language):
        return set()
    return {gram for word in set(words) for gram in grams_of(word)}


def grams_of(word: str, *, shortest: int = _SHORTEST) -> list[str]:
    """In order; then those of the word with its umlauts written out. None of words with fewer than
    `shortest` letters: a text has no use for them, but a question for "Arzt" finds "Facharzt"."""
    if len(word) < shortest or not is_word(word):
        return []
    spellings = [without_marks(word), *filter(None, [_written_out(word)])]
    return [
        f"#{bare[start : start + GRAM]}"
        for bare in spellings
        for start in range(len(bare) - GRAM + 1)
    ]


def number(form: str) -> int:
    """The number of a form, of 32 bits without a sign; never the separator."""
    return zlib.crc32(form.encode("utf-8", "replace")) or 1


def numbers(forms: Iterable[str]) -> Terms:
    """The number of each form, as it is stored."""
    return np.array(list(map(number, forms)), np.uint32).view(np.int32)


def salt(application_id: UUID) -> int:
    """What is added, by exclusive or, to each number of an application in the index.

    So each has its own lists in the index: a search reads no others, and its time tells nothing
    about them.
    """
    return int(np.uint32(zlib.crc32(application_id.bytes)).view(np.int32))


def as_array(terms: Terms) -> str:
    """A Postgres array, as text: `unnest` would flatten an array of arrays."""
    return f"{{{','.join(map(str, terms.tolist()))}}}"


def _written_out(word: str) -> str | None:
    return None if word.isascii() else written_out(word)
