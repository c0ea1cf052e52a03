"""Per-process memory of filters that let much pass, so that not every search finds that out again.

A stale entry costs time, but never a hit.
"""

import time
from typing import Final

from ingest.store.search.scope import SearchScope

_KEPT_SECONDS: Final = 60.0
_MOST: Final = 10_000


class BroadFilters:
    """Shared by all searches of a process."""

    def __init__(self) -> None:
        self._noted_at: dict[int, float] = {}

    def has(self, scope: SearchScope) -> bool:
        noted_at = self._noted_at.get(scope.filter_key())
        return noted_at is not None and time.monotonic() - noted_at < _KEPT_SECONDS

    def note(self, scope: SearchScope) -> None:
        if len(self._noted_at) >= _MOST:
            self._noted_at.clear()
        self._noted_at[scope.filter_key()] = time.monotonic()
