"""Counts the paragraphs of lists, and writes their numbers: `1.2`, `(a)`, `IV.`"""

import re
from dataclasses import dataclass, field

from ingest.formats.office.count_styles import spelled

_PLACE = re.compile(r"%([1-9])")
LEVELS = 9
_LONGEST = 100  # characters of a label, which every item of its list repeats
_NO_NUMBERS = {"bullet", "none"}


@dataclass(frozen=True, slots=True)
class ListLevel:
    """Numbering of one list level."""

    format: str = "decimal"
    pattern: str = "%1."
    start: int = 1


@dataclass(slots=True)
class CountedList:
    """Numbers the paragraphs of one list; call label() in document order. Levels are 0-based."""

    levels: dict[int, ListLevel]
    counters: list[int | None] = field(default_factory=lambda: [None] * LEVELS)

    def label(self, level: int, start: int | None = None) -> str | None:
        """The number of the next paragraph; empty for a bullet; None if the level has no numbers.

        `start`: the count to begin with again.
        """
        if not 0 <= level < LEVELS:
            return None
        mine = self.levels.get(level, ListLevel())
        before = self.counters[level]
        count = mine.start if before is None else before + 1
        self.counters[level] = count if start is None else start
        self.restart_below(level)
        if mine.format in _NO_NUMBERS:
            return "" if mine.format == "bullet" else None
        return _PLACE.sub(self._shown, mine.pattern[:_LONGEST])[:_LONGEST].strip()

    def restart_below(self, level: int) -> None:
        """Begin the deeper levels again."""
        self.counters[level + 1 :] = [None] * (LEVELS - level - 1)

    def _shown(self, place: re.Match[str]) -> str:
        index = int(place[1]) - 1
        other = self.levels.get(index, ListLevel())
        count = self.counters[index]
        return spelled(other.start if count is None else count, other.format)
