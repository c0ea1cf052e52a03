"""Finds tables of contents: their lines name headings, and are none."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from ingest.formats.pdf.layout.text_lines import Line, PageLines

LEADERS = re.compile(r"(?:[.·…_]\s?){3}")
"""Between a title and the number of its page."""
_NUMBER = re.compile(r"[\s.·…_]([0-9]{1,4}|[ivxlc]{1,7})$")
_LAST = frozenset("0123456789ivxlc")  # characters that _NUMBER ends with
_FEWEST = 3  # entries
_MOST_BETWEEN = 2  # lines between two entries, as of titles that are wrapped
_LONGEST = 200  # characters
_NAMED = 0.5  # share of entries whose titles stand elsewhere, too


def contents_lines(pages: Sequence[PageLines]) -> set[int]:
    """Ids of the lines of all tables of contents.

    Those are entries in a row whose numbers rise, with leaders, or with titles that come again.
    """

    @cache
    def titles() -> set[str]:
        return {
            _plain(line.text) for page in pages for line in page.lines if len(line.text) <= _LONGEST
        }

    return {
        id(line)
        for page in pages
        if page.has_places
        for run in _runs(page.lines)
        if any(LEADERS.search(line.text) for line in run) or _names_titles(run, titles())
        for line in run
    }


def _runs(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Entries whose numbers rise, with what is between them."""
    first = last = at = entries = 0
    for place, line in enumerate(lines):
        number = _page_number(line)
        if number is None:
            continue
        if entries and (place - last > _MOST_BETWEEN + 1 or number < at):
            if entries >= _FEWEST:
                yield lines[first : last + 1]
            entries = 0
        if not entries:
            first = place
        last, at = place, number
        entries += 1
    if entries >= _FEWEST:
        yield lines[first : last + 1]


def _page_number(line: Line) -> int | None:
    """The number at the end of an entry, 0 for a Roman one; None if the line is no entry."""
    text = line.text
    if text[-1:] not in _LAST or line.kind == "table" or len(text) > _LONGEST:
        return None
    match = _NUMBER.search(text)
    if match is None or not any(map(str.isalpha, text[: match.start()])):
        return None
    number = match.group(1)
    return int(number) if number.isdecimal() else 0


def _names_titles(run: Sequence[Line], titles: set[str]) -> bool:
    entries = [line for line in run if _page_number(line) is not None]
    named = sum(_plain(_NUMBER.sub("", line.text)) in titles for line in entries)
    return named >= _NAMED * len(entries)


def _plain(text: str) -> str:
    return "".join(text.split()).lower()
