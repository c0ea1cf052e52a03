"""Free space on the disks that this process writes to, and what must stay free for jobs."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

# Uploads ask often.
_CACHE_SECONDS: Final = 0.25


class DiskReserve:
    """Free bytes by volume: `files` for the blob store, `database` for the embedded Postgres."""

    def __init__(
        self,
        folders: Mapping[str, Path] | None = None,
        *,
        reserve: int = 0,
        free_bytes: Callable[[Path], int | None] | None = None,
    ) -> None:
        """`reserve`: bytes; 0: no reserve. `free_bytes`: of the file system of a folder."""
        self._folders = dict(folders or {})
        self._free_bytes = free_bytes or _free_bytes
        self._last: dict[str, int] = {}
        self._good_until = float("-inf")
        self.reserve = reserve

    async def free(self) -> Mapping[str, int]:
        """Free bytes by volume, without volumes that cannot be asked."""
        if time.monotonic() >= self._good_until:
            self._last = await asyncio.to_thread(self._read)
            self._good_until = time.monotonic() + _CACHE_SECONDS
        return self._last

    async def low(self) -> list[str]:
        """The volumes with less free space than the reserve."""
        if not self.reserve:
            return []
        return [name for name, free in (await self.free()).items() if free < self.reserve]

    def _read(self) -> dict[str, int]:
        found = ((name, self._free_bytes(folder)) for name, folder in self._folders.items())
        return {name: free for name, free in found if free is not None}


def _free_bytes(folder: Path) -> int | None:
    """Bytes that a user other than root may still write; None if the system does not say."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        state = os.statvfs(folder)
    except OSError:
        return None
    return state.f_bavail * state.f_frsize
