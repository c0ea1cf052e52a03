"""Per-process cache of search statistics. Stale values cost time or rank, but never a hit."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

# Only `analyze` updates the statistics, and its runs are hours apart.
_KEPT_SECONDS: Final = 60.0
_MOST_LARGE: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WordShares:
    """The share of chunks that contain a word, from the planner's statistics."""

    common: Mapping[str, float]
    rare: float
    """The share assumed for a word that is not in `common`."""

    def of(self, word: str) -> float:
        return self.common.get(word, self.rare)


@dataclass(slots=True)
class Hints:
    """Shared by all searches of a process."""

    _shares: WordShares | None = None
    _read_at: float = 0.0
    _large: set[tuple[UUID, int]] = field(default_factory=set)

    @property
    def shares(self) -> WordShares | None:
        """None when they must be read: never loaded, or stale."""
        is_fresh = time.monotonic() - self._read_at < _KEPT_SECONDS
        return self._shares if is_fresh else None

    def read(self, shares: WordShares) -> None:
        self._shares, self._read_at = shares, time.monotonic()

    def is_large(self, application_id: UUID, model_id: int) -> bool:
        """Whether the last search found so many vectors that the index is faster."""
        return (application_id, model_id) in self._large

    def note(self, application_id: UUID, model_id: int, *, is_large: bool) -> None:
        if not is_large:
            self._large.discard((application_id, model_id))
            return
        if len(self._large) >= _MOST_LARGE:
            self._large.clear()
        self._large.add((application_id, model_id))
