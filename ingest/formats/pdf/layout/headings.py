"""Finds headings by the outline, by type, by numbers and by the words that head sections.

Precision over recall: a false heading splits a passage and names all chunks below it, a missing one
costs little.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.layout.contents import contents_lines
from ingest.formats.pdf.layout.heading_candidates import (
    NUMBERED,
    is_label,
    is_section_word,
    is_title,
    join,
)
from ingest.formats.pdf.layout.outline import Bookmark, match_outline
from ingest.formats.pdf.layout.paragraphs import room_needed
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_LARGER = 1.15  # times the body's font size
_MOST_LINES = 3  # lines of a heading
_SMALLEST = 0.85  # times the body's font size, of headings with a number or a usual name
_DEEPEST = 4  # heading levels by font size
_FEWEST_WORDS = 30  # in the document, for font sizes to be meaningful; a title page has fewer
_MOST = 0.35  # share of all lines; above this, large type does not mean a heading
_MOST_BOLD = 0.12  # the same for bold lines in the size of the body
_WITH_HEADING = 10  # lines for which a table counts, whatever its length: one may be above it
_FEWEST_BOOKMARKS = 5  # found on their pages, for the outline to be complete
_OFTEN = 4  # times; a line repeated as often is a label, such as `Note`
_TEXT = 0.3  # share of a size's characters in paragraphs; above this, it is a size for text
_ONLY_NUMBER = re.compile(
    r"(?:chapter|part|appendix|section|kapitel|teil|anhang|chapitre|partie|annexe|cap[ií]tulo|parte)"
    r"\s+(?:\d{1,3}|[IVXLC]{1,6}|[A-Z])[.:]?",
    re.IGNORECASE,
)


def mark_headings(pages: Sequence[PageLines], outline: Sequence[Bookmark]) -> None:
    """Set the level of each heading; merge headings that span several lines."""
    lines = [line for page in pages if page.has_places for line in page.lines]
    body = _body_size(lines)
    if body is not None:
        contents = contents_lines(pages)
        _by_size(pages, lines, body, contents)
        others = [line for line in lines if id(line) not in contents]
        _by_number(others, body)
        _by_weight(others, body)
    matched = match_outline(pages, outline)
    if body is not None:
        _drop_unlisted(pages, matched)
        _drop_without_text(pages, matched)
        _level_by_number(lines, matched)


def _body_size(lines: Sequence[Line]) -> float | None:
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
        and is_title(" ".join(line.text for line in group))
    ]
    times = Counter(group[0].text for group in found)
    found = [
        group for group in found if times[group[0].text] < _OFTEN or NUMBERED.match(group[0].text)
    ]
    if not found or sum(map(len, found)) > _MOST * sum(_count(line, 1) for line in lines):
        return
    levels = _levels({round(group[0].size, 1) for group in found})
    for group in found:
        group[0].level = levels[round(group[0].size, 1)]
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


def _levels(sizes: set[float]) -> dict[float, int]:
    """Level by font size; sizes that differ by less than 5% share a level."""
    levels: dict[float, int] = {}
    level = 0
    above = float("inf")
    for size in sorted(sizes, reverse=True):
        if size < 0.95 * above:
            level = min(level + 1, _DEEPEST)
            above = size
        levels[size] = level
    return levels


def _by_number(lines: Sequence[Line], body: float) -> None:
    """Mark bold numbered lines that are not smaller than the body."""
    # Without text are lines that join() emptied.
    bold = [line for line in lines if line.bold and NUMBERED.match(line.text)]
    deepest = max((line.level for line in lines), default=0) if bold else 0
    for line in bold:
        if not line.level and line.kind == "text" and line.size >= _SMALLEST * body:
            number = line.text.split(maxsplit=1)[0].rstrip(".")
            line.level = min(deepest + 1 + number.count("."), 6)


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
    if not found or len(found) > _MOST_BOLD * sum(_count(line, _WITH_HEADING) for line in lines):
        return
    numbered = [line.level for line in lines if line.level and NUMBERED.match(line.text)]
    sizes = [line.level for line in lines if line.level]
    deepest = min(max(sizes, default=0) + 1, 6)
    for line in found:
        is_major = is_section_word(line.text) and numbered
        line.level = min(numbered) if is_major else deepest
        join(groups.get(id(line), [line]))


def _bold_groups(lines: Sequence[Line]) -> dict[int, list[Line]]:
    """Bold lines that stand alone, by id, with the bold lines into which they are wrapped."""
    groups: dict[int, list[Line]] = {}
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


def _drop_unlisted(pages: Sequence[PageLines], matched: dict[int, float]) -> None:
    """Headings that the outline would name if they were any: as large as those that it names."""
    if len(matched) < _FEWEST_BOOKMARKS:
        return
    smallest = min(matched.values())
    deepest = max(line.level for page in pages for line in page.lines if id(line) in matched)
    for index, page in enumerate(pages):
        for line in page.lines:
            if not line.level or id(line) in matched:
                continue
            if line.size > 0.95 * smallest and (index > 0 or line.level > 1):
                line.level = 0
            elif index > 0:
                line.level = min(max(line.level, deepest + 1), 6)


def _drop_without_text(pages: Sequence[PageLines], matched: dict[int, float]) -> None:
    """Join `Chapter 3` to its title; a heading above another of its level has no text under it."""
    previous: Line | None = None
    for page in pages:
        _drop_last(page, matched)
        for line in page.lines:
            if not line.text:
                continue
            if previous is not None and line.level and line.kind == "text":
                if _ONLY_NUMBER.fullmatch(previous.text) and id(previous) not in matched:
                    line.text = f"{previous.text.rstrip('.:')}: {line.text}"
                    line.level = min(line.level, previous.level)
                    previous.text, previous.level = "", 0
                elif (
                    line.level <= previous.level
                    and id(previous) not in matched
                    and not NUMBERED.match(previous.text)
                ):
                    previous.level = 0
            previous = line if line.level else None
    if previous is not None and id(previous) not in matched:
        previous.level = 0


def _drop_last(page: PageLines, matched: dict[int, float]) -> None:
    """A heading that ends a title page below others: the author or publisher of a book."""
    lines = [line for line in page.lines if line.text and line.kind in ("text", "table")]
    last = lines[-1] if lines else None
    if (
        last is not None
        and any(line.level for line in lines[:-1])
        and id(last) not in matched
        and not NUMBERED.match(last.text)
        and sum(len(line.text) for line in lines if not line.level) < 5 * _FEWEST_WORDS
    ):
        last.level = 0


def _level_by_number(lines: Sequence[Line], matched: dict[int, float]) -> None:
    """Give headings whose numbers have as many parts the level that most of them have."""
    by_depth: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if line.level and id(line) not in matched and NUMBERED.match(line.text):
            number = line.text.split(maxsplit=1)[0].rstrip(".")
            if number[0].isdigit():
                by_depth[number.count(".")].append(line)
    above = 0
    for _, found in sorted(by_depth.items()):
        usual = Counter(line.level for line in found).most_common(1)[0][0]
        above = min(max(usual, above + 1), 6)
        for line in found:
            line.level = above
