"""Levels of headings: by their numbers, and by their sizes relative to the numbered ones."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ingest.formats.pdf.headings.candidates import CJK, NUMBERED, is_section_word
from ingest.formats.pdf.layout.text_lines import Line

_ALIKE = 0.95  # ratio of two font sizes that share a level
_ROMAN = re.compile(r"[IVX]+\.\s")
_DEEPEST = 6
# Names of numbered divisions, from the largest.
_KINDS = [
    re.compile(rf"(?:{names})(?:\s*\d|\s+[IVXLC]+\b)|第.{{1,4}}[{ends}]|{counted}", re.IGNORECASE)
    for names, ends, counted in (
        ("part|book|title|teil|buch|partie|livre|titre|parte|libro|t[ií]tulo|часть", "編编部", "$"),
        ("chapter|kapitel|chapitre|cap[ií]tulo|capitolo|rozdział|глава", "章", rf"[{CJK}]+、"),
        ("section|abschnitt|secci[oó]n|sezione|раздел", "節节", rf"[(\uff08][{CJK}]+[)\uff09]"),
        ("§|articles?|artikel|art\\.|art[ií]culo|articolo|статья|clause", "条條", "$"),
    )
]

Rank = tuple[float, int]
"""Negative font size; among headings of one size, dots in the number or kind of division."""


def set_levels(headings: Sequence[Line], body: float, larger: float) -> None:
    """Set each heading's level, 1 for the highest, not limited.

    Headings whose numbers have as many parts share a level, below those with fewer parts; so do
    headings without numbers and those of about their size. Up to `larger` times the size of the
    body, headings without numbers are below all others.
    """
    numbers = {id(line): _depth(line.text) for line in headings}
    if sum(bool(_ROMAN.match(line.text)) for line in headings) > 1 and 0 not in numbers.values():
        numbers |= {id(line): 0 for line in headings if _ROMAN.match(line.text)}
        letters = (line for line in headings if re.match(r"[A-Z]\.\s", line.text))
        numbers |= {id(line): 1 for line in letters if not _ROMAN.match(line.text)}
    by_depth = _ranks_of_depths(headings, numbers)
    ranks: dict[int, Rank] = {}
    sizes = sorted({round(line.size, 1) for line in headings}, reverse=True)
    tiers = _tiers(sizes)
    kinds = [kind for line in headings if (kind := _kind(line.text)) is not None]
    highest = min(kinds, default=0)
    for line in headings:
        depth, kind = numbers[id(line)], _kind(line.text)
        kind = highest if kind is None else kind
        if depth is None and is_section_word(line.text) and line.size < -by_depth.get(0, (0,))[0]:
            depth = 0
        if depth in by_depth:
            ranks[id(line)] = by_depth[depth]
        elif line.size <= larger * body:
            ranks[id(line)] = 0.0, kind
        else:
            tier = -tiers[round(line.size, 1)]
            ranks[id(line)] = _beside(line.size, by_depth) or (tier, kind)
    levels = {rank: level for level, rank in enumerate(sorted(set(ranks.values())), start=1)}
    for line in headings:
        line.level = levels[ranks[id(line)]]


def close_gaps(headings: Sequence[Line]) -> None:
    """Number the levels that are left from 1 to 6; the rarest join the next one."""
    times = Counter(line.level for line in headings)
    levels = sorted(times)
    while len(levels) > _DEEPEST:
        rarest = min(levels[:-1], key=times.__getitem__)
        levels.remove(rarest)
    for line in headings:
        line.level = bisect_left(levels, line.level) + 1


def _kind(text: str) -> int | None:
    """From 0 for a part to 3 for an article; None without such a name."""
    return next((place for place, kind in enumerate(_KINDS) if kind.match(text)), None)


def _depth(text: str) -> int | None:
    """Dots in the number of a heading; None if it has none, or only a letter or a Roman one."""
    if not NUMBERED.match(text):
        return None
    number = text.split(maxsplit=1)[0].rstrip(".")
    dots = number.count(".")
    return dots if number[0].isdecimal() or dots else None


def _ranks_of_depths(
    headings: Sequence[Line], numbers: Mapping[int, int | None]
) -> dict[int, Rank]:
    """By the size that most headings of a depth have, but below those of fewer parts.

    Depths set smaller than a deeper one number other things, such as items.
    """
    sizes: dict[int, Counter[float]] = defaultdict(Counter)
    for line in headings:
        depth = numbers[id(line)]
        if depth is not None:
            sizes[depth][round(line.size, 1)] += 1
    ranks: dict[int, Rank] = {}
    largest = 0.0
    for depth, of_depth in sorted(sizes.items(), reverse=True):
        size = of_depth.most_common(1)[0][0]
        if size > _ALIKE * largest:
            largest = max(largest, size)
            ranks[depth] = -largest, depth
    return ranks


def _beside(size: float, by_depth: Mapping[int, Rank]) -> Rank | None:
    """The rank of the deepest numbered headings of about this size."""
    alike = [
        rank for rank in by_depth.values() if _ALIKE * size < -rank[0] and _ALIKE * -rank[0] < size
    ]
    return max(alike, default=None)


def _tiers(sizes: Sequence[float]) -> dict[float, float]:
    """The largest of the sizes with which each size shares a level."""
    tiers: dict[float, float] = {}
    first = float("inf")
    for size in sizes:
        if size < _ALIKE * first:
            first = size
        tiers[size] = first
    return tiers
