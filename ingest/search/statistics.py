"""Per-process cache of search statistics. Stale values cost time or rank, but never a hit."""

import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from ingest.postgres.database import Connection
from ingest.store.search import keyword_search
from ingest.store.search.keyword_search import WordShares

# Only `analyze` updates the statistics, and its runs are hours apart.
_KEPT_SECONDS: Final = 60.0
_MOST_LARGE: Final = 10_000
# Of every word, before the first `analyze`.
_UNKNOWN_SHARE: Final = 0.001


@dataclass(slots=True)
class SearchStatistics:
    """Shared by all searches of a process."""

    _shares: WordShares | None = None
    _read_at: float = 0.0
    _large: set[tuple[UUID, int]] = field(default_factory=set)

    @property
    def shares(self) -> WordShares | None:
        """The cached shares; None if they were never loaded or are stale."""
        is_fresh = time.monotonic() - self._read_at < _KEPT_SECONDS
        return self._shares if is_fresh else None

    async def word_shares(self, conn: Connection) -> WordShares:
        if self.shares is not None:
            return self.shares
        shares = await keyword_search.word_shares(conn)
        if shares is None:
            return WordShares(common={}, rare=_UNKNOWN_SHARE)
        self.keep(shares)
        return shares

    def keep(self, shares: WordShares) -> None:
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
