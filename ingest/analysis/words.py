"""Splits text into the words that the keyword index knows.

    getUserById      → get user by id      + getuserbyid
    CVE-2024-12345   → cve 2024 12345      + cve2024.12345
    Prüfung          → prufung             + pruefung
    東京大学          → 東京 京大 大学        + 東 京 大 学

The words before the `+` stand in the order of the text. Those after it are other spellings, which
have no place in it.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import regex

from ingest.analysis.folding import normalised

# Runs of letters, marks and digits, also with one of the connectors between two of them.
_TOKEN: Final = regex.compile(
    r"[\p{L}\p{M}\p{N}]+(?:[-_./\\&@:+#'’=~]{1,2}[\p{L}\p{M}\p{N}]+)*(?:\+\+|#(?!\w))?"
)
# The same, found in half the time, in a text of Latin letters and common marks.
_LATIN: Final = r"a-zA-Z0-9À-ÖØ-öø-\u024f"
_LATIN_TOKEN: Final = re.compile(
    rf"[{_LATIN}]++(?:[-_./\\&@:+#'’=~]{{1,2}}+[{_LATIN}]++)*+(?:\+\+|#(?![_{_LATIN}]))?+"
)
_LATIN_TEXT: Final = re.compile(rf"[\x00-\x7f{_LATIN}§«»°·\u2010-\u2027€]*")
_RUN: Final = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_ASCII_RUN: Final = re.compile(r"[a-zA-Z0-9]+")
_POSSESSIVE: Final = ("'s", "’s", "'S", "’S")
# Scripts that put no space between words. Hangul has spaces, but words carry long endings.
UNSPACED: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\p{Tibetan}ー々〆〇]+"
)
_PARTS: Final = regex.compile(
    r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{Lu}+\p{M}*|[\p{L}\p{M}]+|\p{N}+"
)
_ASCII_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
LONGEST: Final = 64
"""Characters of a word that count; longer runs are data, such as Base64."""
_MOST_PARTS: Final = 12
"""Of a compound that is also indexed as a whole."""


@dataclass(slots=True)
class Words:
    """The words of a text, lower case, with accents."""

    in_order: list[str] = field(default_factory=list)
    compounds: list[str] = field(default_factory=list)
    """Words with connectors or several parts, as a whole."""
    characters: list[str] = field(default_factory=list)
    """Single characters of unspaced scripts."""


def tokens_of(text: str) -> list[str]:
    """Words and compounds as they stand in a text."""
    text = normalised(text)
    is_latin = text.isascii() or _LATIN_TEXT.fullmatch(text)
    found: list[str] = (_LATIN_TOKEN if is_latin else _TOKEN).findall(text)
    return found


def is_plain(token: str) -> bool:
    """Whether a token is one word of ASCII letters or digits, as most are."""
    if not token.isascii():
        return False
    if token.isalpha():
        return token.islower() or token.isupper() or token[1:].islower()
    return token.isdecimal()


def words_of(token: str) -> Words:
    """The words of one token."""
    found = Words()
    if is_plain(token):
        found.in_order.append(token.lower()[:LONGEST])
    elif token.isalpha() and (token.islower() or token[1:].islower()):
        _add_run(token, found)
    else:
        _add_compound(token, found)
    return found


def split(text: str) -> Words:
    """Split a text into words; any string is accepted."""
    found = Words()
    for token in tokens_of(text):
        words = words_of(token)
        found.in_order += words.in_order
        found.compounds += words.compounds
        found.characters += words.characters
    return found


def _add_compound(token: str, found: Words) -> None:
    if token.endswith(_POSSESSIVE):
        token = token[:-2]
    before = len(found.in_order)
    if is_ascii := token.isascii():
        runs = _ASCII_RUN.findall(token)
        found.in_order += [part.lower()[:LONGEST] for part in _ASCII_PARTS.findall(token)]
    else:
        runs = _RUN.findall(token)
        for run in runs:
            _add_run(run, found)
    if not 1 < len(found.in_order) - before <= _MOST_PARTS and token[-1] not in "+#":
        return
    if not is_ascii and UNSPACED.search(token):
        return
    # Between digits, the place of the connector is a part of the meaning: 1.23 is not 12.3.
    whole = runs[0]
    for run in runs[1:]:
        is_number = whole[-1].isdigit() and run[0].isdigit()
        whole = f"{whole}.{run}" if is_number else whole + run
    whole += token[len(token.rstrip("+#")) :]
    found.compounds.append(whole.lower()[:LONGEST])


def _add_run(run: str, found: Words) -> None:
    """Add a run of letters and digits without connectors."""
    end = 0
    for part in UNSPACED.finditer(run):
        _add_parts(run[end : part.start()], found)
        _add_unspaced(part[0], found)
        end = part.end()
    _add_parts(run[end:], found)


def _add_parts(run: str, found: Words) -> None:
    for part in _PARTS.findall(run):
        found.in_order.append(part.lower()[:LONGEST])


def _add_unspaced(run: str, found: Words) -> None:
    if len(run) == 1:
        found.in_order.append(run)
    else:
        found.in_order.extend(first + second for first, second in pairwise(run))
        found.characters.extend(run)
