"""Finds tables without ruled lines: rows with the same columns, separated by clear gaps."""

from collections.abc import Collection, Iterator, Sequence

from ingest.formats.common.markdown import plain
from ingest.formats.pdf.layout.raised import is_mark_of_note
from ingest.formats.pdf.layout.text_lines import SLACK, Line, PageLines, Table
from ingest.formats.pdf.tables.blocks import is_by_columns
from ingest.formats.pdf.tables.cells import Glyphs, replace_by_table, replace_lines
from ingest.formats.pdf.tables.fitting import header_above_values
from ingest.formats.pdf.tables.groups import under_groups, under_names
from ingest.formats.pdf.tables.kinds import as_form, is_contents, is_table
from ingest.formats.pdf.tables.rows import (
    Piece,
    baselines,
    first_baselines,
    grouped,
    is_number,
    texts,
)
from ingest.formats.pdf.tables.runs import (
    FARTHEST,
    FEWEST_ROWS,
    MOST_ABOVE,
    MOST_LINES,
    Cells,
    Run,
    runs,
)

_GAP = 0.75  # font sizes between two cells; words of a sentence are closer
_FEWEST_GAPS = 2  # in the lines that are likely to have one, or stand side by side
_BETWEEN = 6  # lines without gaps between two lines with gaps, as where a cell wraps
_BEFORE, _AFTER = 2, 4  # lines around those with gaps
_SMALLER = 0.85  # times the height of the text beside it: a raised mark
_TOUCHING = 0.5  # line heights between a mark and its text
_BESIDE = 1.5  # line heights between a header and its values
_CURRENCIES = frozenset("$€£¥₹")
_JUMP = 8.0  # line heights; further up begins a column of the page, not a cell


def find_aligned(page: PageLines, glyphs: Glyphs, *, near: Collection[int]) -> None:
    """Replace rows that clearly form a table by Markdown, and those of a form by `label: value`.

    Examines only lines whose `start` is in `near`, and their neighbours.
    """
    for stretch in list(_stretches(page.lines, near)):
        likely = [line for line in stretch if line.start in near]
        glyphs.load_words(likely)
        pieces = [(piece, line) for line in likely for piece in _split(line, glyphs)]
        if len(pieces) < len(baselines([piece for piece, _ in pieces])) + _FEWEST_GAPS:
            continue
        others = [line for line in stretch if line.start not in near]
        glyphs.load_words(others)
        pieces += [(piece, line) for line in others for piece in _split(line, glyphs)]
        cells = Cells(glyphs, {id(piece): [line] for piece, line in pieces})
        rows = baselines([piece for piece, _ in pieces])
        rows = [_with_currencies(_with_mark(row, cells.owners), cells.owners) for row in rows]
        end = 0
        for run in runs(rows, cells):
            count = len(run.lines)
            groups = run.take_from(rows[max(end, run.start - MOST_ABOVE) : run.start], cells)
            if _replace(page, run, groups, cells):
                end = run.start + count
            else:
                for part in run.parts():
                    _replace(page, part, [], cells)


def _replace(page: PageLines, run: Run, groups: Sequence[Piece], cells: Cells) -> bool:
    """Returns whether the run was a table or form. `groups`: what may name those of its columns."""
    if len(run.lines) < FEWEST_ROWS:
        return False
    by_columns = is_by_columns(run.lines, run.lefts, cells.owners)
    pieces = [piece for line in run.lines for piece in line]
    lines = run.placed()
    if named := under_names(groups, lines[0], run.lefts, run.rights):
        lines[0] = named
        pieces += groups
    else:
        lines = under_groups(lines, run.lefts, run.rights)
    inside = list({id(o): o for piece in pieces for o in cells.owners[id(piece)]}.values())
    rows = [texts(row, len(run.lefts)) for row in grouped(lines, first_baselines(lines))]
    if len(rows) < FEWEST_ROWS:
        return False
    edges = list(zip(run.lefts, run.rights, strict=True))
    rows, edges = header_above_values(rows, edges, _BESIDE * pieces[0].height)
    pairs = as_form(rows, by_columns=by_columns)
    if pairs is not None:
        _replace_by_pairs(page, inside, pairs)
        return True
    if not is_table(rows, by_columns=by_columns) or is_contents(rows):
        return False
    replace_by_table(page, inside, Table(rows, edges))
    return True


