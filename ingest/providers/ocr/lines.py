"""Turns recognised lines into text: drops noise, joins lines into paragraphs."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.page_words import Word

_UNSURE = 50  # quality of a page; below, the engine saw letters that do not exist
_UNSURE_LINE = 30
_SURE = 75  # confidence required for lines with few letters or mostly other marks
_FEW = 3  # letters and digits; a line with fewer needs _SURE
GOOD = 80
"""`quality` of a page that needs no second opinion."""
_LEAST = 2  # letters and digits; a picture with fewer has no text
_FILLED = 0.5  # characters per line height, along a line; Latin print has 2, wide spacing 0.7
_KEPT = 0.5  # of the characters; where more is noise, the rest is hardly better
_MOST_MIXED, _MOST_SINGLE, _ENOUGH = 0.25, 0.7, 10  # shares of the words, and words
_WORD = re.compile(r"\w+")
_MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]")
_WIDE = 1.2  # line heights; a space between words is a third of one
_FULL = 0.85  # of the paragraph's width; the next line continues such a line

_ALPHANUMERIC = re.compile(r"[^\W_]")
_VISIBLE = re.compile(r"\S")
_ITEM = re.compile(r"[•●▪■◦‣·*\u2013-]\s|\(?\d{1,3}[.)]\s")
_HYPHENATED = re.compile(r"[^\W\d_]-$")
# Scripts without spaces between words; Korean has spaces.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\u3000-\u303f\U00020000-\U0003ffff"
_GAP_IN_UNSPACED = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrLine:
    """One line of text in a picture. Sides in pixels from the picture's upper left corner."""

    text: str
    confidence: float
    """0 to 100."""
    left: float
    top: float
    right: float
    bottom: float
    cells: int = 1
    """Number of parts separated by wide gaps, as in a table row."""
    words: tuple[Word, ...] = ()
    """In shares of the picture that the engine was given, whichever side it reads as up."""


OcrParagraph = Sequence[OcrLine]


def compose(paragraphs: Sequence[OcrParagraph]) -> str:
    """The paragraphs, separated by blank lines; empty if everything is noise, or scraps of a text.

    Words hyphenated at the end of a line are joined.
    """
    kept = [[line for line in paragraph if not _is_noise(line)] for paragraph in paragraphs]
    lines = [line for paragraph in kept for line in paragraph]
    # A spot or a corner can look like a letter, so a single letter in a picture is noise.
    sure = quality(paragraphs)
    if sure < _UNSURE or sum(map(_letters, lines)) < _LEAST:
        return ""
    if sure < GOOD and _are_mixed(lines):
        return ""
    return "\n\n".join(_joined(paragraph) for paragraph in kept if paragraph)


def _are_mixed(lines: Sequence[OcrLine]) -> bool:
    """Whether many words mix letters with figures, or capitals with small letters, or most are
    single letters: the engine has looked in its own letters for those of another script."""
    words = [word for line in lines for word in _WORD.findall(line.text)]
    mixed = sum(_MIXED.search(word) is not None for word in words)
    single = sum(len(word) == 1 for word in words)
    return len(words) >= _ENOUGH and (
        mixed > _MOST_MIXED * len(words) or single > _MOST_SINGLE * len(words)
    )


def quality(paragraphs: Sequence[OcrParagraph]) -> float:
    """From 0 to 100: how sure the engine is, less if the lines that it found lack letters.

    An engine that does not know the script is sure of the few letters that look like its own.
    """
    lines = [line for paragraph in paragraphs for line in paragraph]
    kept = [line for line in lines if not _is_noise(line)]
    characters = _visible(kept)
    room = max(_FILLED * sum(map(_length, lines)), _KEPT * _visible(lines))
    return _confidence(kept) * min(1.0, characters / room if room else 1.0)


def _visible(lines: Sequence[OcrLine]) -> int:
    return sum(len(_VISIBLE.findall(line.text)) for line in lines)


def _length(line: OcrLine) -> float:
    """The length of a line's words in its heights."""
    sides = line.right - line.left, line.bottom - line.top
    length = max(sides) / max(min(sides), 1.0)
    axis = max((0, 1), key=lambda axis: _hull(line.words, axis))  # of the picture: it may be turned
    hull = _hull(line.words, axis)
    covered = sum(word.box[axis + 2] - word.box[axis] for word in line.words)
    return length * min(1.0, covered / hull) if hull else length


def _hull(words: Sequence[Word], axis: int) -> float:
    if not words:
        return 0.0
    return max(word.box[axis + 2] for word in words) - min(word.box[axis] for word in words)


def text_of(paragraphs: Sequence[OcrParagraph]) -> str:
    """All lines, for the detection of their language."""
    return " ".join(line.text for paragraph in paragraphs for line in paragraph)


def cells(spans: Sequence[tuple[float, float]], *, height: float) -> int:
    """Number of parts of a line; `spans`: start and end of its words, in order."""
    gaps = (start - stop for (_, stop), (start, _) in itertools.pairwise(spans))
    return 1 + sum(gap > _WIDE * height for gap in gaps)


def close_gaps(text: str) -> str:
    """Remove the spaces that engines add in scripts without spaces."""
    return _GAP_IN_UNSPACED.sub("", text)


def _confidence(lines: Sequence[OcrLine]) -> float:
    """Mean over all characters; 0 if there are none."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / max(1, characters)


def _is_noise(line: OcrLine) -> bool:
    letters = _letters(line)
    if letters == 0 or line.confidence < _UNSURE_LINE:
        return True
    doubtful = letters < _FEW or 2 * letters < len(_VISIBLE.findall(line.text))
    return doubtful and line.confidence < _SURE


def _letters(line: OcrLine) -> int:
    return len(_ALPHANUMERIC.findall(line.text))


def _joined(paragraph: OcrParagraph) -> str:
    left, right = min(line.left for line in paragraph), max(line.right for line in paragraph)
    text = paragraph[0].text.strip()
    for line, following in itertools.pairwise(paragraph):
        addition = following.text.strip()
        if _HYPHENATED.search(text) and addition[:1].islower():
            text = text[:-1] + addition
        elif _goes_on(line, following) and line.right - left >= _FULL * (right - left):
            text = close_gaps(f"{text} {addition}")
        else:
            text = f"{text}\n{addition}"
    return text


def _goes_on(line: OcrLine, following: OcrLine) -> bool:
    """Whether both may belong to one sentence: not table rows, not a list item."""
    return line.cells == following.cells == 1 and not _ITEM.match(following.text)
