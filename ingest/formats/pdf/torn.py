"""Text whose letters are spaced apart like words, `l i k e  t h i s`, or said twice, `lliikkee`."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium import Box
from ingest.formats.pdf.layout.spans import utf16_indices
from ingest.formats.pdf.layout.text_lines import Line, PageLines

# Scripts without spaces between words, or with words of one letter, are left as they are.
_WORD = re.compile("[A-Za-z\u00c0-\u052f\u1e00-\u1fff]+")
_TORN = 2.5  # mean letters per word
_ENOUGH_WORDS = 8
_SINGLE = 0.7  # share of words that are one letter
_BETWEEN_WORDS = 1.5  # of the gap between letters
_PAIR = re.compile(r"(\S)\1")
_PAIRS = re.compile(r"(?:(\S)\1|\s)+")
_DIFFERENT = 5  # letters in a line of pairs; `XXXX` and `---` are no letters said twice
_ON = 0.25  # share of a letter's width and height that its shadow covers


def better_text(text: str, ask: Callable[[], str | None]) -> str:
    """Return `text`, or the other engine's if only `text` has spaces between letters of words."""
    if not _is_torn(text):
        return text
    other = ask() or ""
    return other if _is_better(other, text) else text


def is_spaced_apart(text: str) -> bool:
    """Whether nearly all words are single letters."""
    if not _is_torn(text):
        return False
    words = _WORD.findall(text)
    return sum(len(word) == 1 for word in words) >= _SINGLE * len(words)


def drop_shadows(text_page: int, page: PageLines) -> None:
    """Leave each letter once in lines whose letters are all drawn twice, as with a shadow.

    pdfium leaves out letters that are drawn twice at one place, but not if they are further apart.
    Codes such as `AABBCCDDEE` have the same letters, but beside each other.
    """
    for line in page.lines:
        is_doubled = _PAIRS.fullmatch(line.text) is not None
        if (
            is_doubled
            and len(set(filter(str.isalpha, line.text))) >= _DIFFERENT
            and _overlap(text_page, line)
        ):
            line.text = _PAIR.sub(r"\1", line.text)


def _overlap(text_page: int, line: Line) -> bool:
    """Whether the letters of most pairs stand on each other."""
    if line.end - line.start != len(line.text):
        return False
    places = [match.start() + line.start for match in _PAIR.finditer(line.text)]
    boxes = pdfium.char_boxes(text_page, [at for place in places for at in (place, place + 1)])
    return 2 * sum(map(_cover, boxes[::2], boxes[1::2])) > len(places)


def _cover(box: Box, other: Box) -> bool:
    left, top, right, bottom = box
    width = min(right, other[2]) - max(left, other[0])
    height = min(top, other[1]) - max(bottom, other[3])
    return width > _ON * (right - left) and height > _ON * (top - bottom)


def respaced(text_page: int, text: str, count: int) -> str:
    """The text of a page, with spaces only at gaps that are wider than those between letters.

    Unchanged if that makes no words: rows of single letters are a matrix, or lost their words.
    """
    places = [index for index, code in enumerate(text) if not code.isspace()]
    characters = places
    if count != len(text):
        characters = pdfium.chars_at_text(text_page, utf16_indices(text, places))
    boxes = dict(zip(places, pdfium.char_boxes(text_page, characters), strict=True))
    lines = re.finditer(r"[^\r\n]+", text)
    joined = "\n".join("".join(_line(line, boxes)) for line in lines)
    words = _WORD.findall(joined)
    has_words = words and len(words) > 1.5 * len(joined.splitlines())
    return joined if has_words and _letters(words) >= _TORN * len(words) else text


def _line(line: re.Match[str], boxes: dict[int, Box]) -> Iterator[str]:
    places = [index for index in range(line.start(), line.end()) if index in boxes]
    gaps = [boxes[b][0] - boxes[a][2] for a, b in pairwise(places)]
    usual = median(gaps) if gaps else 0.0
    for index, gap in zip(places, [0.0, *gaps], strict=True):
        if gap > max(_BETWEEN_WORDS * usual, 0.0):
            yield " "
        yield line.string[index]


def _is_torn(text: str) -> bool:
    """Whether there are spaces between the letters of words."""
    if text.count(" ") * (_TORN + 1) < len(text):
        return False
    words = _WORD.findall(text)
    return len(words) >= _ENOUGH_WORDS and _letters(words) < _TORN * len(words)


def _is_better(other: str, text: str) -> bool:
    """Whether the other text has at least 90% of the letters, in fewer words."""
    others, words = _WORD.findall(other), _WORD.findall(text)
    return len(others) < len(words) and _letters(others) >= 0.9 * _letters(words)


def _letters(words: list[str]) -> int:
    return sum(map(len, words))
