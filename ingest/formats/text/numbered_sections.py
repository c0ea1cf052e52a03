"""Headings of plain text that count: `2.1. Coils` of standards, `§ 3 Term`, `CHAPTER II` of books.

Nothing is marked unless the numbers follow one another: a list also has numbers.
"""

import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise

_LONGEST = 80  # characters
_FEWEST = 3
_FEWEST_PAGES = 2
_LINES_OF_CONTENTS = 4  # for each title of a table of contents, which may go on on a second line
_LARGEST = 20_000_000  # characters of a text; its lines double the memory
_MOST_BEFORE = 0.5  # share of the lines; a list of steps may be anywhere
_MOST_IN_ONE = 0.5  # share of the lines; beyond, the numbers count only a part of the text
_MEAN_SECTIONS = 2.4  # the same for few sections: so many times the mean
# One of the titles that must be there, below a blank line: most texts need no more than this.
_HINT = re.compile(
    r"\n[ \t\r\f]*\n(?:"
    r"(?:§[ \t]*)?[012](?:\.[\d.]*)?[ \t]+[^\W\d_][^\n]{0,80}(?<![.,;:!])\n[ \t\r\f]*\n"
    r"|[ \t\f]*[^\W\d_]{3,10}[ \t]+(?:[iI]{3}|3|[tT][hH][rR][eE]{2})\b)"
)
_PAGE_BREAK = re.compile(r"(?<!\n)\n+[^\n]{0,200}\[Page \d{1,4}\][ \t]*\n\f\n?([^\n]{1,200})\n+")
_NUMBERED = re.compile(r"(?:§[ \t]*)?(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?=[^\W\d_])(\S.*)")
_CHAPTER = re.compile(
    r"(chapter|chapitre|cap[íi]tulo|capitolo|kapitel|hoofdstuk|глава|book|part|buch|teil"
    r"|article|artikel|art[íi]culo|articolo|artigo|section|abschnitt|volume|act|scene|akt|szene"
    r"|adventure|letter|lecture|lesson|canto|stave)[ \t]+"
    r"([ivxlc]{1,8}|\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"\b(?!\.\d)[.:]?[ \t]*(.*)",
    re.IGNORECASE,
)
_OUTER = re.compile(r"(?:book|part|buch|teil|volume|act|akt)\b", re.IGNORECASE)
_SENTENCE_END = (".", ",", ";", "!", ":")


def with_sections(text: str) -> str:
    """The text with its numbered titles as headings, and RFCs without the ends of their pages."""
    if "\f" in text and "[Page " in text:
        text = _without_page_ends(text)
    if len(text) > _LARGEST or not _HINT.search(text):
        return text
    lines = text.split("\n")
    marks = _chapters(lines) or _numbered(lines)
    for at, level in marks.items():
        lines[at] = f"{'#' * level} {' '.join(lines[at].split())}"
    return "\n".join(lines) if marks else text


def _without_page_ends(text: str) -> str:
    """Without the last line of each page and the first of the next, if other pages begin so."""
    heads = Counter(_PAGE_BREAK.findall(text))

    def joined(found: re.Match[str]) -> str:
        if heads[found[1]] < _FEWEST_PAGES:
            return found[0]
        following = text[found.end() : found.end() + _LONGEST].lstrip()
        return "\n" if following[:1].islower() else "\n\n"  # a paragraph may go on

    return _PAGE_BREAK.sub(joined, text)


def _is_blank(lines: list[str], at: int) -> bool:
    return not 0 <= at < len(lines) or not lines[at] or lines[at].isspace()


def _has_text(lines: list[str], title: int, following: int) -> bool:
    return any(not _is_blank(lines, at) for at in range(title + 1, following))


def _cover(titles: Collection[int], lines: list[str]) -> bool:
    """Whether sections that begin at these lines divide the text, not only a list in it."""
    starts = sorted(titles)
    if len(starts) < _FEWEST or starts[0] > _MOST_BEFORE * len(lines):
        return False
    longest = max(end - start for start, end in pairwise([*starts, len(lines)]))
    return longest <= max(_MOST_IN_ONE, _MEAN_SECTIONS / len(starts)) * len(lines)


def _chapters(lines: list[str]) -> dict[int, int]:
    """By line: the level."""
    found = [
        (at, f"{title[1]} {title[2]}".lower())
        for at, line in enumerate(lines)
        if len(line) <= _LONGEST
        and (title := _CHAPTER.fullmatch(line.strip()))
        and not title[3][:1].islower()
        and _is_blank(lines, at - 1)
        and (_is_blank(lines, at + 1) or _is_blank(lines, at + 2))  # its name may be below
    ]
    before = (None, *(name for _, name in found))  # the heads of pages repeat the title
    found = [title for title, last in zip(found, before, strict=False) if title[1] != last]
    outer = {at for at, name in found if _OUTER.match(name)}
    levels = {at: 2 if outer and at not in outer else 1 for at, _ in found}
    kept: dict[int, int] = {}
    following = len(lines)
    for at, _ in reversed(found):  # a table of contents has no text between its titles
        if _has_text(lines, at, following) or levels[at] < kept.get(following, 0):
            kept[at] = levels[at]
        following = at
    again = next((at for at, name in found[1:] if name == found[0][1]), 0)
    contents = [at for at, _ in found if at < again]
    if contents and contents[-1] - contents[0] < _LINES_OF_CONTENTS * len(contents):
        kept = {at: level for at, level in kept.items() if at >= again}
    return kept if _cover(kept, lines) else {}


def _numbered(lines: list[str]) -> dict[int, int]:
    """By line: the level. Empty if numbers are missing, or most titles have no text below them."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for at, line in enumerate(lines):
        if len(line) > _LONGEST or not (line[:1].isdigit() or line.startswith("§")):
            continue
        title = _NUMBERED.fullmatch(line.rstrip())
        if (
            title
            and not title[2].endswith(_SENTENCE_END)
            and _is_blank(lines, at - 1)
            and _is_blank(lines, at + 1)
        ):
            found.append((at, tuple(map(int, title[1].split(".")))))
    if len(found) < _FEWEST or found[0][1] not in ((0,), (1,)):
        return {}
    if not all(_follows(number, before) for (_, before), (_, number) in pairwise(found)):
        return {}
    if any(
        len(number) <= len(before) and not _has_text(lines, at, following)
        for (at, before), (following, number) in pairwise(found)
    ):
        return {}
    marks = {at: len(number) for at, number in found}
    return marks if _cover(marks, lines) else {}


def _follows(number: tuple[int, ...], before: tuple[int, ...]) -> bool:
    """Whether it is the next one on its level or a higher one, or the first below."""
    depth = len(number)
    if depth == len(before) + 1:
        return number == (*before, 1)
    return depth <= len(before) and number == (*before[: depth - 1], before[depth - 1] + 1)
