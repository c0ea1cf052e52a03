"""Drops running heads and feet that only repeat: headings, an earlier one, the number of the page.

A book names chapter and section at the edge of each page. Behind the text of each page, such lines
would interrupt the sentences that go on there; what they say stands in the headings.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from ingest.formats.pdf.headings.candidates import LONGEST, ONLY_NUMBER
from ingest.formats.pdf.layout.text_lines import Line, PageLines
from ingest.formats.pdf.running_heads.few_pages import MOST
from ingest.formats.pdf.running_heads.headers_and_footers import LARGER, usual_size

_FEWEST = 3  # pages with the same text, or whose numbers count with them
_SHORTEST = 3  # letters of a heading that is compared
_MOST_TITLES = 40  # headings of a page that are compared
_MOST_LEFT = 2  # letters of a running head that no heading has
_WORDS = re.compile(r"[^\W\d_]{2,}|[\u2e80-\uffff]")
_NUMBER = re.compile(r"^\W*(\d{1,4})(?!\d|\.\d)|(?<!\d)(?<!\d\.)(\d{1,4})\W*$")
_APART = 0.7  # line heights between a running head and the text
_MARGIN, _TOLERANCE = 80.0, 8.0  # points from the edge of the page
_ROMAN = re.compile(r"\W*[ivxlc]{1,7}\W*")
_ROMAN_END = re.compile(r"\s[ivxlc]{1,7}$")
_CUT = re.compile(r"…|\.\.\.")
_COUNTED = re.compile(  # what is counted, and no page: `Invoice No. 17`
    r"(?:\b(?:no|nr|num|núm|numéro)\.?|n[°º]|[№#])\s*:?\s*$", re.IGNORECASE
)


def drop_known(pages: Sequence[PageLines]) -> None:
    """Expects headings to be marked. Keeps each other text once, and something on each page.

    Of a few pages, such lines may be their content (few_pages.py).
    """
    titles = list(_titles(pages))
    _find_named(pages, titles)
    running = [
        (index, line)
        for index, page in enumerate(pages)
        for line in page.lines
        if line.kind == "running"
    ]
    if not running or sum(bool(page.lines) for page in pages) <= MOST:
        return
    ahead = _ahead_of_index(running)
    names = {id(line): _without_number(line.text, index, ahead) for index, line in running}
    on: dict[str, set[int]] = defaultdict(set)
    for index, line in running:
        on[names[id(line)]].add(index)
    seen = set[str]()
    for index, page in enumerate(pages):
        kept = []
        for line in page.lines:
            name = names.get(id(line))
            if name is not None:
                is_repeated = name in seen and len(on[name]) >= _FEWEST and not _is_values(name)
                seen.add(name)
                if not name or is_repeated or _is_named(name, titles[index]):
                    continue
            kept.append(line)
        page.lines = kept or page.lines


def _find_named(pages: Sequence[PageLines], titles: Sequence[Sequence[str]]) -> None:
    """Mark the running heads of books whose chapters all begin with a page without one.

    They stand at one place of several pages, and say what headings say.
    """
    at: dict[tuple[bool, int], list[Line]] = defaultdict(list)
    for page, known in zip(pages, titles, strict=True):
        for line, is_top in _edges(page) if known else ():
            if _is_named(_NUMBER.sub("", line.text, 2), known):
                distance = abs(line.top - page.box[1 if is_top else 3])
                at[is_top, int(distance / _TOLERANCE)].append(line)
    for found in at.values():
        if len(found) >= _FEWEST:
            for line in found:
                line.kind = "running"


def _edges(page: PageLines) -> Iterator[tuple[Line, bool]]:
    """The first and the last line in the margins of a page, and whether it is the first.

    Not the titles of slides, which are larger than their text.
    """
    lines = [line for line in page.lines if line.kind in ("text", "running") and line.text]
    if not page.has_places or len(lines) < _FEWEST:
        return
    lines.sort(key=lambda line: -line.top)
    for line, other, is_top in ((lines[0], lines[1], True), (lines[-1], lines[-2], False)):
        gap = max(line.bottom - other.top, other.bottom - line.top)
        distance = page.box[1] - line.top if is_top else line.top - page.box[3]
        is_apart = gap > _APART * line.height and distance < _MARGIN
        is_plain = line.kind == "text" and not line.level and len(line.text) <= LONGEST
        if is_apart and is_plain and line.size <= LARGER * usual_size(lines):
            yield line, is_top


def _ahead_of_index(running: Sequence[tuple[int, Line]]) -> set[int]:
    """By how much the numbers of pages are ahead of their indices."""
    pages: dict[int, set[int]] = defaultdict(set)
    for index, line in running:
        for match in _NUMBER.finditer(line.text):
            pages[int(match[1] or match[2]) - index].add(index)
    return {ahead for ahead, found in pages.items() if len(found) >= _FEWEST}


def _without_number(text: str, index: int, ahead: Collection[int]) -> str:
    """The text without the number of its page; empty if it has nothing else."""

    def left(number: re.Match[str]) -> str:
        is_page = int(number[1] or number[2]) - index in ahead
        is_counted = number[2] and _COUNTED.search(text, 0, number.start(2))
        return "" if is_page and not is_counted else number[0]

    text = _NUMBER.sub(left, text, 2)
    if _ROMAN.fullmatch(text):
        return ""
    return _ROMAN_END.sub("", " ".join(text.split()).strip("|·•\u2013\u2014 "))


def _titles(pages: Sequence[PageLines]) -> Iterator[list[str]]:
    """For each page, the headings whose sections it shows, from the longest."""
    above: list[Line] = []
    for page in pages:
        headings = [line for line in page.lines if line.level and line.text]
        keys = {_key(line.text) for line in [*above, *headings[:_MOST_TITLES]]}
        yield sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True)
        for line in headings:
            while above and above[-1].level >= line.level:
                above.pop()
            above.append(line)


def _is_named(name: str, titles: Sequence[str]) -> bool:
    """Whether headings say all that a running head says, as `2 Pumps 2.1 Large pumps`."""
    *cut, last = (_key(part) for part in _CUT.split(name))
    left = [_without_titles(part, titles) for part in cut]
    # A title that was cut is the beginning of one.
    rest = [part for part in left if not any(title.startswith(part) for title in titles)]
    length = sum(map(len, (*rest, _without_titles(last, titles))))
    return any((*cut, last)) and length <= _MOST_LEFT


def _is_values(name: str) -> bool:
    """Whether a line is mostly figures, which pages may have in common by chance."""
    return sum(map(str.isdecimal, name)) > sum(map(str.isalpha, name))


def _without_titles(key: str, titles: Sequence[str]) -> str:
    for title in titles:
        key = key.replace(title, "", 1)
    return key


def _key(text: str) -> str:
    """Small letters, without the number of a chapter and its name."""
    words = (word for word in _WORDS.findall(text) if not ONLY_NUMBER.fullmatch(f"{word} 1"))
    return "".join(words).lower()
