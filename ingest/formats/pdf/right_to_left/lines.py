"""Puts right-to-left text in the order of reading, by the places of its letters.

pdfium turns passages around as it guesses their direction, glyph by glyph, and scatters signs that
are set in another font. What readers see is certain: so the letters of a line are taken as they
stand from left to right, and turned as the Unicode bidirectional algorithm displays them. Some
producers write the letters of each word from left to right, without that algorithm; letters that
only begin or only end words show it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from operator import attrgetter
from unicodedata import combining

from ingest.formats.common.letter_order import (
    CONTRADICTION,
    RIGHT_TO_LEFT,
    Turned,
    logical_order,
    order_evidence,
    runs_right_to_left,
    with_brackets,
)
from ingest.formats.pdf.engine.pdfium_characters import drawn
from ingest.formats.pdf.layout.rotation import rotated
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.right_to_left.glyphs import Glyph, glyphs_of, with_marks

_SAME_BASELINE = 0.25  # font sizes
_SPACE = 0.17  # font sizes between words
_BESIDE_INK = 0.13, 0.25  # the same, at least and at most, where only the ink of letters is known
_BESIDE_MARK = 0.77  # where only that of a mark is
_STRETCHED = "\u0640"  # Arabic tatweel
_BULLETS = frozenset("\u2022\u25aa\u25cf\u25e6\u2023\uf0b7\uf0a7")
_APART, _APART_IN_LINE = 0.7, 1.5  # font sizes between columns or cells
_MOST_CLASHES = 0.2  # share of glyphs that stand on another one
# The end of a sentence, in a line of figures or foreign words; not a name such as .NET
_ENDS_AT_LEFT = re.compile(r"[.,:;!?](?!\w*$)(?=[^.,:;!?]+$|\d.*\w$)")
_ENDS = ".,:;!?"
_ORIGIN = attrgetter("origin")
_CERTAIN = 2  # evidence by which a line differs from its page


@dataclass(slots=True)
class _Passage:
    """What stands side by side without a gap, and in which order it was written."""

    glyphs: list[Glyph]
    """From left to right."""
    order: list[Turned]
    """In the order of reading, if it was written as readers see it."""
    evidence: int

    def text(self, total: int) -> tuple[str, list[int]]:
        """Its text in the order that it and the page, with all evidence, show to be right; and
        pdfium's index of each character, -1 for a space that pdfium lacks."""
        is_speech = self.evidence < (_CERTAIN if total < 0 else 1 - _CERTAIN)
        order = [(place, False) for place in range(len(self.glyphs))] if is_speech else self.order
        read = [(self.glyphs[place], is_turned) for place, is_turned in order]
        turned = [is_turned for glyph, is_turned in read for _ in glyph.text]
        text = with_brackets("".join(glyph.text for glyph, _ in read), turned)
        return text, [index for glyph, _ in read for index in glyph.indices]


def restore_logical_order(text_page: int, page: PageLines) -> bool:
    """Put the lines of right-to-left text in the order of reading, and their letters, too.

    Returns False if the words of the page contradict each other about its order.
    """
    from_right = _runs_from_right(page)
    rows = [_row_glyphs(text_page, page, row) for row in _rows(text_page, page)]
    space = _space_beside_ink(rows)
    found: list[list[_Passage]] = []
    for row in rows:
        found += _lines(row, space, from_right=from_right)
    evidence = [passage.evidence for line in found for passage in line]
    total = sum(evidence)
    made: dict[int, list[Line]] = {}
    gone: set[int] = set()
    for passages in found:
        places = sorted({glyph.line for passage in passages for glyph in passage.glyphs})
        gone.update(places)
        model = max((page.lines[place] for place in places), key=lambda line: len(line.text))
        made.setdefault(places[0], []).append(_line(model, passages, total))
    lines: list[Line] = []
    for place, line in enumerate(page.lines):
        lines += [] if place in gone else [line]
        lines += made.get(place, [])
    page.lines = lines
    against = sum(abs(score) for score in evidence if (score < 0) != (total < 0))
    return CONTRADICTION * against < sum(map(abs, evidence)) or not against


