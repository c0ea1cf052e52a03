"""Finds headings by the outline, by type, by numbers and by the words that head sections.

Precision over recall: a false heading splits a passage and names all chunks below it, a missing one
costs little.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.headings.candidates import (
    NUMBERED,
    ONLY_NUMBER,
    is_label,
    is_section_word,
    is_title,
    join,
)
from ingest.formats.pdf.headings.contents import contents_lines
from ingest.formats.pdf.headings.context import (
    drop_lists,
    drop_title_block,
    drop_unlisted,
    drop_without_text,
)
from ingest.formats.pdf.headings.levels import close_gaps, set_levels
from ingest.formats.pdf.headings.outline import Bookmark, match_outline
from ingest.formats.pdf.headings.plain import find_plain
from ingest.formats.pdf.layout.line_ends import room_needed
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_LARGER = 1.15  # times the body's font size
_MOST_LINES = 3  # lines of a heading
_SMALLEST = 0.85  # times the body's font size, of headings with a number or a usual name
_FEWEST_WORDS = 30  # in the document, for font sizes to be meaningful; a title page has fewer
_MOST = 0.35  # share of all lines; above this, large type does not mean a heading
_MOST_BOLD = 0.12  # the same for bold lines in the size of the body
_MOST_ABOVE_TEXT = 0.25  # the same if each is above several lines of text
_LINES_BELOW = 2
_WIDER = 1.3  # times the heading
_WITH_HEADING = 10  # lines for which a table counts, whatever its length: one may be above it
_OFTEN = 4  # times; a line repeated as often is a label, such as `Note`
_SMALL = re.compile(r"[\d.]+\s+[a-zß-ÿа-я][^:]+\.$")  # `0.9 as the version.`, no heading
_TEXT = 0.3  # share of a size's characters in paragraphs; above this, it is a size for text


def mark_headings(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> None:
    """Set the level of each heading; merge headings that span several lines."""
    lines = [line for page in pages if page.has_places for line in page.lines]
    body = body_size(lines)
    if body is not None:
        contents = contents_lines(pages)
        _by_size(pages, lines, body, contents)
        others = [line for line in lines if id(line) not in contents]
        _by_number(others, body)
        _by_weight(others, body)
        drop_title_block(pages)
        drop_lists(pages)
        if not any(line.level for line in lines):
            for line in find_plain(pages, contents):
                line.level = 1
        set_levels([line for line in lines if line.level], body, _LARGER)
    matched = match_outline(pages, outline)
    if body is not None:
        drop_unlisted(pages, matched)
        drop_without_text(pages, matched)
    headings = [line for page in pages for line in page.lines if line.level]
    if matched:
        for line in headings:
            line.level = min(line.level, 6)
    else:
        close_gaps(headings)


def body_size(lines: Sequence[Line]) -> float | None:
    """The font size of most of the text; None if there is too little text."""
    lengths: dict[float, int] = defaultdict(int)
    for line in lines:
        if line.kind in ("text", "table", "code"):
            lengths[line.size] += len(line.text)
    sizes: Counter[float] = Counter()
    for size, length in lengths.items():
        if size > 0:
            sizes[round(size, 1)] += length
    if sizes.total() < 5 * _FEWEST_WORDS:
        return None
    return sizes.most_common(1)[0][0]


def _by_size(
    pages: Sequence[PageLines], lines: Sequence[Line], body: float, contents: set[int]
) -> None:
    text_sizes = _text_sizes(pages, body, contents)
    found = [
        group
        for page in pages
        if page.has_places
        for group in _large_groups(page.lines, body)
        if len(group) <= _MOST_LINES
        and id(group[0]) not in contents
        and round(group[0].size, 1) not in text_sizes
        and not (is_label(group[0].text) and group[0].text.endswith((":", "!")))
        and is_title(" ".join(line.text for line in group))
    ]
    times = Counter(group[0].text for group in found)
    found = [
        group for group in found if times[group[0].text] < _OFTEN or NUMBERED.match(group[0].text)
    ]
    if not found or sum(map(len, found)) > _MOST * sum(_count(line, 1) for line in lines):
        return
    for group in found:
        group[0].level = 1
        join(group)


def _count(line: Line, table: int) -> int:
    """The number of lines that this is, if it is not a table."""
    return table if line.kind == "table" else line.text.count("\n") + 1


def _text_sizes(pages: Sequence[PageLines], body: float, contents: set[int]) -> set[float]:
    """Sizes above the body's that also set paragraphs, as in a document with much code."""
    in_text: Counter[float] = Counter()
    all_of: Counter[float] = Counter()
    for page in pages:
        for group in _large_groups(page.lines, body) if page.has_places else ():
            size, length = round(group[0].size, 1), sum(len(line.text) for line in group)
            if id(group[0]) in contents:
                continue
            all_of[size] += length
            is_sentence = group[-1].text.endswith(".") and not NUMBERED.match(group[0].text)
            if len(group) > _MOST_LINES or is_sentence:
                in_text[size] += length
    return {size for size, length in in_text.items() if length > _TEXT * all_of[size]}


