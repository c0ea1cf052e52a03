"""Recognised lines become text: noise is dropped, lines are joined to paragraphs."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

_UNSURE = 40  # mean confidence of a page; below, the engine saw letters where there are none
_UNSURE_LINE = 30
_SURE = 75  # a line of little but marks, or of few letters, must be at least so sure
_FEW = 3  # letters and digits
_LEAST = 2  # of a picture
_WIDE = 1.2  # heights of a line; spaces between words are a third of one
_FULL = 0.85  # of the paragraph's width: such a line goes on in the next one

_ALPHANUMERIC = re.compile(r"[^\W_]")
_VISIBLE = re.compile(r"\S")
_ITEM = re.compile(r"[•●▪■◦‣·*\u2013-]\s|\(?\d{1,3}[.)]\s")
_HYPHENATED = re.compile(r"[^\W\d_]-$")
# Scripts that are written without spaces; Korean has them.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\u3000-\u303f\U00020000-\U0003ffff"
_GAP_IN_UNSPACED = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text in a picture. Sides in pixels of that picture, from its upper left."""

    text: str
    confidence: float
    """0 to 100."""
    left: float
    top: float
    right: float
    bottom: float
    cells: int = 1
    """Parts with wide gaps between them, as in a row of a table."""


Paragraph = Sequence[Line]


def compose(paragraphs: Sequence[Paragraph]) -> str:
    """Paragraphs with a blank line between them; empty if what was seen is only noise.

    Words that were divided at the end of a line are mended.
    """
    kept = [[line for line in paragraph if not _is_noise(line)] for paragraph in paragraphs]
    lines = [line for paragraph in kept for line in paragraph]
    # A spot or a corner looks like one letter, and of a whole picture one letter says nothing.
    if _confidence(lines) < _UNSURE or sum(map(_letters, lines)) < _LEAST:
        return ""
    return "\n\n".join(_joined(paragraph) for paragraph in kept if paragraph)


def cells(spans: Sequence[tuple[float, float]], *, height: float) -> int:
    """Parts of a line, from where its words, in order, begin and end."""
    gaps = (start - stop for (_, stop), (start, _) in itertools.pairwise(spans))
    return 1 + sum(gap > _WIDE * height for gap in gaps)


def close_gaps(text: str) -> str:
    """Without the spaces that engines put between words of scripts which have none."""
    return _GAP_IN_UNSPACED.sub("", text)


def _confidence(lines: Sequence[Line]) -> float:
    """Mean over all characters; 0 if there are none."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / max(1, characters)


def _is_noise(line: Line) -> bool:
    letters = _letters(line)
    if letters == 0 or line.confidence < _UNSURE_LINE:
        return True
    doubtful = letters < _FEW or 2 * letters < len(_VISIBLE.findall(line.text))
    return doubtful and line.confidence < _SURE


def _letters(line: Line) -> int:
    return len(_ALPHANUMERIC.findall(line.text))


def _joined(paragraph: Paragraph) -> str:
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


def _goes_on(line: Line, following: Line) -> bool:
    """Whether the two may be one sentence: no rows of a table, no item of a list."""
    return line.cells == following.cells == 1 and not _ITEM.match(following.text)
