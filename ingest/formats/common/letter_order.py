"""Logical order for right-to-left text whose letters were stored in the order of display.

Programs without bidirectional display wrote Hebrew from left to right ("visual order"). By
convention the charset ISO-8859-8 means this, ISO-8859-8-I and Windows-1255 the order of reading
(RFC 1556). Much logical text is labelled ISO-8859-8 nevertheless, so the letters decide.
"""

import re
from collections.abc import Sequence
from typing import Final

from ingest.model import Encoding

RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
CONTRADICTION: Final = 4
"""Up to one part of the evidence in so many may contradict it: names and abbreviations."""
# Hebrew letters in their final form, and Arabic letters that only end words.
_FINAL = "\u05da\u05dd\u05df\u05e3\u05e5\u0629\u0649\u06ba\u06c3\u06d2"
# Words of grammar: Hebrew and Yiddish, Arabic, Persian, Urdu.
_FREQUENT = frozenset(
    word
    for words in (
        "את של על הוא היא כי גם או די און פון איז",
        "في من على إلى عن هذا التي الذي",
        "از که این است در با برای شد آن را",
        "کے کی میں ہے کو سے نے کا ہیں",
    )
    for word in words.split()
)
_ARTICLE = "\u0627\u0644"
_WORDS = re.compile("[\u05d0-\u05ea]{2,}|[\u0621-\u064a\u066e-\u06d3]{2,}")
_WITH_ARTICLE = 4  # letters of a word that has the article
_SPACES_IN_SENTENCE = 2
_VISUAL, _HEBREW = "iso8859-8", "cp1255"
_UNDECLARED = 4  # evidence that a text without a stated charset must have
_LATIN = re.compile(f"(?!{RIGHT_TO_LEFT.pattern})[^\\W\\d_]")
# What is shown from left to right within right-to-left text: words, and numbers with their signs.
_SIGN = "[#$%°€£₪¢]"
_UNIT = re.compile(
    rf"{_SIGN}{{0,3}}\d+(?:[.,:/+\u066b\u066c-]\d+)*{_SIGN}{{0,3}}|(?:(?!{RIGHT_TO_LEFT.pattern})\w)+"
)
# Next to Arabic letters, only these signs keep numbers together: those below are turned with the
# text, so that a telephone number is shown with its last part first (UAX 9, rules W2 to W7).
_ARABIC_UNIT = re.compile(
    rf"\d+(?:[.,:/\u060c\u066b\u066c]\d+)*|(?:(?!{RIGHT_TO_LEFT.pattern})\w)+"
)
ARABIC: Final = re.compile("[\u0620-\u064a\u066e-\u06d3\u06fa-\u077f\ufb50-\ufdff\ufe70-\ufefc]")
_HEBREW_LETTER = re.compile("[\u05d0-\u05ea]")
_EMBEDDED = re.compile(
    f"{RIGHT_TO_LEFT.pattern}+(?:(?:(?!{_LATIN.pattern}).)*{RIGHT_TO_LEFT.pattern})?"
)
_APART_FROM_NUMBER = re.compile(rf"{RIGHT_TO_LEFT.pattern}|[()\[\]]|\s\s")
_QUOTE = re.compile(r"(?:> ?)*")
_PAIRS = "()[]{}<>«»"
_OPENING = _PAIRS[::2]
_OPENS_OR_CLOSES = _PAIRS + "\"'"
_ENDS = _PAIRS + "\"'.,:;!?\u060c\u061b\u061f\u06d4"
_MIRRORED = str.maketrans(
    _PAIRS, "".join(b + a for a, b in zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
)


def order_evidence(text: str) -> int:
    """Positive if the words read as they should, negative if their letters are reversed."""
    score = 0
    for word in _WORDS.findall(text):
        score += (word[-1] in _FINAL) - (word[0] in _FINAL)
        score += (word in _FREQUENT) - (word[::-1] in _FREQUENT)
        if len(word) >= _WITH_ARTICLE:
            score += word.startswith(_ARTICLE) - word.endswith(_ARTICLE[::-1])
    return score


def is_visual(text: str, encoding: Encoding, *, is_declared: bool) -> bool:
    """Whether a decoded text is in visual order; `is_declared`: its charset was stated."""
    if encoding.name == _VISUAL:
        least = 1
    elif encoding.name == _HEBREW and not is_declared:
        least = _UNDECLARED
    else:
        return False
    evidence = [order_evidence(line) for line in text.splitlines()]
    reversed_lines = -sum(score for score in evidence if score < 0)
    others = sum(score for score in evidence if score > 0)
    return reversed_lines >= least and CONTRADICTION * others < reversed_lines + others


def logical_text(text: str) -> str:
    """Each line of a text in visual order, in logical order; marks of quotes stay in front."""
    is_right_to_left = runs_right_to_left(text)
    return "".join(
        _logical_line(line, is_right_to_left=is_right_to_left)
        for line in text.splitlines(keepends=True)
    )


def _logical_line(line: str, *, is_right_to_left: bool) -> str:
    if not RIGHT_TO_LEFT.search(line):
        return line
    body = line.rstrip()
    mark = _QUOTE.match(body)
    start = mark.end() if mark else 0
    order = logical_order(body[start:], is_right_to_left=is_right_to_left)
    shown = "".join(
        mirrored(body[start + place]) if is_turned else body[start + place]
        for place, is_turned in order
    )
    return f"{body[:start]}{shown.rstrip()}{line[len(body) :]}"


def runs_right_to_left(text: str) -> bool:
    """Whether the text runs from right to left: foreign names may make up most of a line."""
    return 2 * len(RIGHT_TO_LEFT.findall(text)) >= len(_LATIN.findall(text))


Turned = tuple[int, bool]
"""The place of a character, and whether it was turned around, as a bracket is mirrored then."""


def with_brackets(text: str, is_turned: Sequence[bool]) -> str:
    """A text in logical order whose brackets open and close what they stand at.

    Some programs store the sign that readers see, others the one that was typed. Where the spaces
    around a turned one do not say what it is, most others decide; else it was the sign seen.
    """
    wanted = {place: _opens(text, place) for place, char in enumerate(text) if char in _PAIRS}
    votes = sum(
        (opens != (text[place] in _OPENING)) - (opens == (text[place] in _OPENING))
        for place, opens in wanted.items()
        if opens is not None and is_turned[place]
    )
    characters = list(text)
    for place, opens in wanted.items():
        is_wrong = is_turned[place] and votes >= 0
        if opens is not None:
            is_wrong = opens != (text[place] in _OPENING)
        if is_wrong:
            characters[place] = mirrored(text[place])
    return "".join(characters)


def _opens(text: str, place: int) -> bool | None:
    """Whether a bracket opens, by the spaces around it; None if that does not tell."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    is_after_word = bool(before) and not before.isspace() and before not in _OPENS_OR_CLOSES
    is_before_word = bool(after) and not after.isspace() and after not in _ENDS
    return None if is_after_word == is_before_word else is_before_word


def mirrored(character: str) -> str:
    """The other bracket of a pair; other characters unchanged."""
    return character.translate(_MIRRORED)


def logical_order(line: str, *, is_right_to_left: bool) -> list[tuple[int, bool]]:
    """The places of the characters of a line, in logical order, and which are turned around.

    `is_right_to_left`: the direction of the text around it; else only its right-to-left passages
    change.
    """
    if _is_sentence_from_left(line) and not (is_right_to_left and RIGHT_TO_LEFT.search(line)):
        is_right_to_left = False
    elif not is_right_to_left:
        is_right_to_left = runs_right_to_left(line)
    if is_right_to_left:
        return _reversed(line, 0, len(line))
    order: list[tuple[int, bool]] = []
    end = 0
    for passage in _EMBEDDED.finditer(line):
        order += [(place, False) for place in range(end, passage.start())]
        end = passage.end()
        order += _reversed(line, passage.start(), end)
    return order + [(place, False) for place in range(end, len(line))]


def _is_sentence_from_left(line: str) -> bool:
    """Whether a line has a word at its left end, and the sign that ends it at the right."""
    return (
        line[:1].isalnum()
        and _LATIN.search(line) is not None
        and line.endswith((".", "?", "!"))
        and line.count(" ") >= _SPACES_IN_SENTENCE
    )


def _reversed(line: str, start: int, end: int) -> list[tuple[int, bool]]:
    """The places from the last to the first; words and numbers keep their order."""
    order: list[tuple[int, bool]] = []
    last = start
    for begin, close in _left_to_right(line, start, end):
        order += [(place, True) for place in range(last, begin)]
        order += [(place, False) for place in reversed(range(begin, close))]
        last = close
    order += [(place, True) for place in range(last, end)]
    order.reverse()
    return order


def _is_arabic(line: str, start: int, end: int) -> bool:
    return len(ARABIC.findall(line, start, end)) > len(_HEBREW_LETTER.findall(line, start, end))


def _left_to_right(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where words and numbers stand; neighbours are one unless both are numbers."""
    runs: list[tuple[int, int]] = []
    had_letter = False
    units = _ARABIC_UNIT if _is_arabic(line, start, end) else _UNIT
    for unit in units.finditer(line, start, end):
        has_letter = _LATIN.search(unit[0]) is not None
        if runs and (has_letter or had_letter):
            begin, close = runs[-1]
            apart = RIGHT_TO_LEFT if has_letter and had_letter else _APART_FROM_NUMBER
            if not apart.search(line, close, unit.start()):
                runs[-1] = (begin, unit.end())
                had_letter = has_letter or had_letter
                continue
        runs.append(unit.span())
        had_letter = has_letter
    return runs
