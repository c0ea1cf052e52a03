"""Words that a question has for its grammar: they say little about what is asked.

A large collection shows that by their number. In a small one, where one of two hundred sentences
begins with "when", every question with "when" would find it.
"""

from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Final

import regex

from ingest.analysis.folding import without_marks

_FILE: Final = Path(__file__).with_suffix(".txt")
_HIRAGANA: Final = regex.compile(r"[\p{Hiragana}ー]+")
"""Of Japanese, mostly endings and particles."""


def function_words(words: Collection[str], languages: Iterable[str | None]) -> set[str]:
    """Those among lower-case words, in the language that has most of them: the same letters are
    another word in another one."""
    bare = {word: without_marks(word) for word in words}
    by_language = listed()
    best: set[str] = set()
    for language in languages:
        own = {word for word, form in bare.items() if form in by_language.get(language, ())}
        best = max(best, own, key=len)
    return best | {word for word in words if _HIRAGANA.fullmatch(word)}


@cache
def listed() -> dict[str | None, set[str]]:
    """By ISO 639-1 code, without diacritics."""
    found: dict[str | None, set[str]] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        language, *words = line.split()
        if language != "#":
            found.setdefault(language, set()).update(map(without_marks, words))
    return found
