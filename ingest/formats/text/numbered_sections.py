"""Headings of plain text that count: `2.1. Coils` of standards, `§ 3 Term`, `CHAPTER II` of books.

Nothing is marked unless the numbers follow one another: a list also has numbers.
"""

import re
from itertools import pairwise

_LONGEST = 80  # characters
_FEWEST = 3
_LARGEST = 20_000_000  # characters of a text; its lines double the memory
_HINT = re.compile(
    r"^(?:§[ \t]*)?[01]\.?[ \t]+[^\W\d_]|^[ \t]*[^\W\d_]+[ \t]+(?:iii|3)\b", re.M | re.I
)
_PAGE_BREAK = re.compile(
    r"(?<!\n)\n+[^\n]{0,200}\[Page \d{1,4}\][ \t]*\n\f(?:[^\n]{1,200}|\n[^\n]{1,200})\n+"
)
_NUMBERED = re.compile(r"(?:§[ \t]*)?(\d{1,2}(?:\.\d{1,2}){0,4})\.?[ \t]+(?=[^\W\d_])(\S.*)")
_CHAPTER = re.compile(
    r"(?:chapter|chapitre|cap[íi]tulo|capitolo|kapitel|hoofdstuk|глава|book|part|buch|teil"
    r"|article|artikel|art[íi]culo|articolo|artigo|section|abschnitt|volume|act|scene|akt|szene"
    r"|adventure|letter|lecture|lesson|canto|stave)[ \t]+"
    r"(?:[ivxlc]{1,8}|\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"\b[.:]?[ \t]*(.*)",
    re.IGNORECASE,
)
_OUTER = re.compile(r"(?:book|part|buch|teil|volume|act|akt)\b", re.IGNORECASE)
_SENTENCE_END = (".", ",", ";", "!")


def with_sections(text: str) -> str:
    """The text with its numbered titles as headings, and RFCs without the ends of their pages."""
    if len(_PAGE_BREAK.findall(text)) > 1:
        text = _PAGE_BREAK.sub(_joined, text)
    if len(text) > _LARGEST or not _HINT.search(text):
        return text
    lines = text.split("\n")
    marks = _chapters(lines) or _numbered(lines)
    for at, level in marks.items():
        lines[at] = f"{'#' * level} {' '.join(lines[at].split())}"
    return "\n".join(lines) if marks else text


def _joined(found: re.Match[str]) -> str:
    """A paragraph that goes on over the page stays one."""
    following = found.string[found.end() : found.end() + _LONGEST].lstrip()
    return "\n" if following[:1].islower() else "\n\n"


def _is_blank(lines: list[str], at: int) -> bool:
    return not 0 <= at < len(lines) or not lines[at] or lines[at].isspace()


def _has_text(lines: list[str], title: int, following: int) -> bool:
    return any(not _is_blank(lines, at) for at in range(title + 1, following))


def _chapters(lines: list[str]) -> dict[int, int]:
    """By line: the level."""
    found = [
        at
        for at, line in enumerate(lines)
        if len(line) <= _LONGEST
        and (title := _CHAPTER.fullmatch(line.strip()))
        and not title[1][:1].islower()
        and _is_blank(lines, at - 1)
        and (_is_blank(lines, at + 1) or _is_blank(lines, at + 2))  # its name may be below
    ]
    if len(found) < _FEWEST:
        return {}
    outer = {at for at in found if _OUTER.match(lines[at].strip())}
    levels = {at: 2 if outer and at not in outer else 1 for at in found}
    kept: dict[int, int] = {}
    following = len(lines)
    for at in reversed(found):  # a table of contents has no text between its titles
        if _has_text(lines, at, following) or levels[at] < kept.get(following, 0):
            kept[at] = levels[at]
        following = at
    return kept


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
    return {at: len(number) for at, number in found}


def _follows(number: tuple[int, ...], before: tuple[int, ...]) -> bool:
    """Whether it is the next one on its level or a higher one, or the first below."""
    depth = len(number)
    if depth == len(before) + 1:
        return number == (*before, 1)
    return depth <= len(before) and number == (*before[: depth - 1], before[depth - 1] + 1)
