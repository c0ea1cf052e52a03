"""Abbreviations by language, and names of months (abbreviations.txt says how they are listed)."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

ANY: Final = "*"
_FILE: Final = Path(__file__).with_suffix(".txt")
_MONTHS: Final = "months"
_BEFORE_NUMBER: Final = "#"


@cache
def abbreviations() -> Mapping[str, Mapping[str, bool]]:
    """By word, in lower case without its last full stop: the languages, each with whether it is one
    only before a number."""
    found: dict[str, dict[str, bool]] = {}
    for language, words in _lines():
        if language != _MONTHS:
            for word in words:
                name = word.removesuffix(_BEFORE_NUMBER)
                found.setdefault(name, {})[language] = name != word
    return found


@cache
def months() -> frozenset[str]:
    """In lower case."""
    return frozenset(word for language, words in _lines() if language == _MONTHS for word in words)


def _lines() -> list[tuple[str, list[str]]]:
    lines = (line.split() for line in _FILE.read_text("utf-8").splitlines())
    return [(language, words) for language, *words in lines if language != "#"]