def _large_groups(lines: Sequence[Line], body: float) -> list[list[Line]]:
    """Groups of lines in large type: of the same size, close together."""
    groups: list[list[Line]] = []
    previous: Line | None = None
    for line in lines:
        if line.size < _LARGER * body or line.kind != "text" or line.is_turned:
            previous = None
        elif previous is not None and _belongs(line, previous):
            groups[-1].append(line)
            previous = line
        else:
            groups.append([line])
            previous = line
    return groups


def _belongs(line: Line, previous: Line) -> bool:
    """Whether a line continues the heading above it."""
    if NUMBERED.match(line.text):  # the next numbered heading
        return False
    gap = previous.bottom - line.top
    return abs(line.size - previous.size) < 0.5 and -line.height < gap < 0.6 * line.height


def _by_number(lines: Sequence[Line], body: float) -> None:
    """Mark bold numbered lines that are not smaller than the body."""
    groups = _bold_groups(lines)
    for line in lines:
        if (
            line.bold
            and not line.level
            and line.kind == "text"
            and line.size >= _SMALLEST * body
            and NUMBERED.match(line.text)
            and _SMALL.match(line.text) is None
        ):
            line.level = 1
            join(groups.get(id(line), [line]))


def _by_weight(lines: Sequence[Line], body: float) -> None:
    """Mark bold lines that stand alone above text, and the words that head sections."""
    times = Counter(line.text for line in lines if line.stands_alone)
    goes_on_below = {id(line) for line, below in pairwise(lines) if below.text[:1].islower()}
    groups = _bold_groups(lines)
    found = [
        line
        for line in lines
        if line.stands_alone
        and (times[line.text] < _OFTEN or " " in line.text)
        and not line.level
        and not is_label(line.text)
        and id(line) not in goes_on_below
        and line.text
        and line.kind == "text"
        and (line.bold or is_section_word(line.text))
        and line.size >= (_SMALLEST if is_section_word(line.text) else 0.95) * body
        and len(groups.get(id(line), ())) <= _MOST_LINES
        and is_title(line.text)
    ]
    above_text = set(map(id, _above_text(found, lines)))
    # A capital does not tell words of other scripts from those of a drawing.
    found = [
        line
        for line in found
        if (line.text[0].isupper() or line.text[0].isdecimal()) or id(line) in above_text
    ]
    titled = sum(ONLY_NUMBER.fullmatch(line.text) is None for line in found)
    most = _MOST_ABOVE_TEXT if above_text.issuperset(map(id, found)) else _MOST_BOLD
    if not found or titled > most * sum(_count(line, _WITH_HEADING) for line in lines):
        return
    titles = {id(line): below for line, below in pairwise(lines) if below.goes_on}
    for line in found:
        line.level = 1
        if ONLY_NUMBER.fullmatch(line.text) and id(line) in titles:
            titles[id(line)].level = 1  # `Article 3` and its title will be joined
        else:
            join(groups.get(id(line), [line]))


def _above_text(found: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Those with several wider lines below them that are not bold."""
    places = {id(line): place for place, line in enumerate(lines)}

    def is_text(line: Line, above: Line) -> bool:
        is_wider = line.right - line.left > _WIDER * (above.right - above.left)
        return is_wider and line.kind == "text" and not line.bold and not line.level

    return [
        line
        for line in found
        for below in [lines[places[id(line)] + 1 : places[id(line)] + 1 + _LINES_BELOW]]
        if len(below) == _LINES_BELOW and all(is_text(each, line) for each in below)
    ]


def _bold_groups(lines: Sequence[Line]) -> dict[int, list[Line]]:
    """Bold lines that stand alone, by id, with the bold lines into which they are wrapped."""
    groups: dict[int, list[Line]] = {}
    if not any(line.goes_on for line in lines):
        return groups
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and lines[end].goes_on and lines[end].text:
            end += 1
        group = list(lines[at:end])
        if len(group) > 1 and end < len(lines) and _is_wrapped(group, lines[end]):
            groups[id(lines[at])] = group
        at = end
    return groups


def _is_wrapped(group: Sequence[Line], below: Line) -> bool:
    """Whether each line had no room for the first word of the next, above text as wide."""
    last = group[-1]
    return (
        below.kind == "text"
        and below.top < last.top
        and below.overlaps(last)
        and all(
            below.right - line.right < room_needed(following) for line, following in pairwise(group)
        )
    )
