"""What sites answer for addresses that do not exist, remembered for an hour by each process."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

_FRESH_SECONDS: Final = 3600.0
_MOST_PER_ORIGIN: Final = 20  # folders asked: a site with thousands gets few extra requests
_MOST_FOLDERS: Final = 10_000


@dataclass(slots=True)
class _Folder:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    fingerprint: bytes | None = None
    asked_at: float | None = None


class Soft404Memory:
    """Fingerprints of the pages that folders of a site serve with status 200 for any address."""

    def __init__(self) -> None:
        self._folders: dict[tuple[str, str], _Folder] = {}
        self._asked: Counter[str] = Counter()

    async def fingerprint(
        self, origin: str, folder: str, ask: Callable[[], Awaitable[bytes | None]]
    ) -> bytes | None:
        """The fingerprint of the folder's page for a missing address; None if it is an error.

        `ask` finds it out, once per folder and hour.
        """
        if len(self._folders) >= _MOST_FOLDERS:
            self._folders.clear()
            self._asked.clear()
        known = self._folders.setdefault((origin, folder), _Folder())
        async with known.lock:  # pages of a folder are read at the same time
            is_fresh = known.asked_at and time.monotonic() - known.asked_at < _FRESH_SECONDS
            if is_fresh or (known.asked_at is None and self._asked[origin] >= _MOST_PER_ORIGIN):
                return known.fingerprint
            self._asked[origin] += known.asked_at is None
            known.fingerprint = await ask()
            known.asked_at = time.monotonic()
        return known.fingerprint
