"""The glyphs of a line with their letters and places; marks belong to the letter they are on."""

import re
import unicodedata
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import attrgetter

from ingest.formats.common.letter_order import ARABIC, RIGHT_TO_LEFT
from ingest.formats.pdf.engine import pdfium
from ingest.formats.pdf.engine.pdfium_characters import drawn
from ingest.formats.pdf.layout.raised import MARKED
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import Line

# Nothing is drawn for these signs of direction.
_UNDRAWN = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
_NO_TEXT = "\u200b"  # pdfium.letters() gives it for a glyph without text, as of a stretched letter
_SPACES = frozenset(" \u00a0\u2000\u2002\u2003\u2009\u202f\t" + _NO_TEXT)
_LAM, _ALEFS = "\u0644", "\u0622\u0623\u0625\u0627\u0671"
_FORMS = (*range(0xFB1D, 0xFDFC), *range(0xFE70, 0xFEFD))
# pdfium keeps the order of ligatures for which Unicode has a presentation form.
_IN_ORDER = {form.strip() for form in (unicodedata.normalize("NFKC", chr(code)) for code in _FORMS)}
_WIDER = 0.15  # font sizes by which the middle of a mark may be beside its letter
_STRETCH = re.compile(rf"(?<={ARABIC.pattern})\?+(?={ARABIC.pattern})")
_LOW = 0.3  # font sizes
_NEAR = 4  # glyphs before and after a mark, in the order of the file


@dataclass(slots=True)
class Glyph:
    """What was drawn at once: a letter or a ligature with its marks, or a space."""

    text: str
    indices: list[int]
    """pdfium's index of each character."""
    left: float
    right: float
    height: float
    line: int
    """Which line of the page it is of."""
    size: float
    """Font size in points."""
    source: int
    """The object of the page that drew it."""
    origin: float
    """Where it begins on its baseline: boxes of letters that lean over each other overlap."""
    is_mark: bool
    """Whether it is nothing but a mark, to be put on a letter."""
    apart_from: int | None = None
    """The character before it in pdfium's order, if pdfium sees a space between the two."""

    @property
    def middle(self) -> float:
        """Halfway between its edges, in points on the page as shown."""
        return (self.left + self.right) / 2

    @property
    def is_ink(self) -> bool:
        """Whether pdfium seems to know only the box of its ink, not that of its font."""
        return self.height < self.size

    @property
    def is_of_mark(self) -> bool:
        """Whether that is the ink of a mark, drawn by one glyph with its letter."""
        return self.height < _LOW * self.size and len(self.text) > 1


def glyphs_of(text_page: int, line: Line, number: int, turn: int) -> list[Glyph]:
    """The glyphs of a line, with its marks apart, in pdfium's order; `turn`: that of the page."""
    indices = range(line.start, line.end)
    boxes = pdfium.char_boxes(text_page, indices)
    if turn:
        boxes = [rotated(box, turn) for box in boxes]
    found: list[Glyph] = []
    parts: list[list[Glyph]] = []
    origin: tuple[float, float] | None = None
    is_apart = False
    characters = zip(
        indices,
        _letters(text_page, line, indices),
        boxes,
        drawn(text_page, indices),
        strict=True,
    )
    for index, letter, (left, top, right, bottom), (x, y, source) in characters:
        if letter in _UNDRAWN or (letter in _SPACES and right <= left):
            is_apart |= letter == " "  # pdfium's own; it stands nowhere
            continue
        size = line.size or line.height
        text = "" if letter == _NO_TEXT else letter
        place = x, y
        part = Glyph(
            text,
            [index] if text else [],
            left,
            right,
            height=top - bottom,
            line=number,
            size=size,
            source=source,
            origin=rotated((x, y, x, y), turn)[0] if turn else x,
            is_mark=unicodedata.combining(letter) != 0,
            apart_from=index - 2 if is_apart else None,
        )
        is_apart = False
        # Of a ligature, all characters stand at one place, whatever boxes pdfium makes up for them.
        if left < right and place == origin and found[-1].source == source:
            parts[-1].append(part)
        else:
            found.append(part)
            parts.append([part])
        origin = place if left < right else None
    _drop_stretches(found)
    return [_joined(group) if len(group) > 1 else group[0] for group in parts]