def _replace_by_pairs(page: PageLines, inside: Sequence[Line], pairs: Sequence[str]) -> None:
    """Replace the lines of a form by a line for each label with its value."""
    replace_lines(page, inside, plain("\n".join(pairs)))


def _stretches(lines: Sequence[Line], near: Collection[int]) -> Iterator[list[Line]]:
    """Lines around those with gaps, in the order of the file, without jumps to another column."""
    marked = [
        index for index, line in enumerate(lines) if line.start in near and line.kind == "text"
    ]
    at = 0
    while at < len(marked):
        last = at
        while last + 1 < len(marked) and marked[last + 1] - marked[last] <= _BETWEEN + 1:
            last += 1
        if last - at + 1 < FEWEST_ROWS:
            at = last + 1
            continue
        stretch: list[Line] = []
        lowest = 0.0
        first, end = max(marked[at] - _BEFORE, 0), marked[last] + 1 + _AFTER
        for place, line in enumerate(lines[first:end], start=first):
            following = lines[place : place + MOST_LINES]
            is_text = line.kind == "text"
            if stretch and (not is_text or _is_elsewhere(stretch[-1], following, lowest)):
                yield stretch
                stretch = []
            if is_text:
                lowest = min(lowest, line.bottom) if stretch else line.bottom
                stretch.append(line)
        yield stretch
        at = last + 1


def _is_elsewhere(previous: Line, lines: Sequence[Line], lowest: float) -> bool:
    """Whether a jump or gap is before the first of these lines, and no other goes on below."""
    if lines[0].bottom - previous.bottom > _JUMP * previous.height:
        return True
    # The cells that stand in the middle of a row may come before those that begin at its top.
    below = [line.top for line in lines[1:] if line.top <= lowest + SLACK * line.height]
    return lowest - max([lines[0].top, *below]) > FARTHEST * previous.height


def _with_mark(row: list[Piece], owners: dict[int, list[Line]]) -> list[Piece]:
    """The pieces of a baseline from the left; the raised mark of a note is one with its text.

    `owners`: the lines of each piece, by its id.
    """
    row.sort(key=lambda piece: piece.left)
    if len(row) < 2:
        return row
    mark, text, *rest = row
    is_near = text.left - mark.right < _TOUCHING * text.height
    if not is_near or mark.height > _SMALLER * text.height:
        return row
    if not is_mark_of_note(mark.text.strip(), text.text.strip()):
        return row
    both = Piece(0, mark.left, text.right, text.middle, text.height, f"{mark.text} {text.text}")
    owners[id(both)] = owners[id(mark)] + owners[id(text)]
    return [both, *rest]


def _with_currencies(row: list[Piece], owners: dict[int, list[Line]]) -> list[Piece]:
    """The pieces of a baseline; a sign that stands apart from its amount is one with it."""
    if not any(piece.text.strip() in _CURRENCIES for piece in row):
        return row
    found: list[Piece] = []
    for piece in row:
        sign = found[-1] if found and found[-1].text.strip() in _CURRENCIES else None
        if sign is None or not is_number(piece.text.strip()):
            found.append(piece)
            continue
        both = piece._replace(left=sign.left, text=f"{sign.text.strip()} {piece.text}")
        owners[id(both)] = owners[id(sign)] + owners[id(piece)]
        found[-1] = both
    return found


def _split(line: Line, glyphs: Glyphs) -> Iterator[Piece]:
    """Split the line at its gaps; columns are not yet known."""
    middle = (line.top + line.bottom) / 2
    words = glyphs.words(line) if glyphs.has_positions(line) else []
    if not words:
        yield Piece(0, line.left, line.right, middle, line.height, line.text)
        return
    gap = _GAP * (line.size or line.height)
    start, _, left, right = words[0]
    for first, _, word_left, word_right in words[1:]:
        if word_left - right > gap:
            yield Piece(0, left, right, middle, line.height, line.text[start:first])
            start, left, right = first, word_left, word_right
        else:
            right = max(right, word_right)
    yield Piece(0, left, right, middle, line.height, line.text[start:])