def is_mostly_right_to_left(text: str) -> bool:
    """Whether most letters are of scripts that are read from the right."""
    return 2 * len(RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def _runs_from_right(page: PageLines) -> bool:
    """Whether paragraphs do: where both scripts are mixed, their lines begin at the same edge."""
    text = page.text
    if is_mostly_right_to_left(text) or not runs_right_to_left(text):
        return is_mostly_right_to_left(text)
    lines = [line for line in page.lines if RIGHT_TO_LEFT.search(line.text)]
    first, last = min(line.left for line in lines), max(line.right for line in lines)
    at_left = sum(line.left - first < line.height for line in lines)
    return sum(last - line.right < line.height for line in lines) > at_left


def _rows(text_page: int, page: PageLines) -> Iterator[list[int]]:
    """The lines on each baseline that has letters of such a script."""
    baselines: dict[int, float] = {}
    for place, line in enumerate(page.lines):
        if not line.is_turned:
            letter = next((at for at, char in enumerate(line.text) if not combining(char)), 0)
            baselines[place] = _baseline(text_page, line.start + letter, page.turn)
    rows: list[list[int]] = []
    for place in sorted(baselines, key=baselines.__getitem__):
        line = page.lines[place]
        most = _SAME_BASELINE * (line.size or line.height)
        if rows and baselines[place] - baselines[rows[-1][0]] <= most:
            rows[-1].append(place)
        else:
            rows.append([place])
    for row in rows:
        texts = [page.lines[place].text for place in row]
        if any(RIGHT_TO_LEFT.search(text) or text[0] in _ENDS for text in texts):
            yield row


def _baseline(text_page: int, character: int, turn: int) -> float:
    ((x, y, _),) = drawn(text_page, [character])
    return rotated((x, y, x, y), turn)[1]


def _row_glyphs(text_page: int, page: PageLines, row: Sequence[int]) -> list[Glyph]:
    parts = (glyphs_of(text_page, page.lines[place], place, page.turn) for place in row)
    return sorted(with_marks(list(chain.from_iterable(parts))), key=_ORIGIN)


def _space_beside_ink(rows: Sequence[Sequence[Glyph]]) -> float:
    """The least space between words, in font sizes, where pdfium knows only the ink of letters:
    the widest step from the gaps inside words to those between them."""
    least, most = _BESIDE_INK
    gaps = {
        (glyph.left - before.right) / glyph.size
        for row in rows
        for before, glyph in pairwise(row)
        if before.is_ink and glyph.is_ink
    }
    steps = pairwise([least, *sorted(gap for gap in gaps if least < gap < most), most])
    low, high = max(steps, key=lambda step: step[1] - step[0])
    return (low + high) / 2


def _lines(row: Sequence[Glyph], space: float, *, from_right: bool) -> Iterator[list[_Passage]]:
    """The passages of each line, in the order of reading, except those of lines that stay."""
    parts: dict[int, list[Glyph]] = {}
    for glyph in row:
        parts.setdefault(glyph.line, []).append(glyph)
    # Text over other text stays apart, or their letters would alternate.
    groups = list(parts.values()) if _clash(row) else [row]
    made: list[list[_Passage]] = []
    for group in groups:
        line: list[_Passage] = []
        numbers: set[int] = set()
        for glyphs in _without_gaps(group):
            passage = _passage(glyphs, space, from_right=from_right)
            own = {glyph.line for glyph in glyphs}
            if not own & numbers:  # else cells of one row
                made.append(line := [])
                numbers = set()
            numbers |= own
            line.append(passage)
    for line in reversed(made) if from_right else made:
        glyphs = [glyph for passage in line for glyph in passage.glyphs]
        text = "".join(glyph.text for glyph in glyphs)
        is_whole = _drawn(glyphs) == _drawn(parts[glyphs[0].line])
        is_kept = is_whole and not RIGHT_TO_LEFT.search(text)
        if not is_kept or (from_right and _ENDS_AT_LEFT.match(text)):
            yield line[::-1] if from_right else line


def _drawn(glyphs: Sequence[Glyph]) -> set[int]:
    return {index for glyph in glyphs if not glyph.text.isspace() for index in glyph.indices}


def _clash(glyphs: Sequence[Glyph]) -> bool:
    """Whether many glyphs stand on a glyph of another line."""
    clashes = sum(
        min(a.right, b.right) - max(a.left, b.left) > 0.6 * min(a.right - a.left, b.right - b.left)
        for a, b in pairwise(glyphs)
        if a.line != b.line and not (a.text.isspace() or b.text.isspace())
    )
    return clashes > _MOST_CLASHES * len(glyphs)


def _without_gaps(glyphs: Sequence[Glyph]) -> Iterator[list[Glyph]]:
    """Splits at gaps as between columns and cells; spaces at the ends are left out."""
    group: list[Glyph] = []
    for glyph in glyphs:
        if glyph.text.isspace():
            if group:
                group.append(glyph)
            continue
        last = next((other for other in reversed(group) if not other.text.isspace()), None)
        if last is not None:
            most = _APART_IN_LINE if last.line == glyph.line else _APART
            if glyph.left - last.right > most * min(glyph.size, last.size):
                yield _stripped(group)
                group = []
        group.append(glyph)
    if group:
        yield _stripped(group)


def _stripped(glyphs: list[Glyph]) -> list[Glyph]:
    while glyphs[-1].text.isspace():
        glyphs.pop()
    return glyphs


def _passage(glyphs: list[Glyph], space: float, *, from_right: bool) -> _Passage:
    spaced = list(_spaced(glyphs, space))
    shown = "".join(glyph.text[:1] or _STRETCHED for glyph in spaced)
    order = logical_order(shown, is_right_to_left=from_right)
    evidence = order_evidence("".join(spaced[place].text for place, _ in order))
    return _Passage(spaced, order, evidence)


def _spaced(glyphs: Sequence[Glyph], space: float) -> Iterator[Glyph]:
    """The glyphs, with one space wherever there is room for it."""
    last: Glyph | None = None
    for glyph in glyphs:
        is_space = glyph.text.isspace()
        if last is not None and last.text == " " and is_space:
            continue
        if (
            last is not None
            and last.text != " "
            and not is_space
            and _are_apart(last, glyph, space)
        ):
            yield replace(glyph, text=" ", indices=[-1])
        last = replace(glyph, text=" ") if is_space and glyph.text != " " else glyph
        yield last


def _are_apart(glyph: Glyph, following: Glyph, space: float) -> bool:
    """Whether there is a space between neighbours that are none."""
    ends = glyph.text[-1:], following.text[-1:]
    if _STRETCHED in ends:
        return False
    # Beside signs, pdfium is wrong: they are not where it takes them to be.
    if all(map(str.isalpha, ends)) and (
        following.apart_from in glyph.indices or glyph.apart_from in following.indices
    ):
        return True
    least = space if glyph.is_ink and following.is_ink else _SPACE
    if glyph.is_of_mark or following.is_of_mark:
        least = _BESIDE_MARK
    is_wide = following.left - glyph.right > least * following.size
    return is_wide or following.text in _BULLETS


def _line(model: Line, passages: Sequence[_Passage], total: int) -> Line:
    """The passages as a line that is like `model` in all but its text and edges."""
    texts, places = [], list[int]()
    for passage in passages:
        text, indices = passage.text(total)
        texts.append(text)
        places += [-1, *indices] if places else indices
    return replace(
        model,
        text=" ".join(texts),
        left=min(passage.glyphs[0].left for passage in passages),
        right=max(passage.glyphs[-1].right for passage in passages),
        end=model.start + 1,
        places=places,
    )