def _letters(text_page: int, line: Line, indices: Sequence[int]) -> str:
    """pdfium's, but with the raised and lowered figures that were found in the line."""
    letters = pdfium.letters(text_page, indices)
    if len(letters) != len(line.text):
        return letters
    return "".join(
        marked if marked in MARKED else letter
        for letter, marked in zip(letters, line.text, strict=True)
    )


def _drop_stretches(glyphs: Sequence[Glyph]) -> None:
    """Empty the pieces that stretch Arabic letters: LibreOffice calls them question marks."""
    text = "".join(glyph.text or "?" for glyph in glyphs)
    for stretch in _STRETCH.finditer(text):
        for glyph in glyphs[stretch.start() : stretch.end()]:
            glyph.text, glyph.indices = "", []


def _joined(parts: Sequence[Glyph]) -> Glyph:
    """The characters of a ligature in the order of reading, with its marks behind their letter."""
    text = "".join(part.text for part in parts)
    ordered = list(parts)
    if RIGHT_TO_LEFT.search(text):
        if len({part.left for part in parts}) > 1:
            ordered.sort(key=attrgetter("left"))  # as pdfium shares out its box
        elif text not in _IN_ORDER:
            ordered.reverse()  # pdfium turned it with the passage
        marks = list(takewhile(lambda part: part.is_mark, ordered))
        rest = ordered[len(marks) :]
        ordered = [*rest[:1], *marks, *rest[1:]]
        text = "".join(part.text for part in ordered)
        if len(text) == 2 and text[0] in _ALEFS and text[1] == _LAM:
            ordered.reverse()  # those two make a ligature in the other order only
    return replace(
        parts[0],
        text="".join(part.text for part in ordered),
        indices=[index for part in ordered for index in part.indices],
        left=min(part.left for part in parts),
        right=max(part.right for part in parts),
        height=max(part.height for part in parts),
        is_mark=all(part.is_mark for part in parts),
    )


def with_marks(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """The glyphs of a row, each followed by the marks that stand on it."""
    ordered = sorted((glyph for glyph in glyphs if glyph.text), key=lambda g: g.indices[0])
    bases = [glyph for glyph in glyphs if not glyph.is_mark]
    letters = [glyph for glyph in ordered if RIGHT_TO_LEFT.search(glyph.text) and not glyph.is_mark]
    marks = [glyph for glyph in ordered if glyph.is_mark]
    if not letters:
        return [*bases, *marks]
    starts = [glyph.indices[0] for glyph in letters]
    behind = _stand_behind(ordered)
    across = sorted(letters, key=attrgetter("middle"))
    middles = [glyph.middle for glyph in across]
    for mark in marks:
        place = bisect(starts, mark.indices[0])
        near = letters[max(place - _NEAR, 0) : place + _NEAR]
        at = bisect(middles, mark.middle)
        near = [base for base in near if base.source == mark.source] or [
            *near,
            *across[max(at - 1, 0) : at + 1],
        ]
        usual = letters[max(place - 1, 0)] if behind else letters[min(place, len(letters) - 1)]
        base = min(near, key=lambda base: _distance(base, mark, is_usual=base is usual))
        is_on_lam = base.text.startswith(_LAM) and mark.middle > base.middle
        _put_on(base, mark, 1 if is_on_lam else len(base.text))
    return bases


def _stand_behind(ordered: Sequence[Glyph]) -> bool:
    """Whether marks follow their letters in pdfium's order; else they precede them."""
    votes = 0
    for before, glyph in zip([None, *ordered], [*ordered, None], strict=True):
        begins = before is None or not (before.is_mark or RIGHT_TO_LEFT.search(before.text))
        ends = glyph is None or not (glyph.is_mark or RIGHT_TO_LEFT.search(glyph.text))
        votes += (ends and before is not None and before.is_mark) - (
            begins and glyph is not None and glyph.is_mark
        )
    return votes >= 0


def _distance(base: Glyph, mark: Glyph, *, is_usual: bool) -> float:
    """From the mark to the letter; that at the usual place may be narrower than its mark."""
    outside = max(base.left - mark.middle, mark.middle - base.right, 0.0)
    return max(outside - _WIDER * base.size, 0.0) - 0.01 if is_usual else outside


def _put_on(base: Glyph, mark: Glyph, place: int) -> None:
    base.text = base.text[:place] + mark.text + base.text[place:]
    base.indices[place:place] = mark.indices
    if base.source == mark.source and base.height < base.size:
        # pdfium shared out the box of both.
        base.left, base.right = min(base.left, mark.left), max(base.right, mark.right)
