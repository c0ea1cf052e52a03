"""Restores the logical order of right-to-left text where pdfium reverses too much.

pdfium reverses right-to-left text character by character. That also reverses the characters of a
ligature (lam and alef), which were in order, and puts marks before their base letters. Some
producers write the text in logical order from left to right; then pdfium reverses what was right.
How a page was written shows in letters that only begin or only end words.
"""

import re
import unicodedata

from ingest.formats.common.letter_order import CONTRADICTION, RIGHT_TO_LEFT, order_evidence
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_RUN = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{2,}")
_MARK = re.compile("[\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670]")
_STRAY_SPACE = re.compile(f"(?<=[\u0590-\u08ff]) (?={_MARK.pattern})")
_FORMS = (*range(0xFB1D, 0xFDFC), *range(0xFE70, 0xFEFD))
# pdfium keeps the order of ligatures for which Unicode has a presentation form.
_IN_ORDER = {form.strip() for form in (unicodedata.normalize("NFKC", chr(code)) for code in _FORMS)}


def restore_logical_order(text_page: int, page: PageLines) -> bool:
    """Put each line in logical order, with its ligatures and marks.

    Returns False if the words of the page contradict each other about its order.
    """
    lines = [line for line in page.lines if RIGHT_TO_LEFT.search(line.text)]
    evidence = [order_evidence(line.text) for line in lines]
    total = sum(evidence)
    for line, score in zip(lines, evidence, strict=True):
        if score < 0 or (score == 0 and total < 0):
            _undo_reversal(text_page, line)
            page.is_reordered = True
            continue
        places = range(line.start, line.end)
        text = line.text
        # line.text omits glyphs without text; letters() returns a placeholder for each.
        if len(places) != len(text):
            text = pdfium.letters(text_page, places)
        boxes = pdfium.char_boxes(text_page, places)
        extents = [(left, right) for left, _, right, _ in boxes]
        line.text = _STRAY_SPACE.sub("", in_logical_order(text, extents))
    against = sum(abs(score) for score in evidence if (score < 0) != (total < 0))
    return CONTRADICTION * against < sum(map(abs, evidence)) or not against


def _undo_reversal(text_page: int, line: Line) -> None:
    """Put the characters in the order in which they were written, from left to right."""
    places = range(line.start, line.end)
    text = line.text
    if len(places) != len(text):
        text = pdfium.letters(text_page, places)
    lefts = [box[0] for box in pdfium.char_boxes(text_page, places)]
    order = sorted(range(len(text)), key=lefts.__getitem__)
    line.text = " ".join("".join(text[index] for index in order).split())


def is_mostly_right_to_left(text: str) -> bool:
    """Whether most letters are of scripts that are read from the right."""
    return 2 * len(RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def in_logical_order(text: str, places: list[tuple[float, float]]) -> str:
    """The text in logical order; `places`: left and right edge of each character."""
    characters = list(text)
    for run in _RUN.finditer(text):
        _turn_ligatures(characters, places, run.start(), run.end())
    _move_marks(characters, places)
    return "".join(characters)


def _turn_ligatures(
    characters: list[str], places: list[tuple[float, float]], start: int, end: int
) -> None:
    """Reverse characters that share a position: they come from one glyph."""
    first = start
    for index in range(start + 1, end + 1):
        if index < end and places[index] == places[first]:
            continue
        is_glyph = index - first > 1 and places[first][0] < places[first][1]
        if is_glyph and "".join(characters[first:index]) not in _IN_ORDER:
            characters[first:index] = reversed(characters[first:index])
        first = index


def _move_marks(characters: list[str], places: list[tuple[float, float]]) -> None:
    """Move a mark behind the next letter if it stands above that letter."""
    for index in range(len(characters) - 1):
        if not _MARK.match(characters[index]) or places[index] == places[index + 1]:
            continue
        letter = characters[index + 1]
        middle = sum(places[index]) / 2
        left, right = places[index + 1]
        if left <= middle <= right and RIGHT_TO_LEFT.match(letter) and not _MARK.match(letter):
            characters[index], characters[index + 1] = letter, characters[index]
            places[index], places[index + 1] = places[index + 1], places[index]
