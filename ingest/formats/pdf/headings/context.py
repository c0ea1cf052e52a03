"""Drops what looks like a heading, by what is around it: title pages, text below, the outline."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.formats.pdf.headings.candidates import NUMBERED, ONLY_NUMBER, is_section_word
from ingest.formats.pdf.layout.text_lines import Line, PageLines

_FEWEST_BOOKMARKS = 5  # found on their pages, for the outline to be complete
_LITTLE_TEXT = 150  # characters of a title page beside its headings
_TITLE_PAGES = 4
_FEWEST_ITEMS = 3  # of a list
_PROSE = 0.4  # of the page's width, which a line of running text has
_ITEM = re.compile(r"[•◦▪▸►●○■□\u2013\u2014*·\u2610-\u2612-]\s")
_INITIALS = re.compile(r"(?:[A-Z]\.\s?){2}|[D-HJ-UW-Z]\.\s")  # of a name, not an appendix
_BYLINE = re.compile(
    r"[\u2217†‡§¶✩*¹²³]$|^(?:by|von|par|por|di|door)\s[A-ZÀ-Þ]|^(?:©|copyright|version|edition)\b"
    r"|^\W*(?:\d{1,2}\S{0,2}\s+(?:de\s+)?)?[^\W\d]{3,10}\.?\s+(?:\d{1,2}\S{0,2},?\s+|de\s+)?"
    r"(?:19|20)\d\d\W*$",
    re.IGNORECASE,
)


def drop_title_block(pages: Sequence[PageLines]) -> None:
    """Authors, dates and the like around the title of the document, and the title once more."""
    title: Line | None = None
    times = 0
    all_headings = [line for page in pages for line in page.lines if line.level and line.text]
    used = {_style(line) for page in pages[1:] for line in page.lines if line.level and line.text}
    for index, page in enumerate(pages[:_TITLE_PAGES]):
        headings = [line for line in page.lines if line.level and line.text]
        if index == 0:
            free = [line for line in headings if not _is_section(line)]
            title = max(reversed(free), key=lambda line: line.size, default=None)
            times = sum(title is not None and line.text == title.text for line in all_headings)
        again = next((line for line in headings if title and line.text == title.text), None)
        if again is None or times > _TITLE_PAGES:
            continue
        below = next(lines for line, lines in _with_lines_below(page, headings) if line is again)
        if index == 0 or not _is_prose(page, below):
            _drop_around(page, headings, again, used)
            again.level = again.level if index == 0 else 0


def _drop_around(
    page: PageLines, headings: Sequence[Line], title: Line, used: set[tuple[float, bool]]
) -> None:
    above_text = [
        line for line, below in _with_lines_below(page, headings) if _is_prose(page, below)
    ]
    with_text = set(map(id, above_text))
    counts = Counter(map(_style, above_text))
    used = used | {style for style, count in counts.items() if count > 1}
    used |= {_style(line) for line in headings if _is_section(line)}
    place = headings.index(title)
    block = []
    for line in headings[place + 1 :]:
        is_read = id(line) in with_text and (_style(line) in used or not _is_centred(line, title))
        if _is_section(line) or (is_read and not _BYLINE.search(line.text)):
            break
        block.append(line)
    following = next(iter(headings[place + 1 + len(block) :]), None)
    for line in reversed(block):
        is_above = following and following.size < line.size and not _is_section(following)
        is_last = line is page.lines[-1] and _style(line) in used  # its text is on the next page
        if _BYLINE.search(line.text) or not (is_above or is_last):
            line.level = 0
        else:
            following = line
    for line in headings[:place]:
        if not _is_section(line) and _style(line) not in used and id(line) not in with_text:
            line.level = 0


def _with_lines_below(
    page: PageLines, headings: Sequence[Line]
) -> Iterator[tuple[Line, list[Line]]]:
    """Each heading and what is between it and the next."""
    wanted = set(map(id, headings))
    places = [place for place, line in enumerate(page.lines) if id(line) in wanted]
    for start, end in pairwise([*places, len(page.lines)]):
        yield page.lines[start], page.lines[start + 1 : end]


def _is_prose(page: PageLines, lines: Sequence[Line]) -> bool:
    """Whether there is running text, a list or a table."""
    width = page.box[2] - page.box[0]
    widths = [line.right - line.left for line in lines if line.text and line.kind == "text"]
    is_long = sum(widths) > width or max(widths, default=0.0) > _PROSE * width
    return is_long or any(
        line.kind in ("table", "code") or _ITEM.match(line.text) is not None for line in lines
    )


def _is_centred(line: Line, title: Line) -> bool:
    """Whether the line is centred below the title."""
    off = abs(line.left + line.right - title.left - title.right) / 2
    return off < 0.5 * line.size < abs(line.left - title.left)


def _is_section(line: Line) -> bool:
    return (
        (NUMBERED.match(line.text) is not None and _INITIALS.match(line.text) is None)
        or ONLY_NUMBER.fullmatch(line.text) is not None
        or is_section_word(line.text)
    )


def _style(line: Line) -> tuple[float, bool]:
    return round(line.size, 1), line.bold


def drop_lists(pages: Sequence[PageLines]) -> None:
    """Numbered lines in the style of headings that follow one another without text between."""
    for page in pages:
        run: list[Line] = []
        for line in [*(line for line in page.lines if line.text), Line("")]:
            if line.level and NUMBERED.match(line.text) and (not run or _goes_on(run[-1], line)):
                run.append(line)
                continue
            if len(run) >= _FEWEST_ITEMS:
                for item in run:
                    item.level = 0
            run = [line] if line.level and NUMBERED.match(line.text) else []


def _goes_on(above: Line, line: Line) -> bool:
    """Whether both numbers have as many parts."""
    numbers = (each.text.split(maxsplit=1)[0].rstrip(".") for each in (above, line))
    return len({number.count(".") for number in numbers}) == 1 and _style(above) == _style(line)


def drop_unlisted(pages: Sequence[PageLines], matched: dict[int, float]) -> None:
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


def drop_without_text(pages: Sequence[PageLines], matched: dict[int, float]) -> None:
    """Join `Chapter 3` to its title; a heading above another of its level has no text under it."""
    previous: Line | None = None
    for page in pages:
        _drop_last(page, matched)
        for line in page.lines:
            if not line.text:
                continue
            if previous is not None and line.level and line.kind == "text":
                if ONLY_NUMBER.fullmatch(previous.text) and id(previous) not in matched:
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
        and sum(len(line.text) for line in lines if not line.level) < _LITTLE_TEXT
    ):
        last.level = 0
