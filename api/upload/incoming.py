"""Bytes of uploads that this process is receiving, which no row counts yet."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from fastapi.requests import HTTPConnection

from api.problems import InsufficientStorage
from ingest.disk_reserve import DiskReserve
from ingest.quotas import Excess, Room

# Bytes of one upload between two looks at the disk.
_BYTES_PER_CHECK: Final = 8 * 1024 * 1024


class Incoming:
    """The bytes of all uploads of this process, by application."""

    def __init__(self, disk: DiskReserve) -> None:
        self._disk = disk
        self._bytes: Counter[UUID] = Counter()

    async def require_disk(self) -> None:
        """Raise InsufficientStorage if a disk has less free space than the reserve."""
        if low := await self._disk.low():
            raise InsufficientStorage(
                f"the disk of the {' and the '.join(low)} is nearly full; uploads are refused"
                f" until {self._disk.reserve} bytes are free"
            )

    @contextmanager
    def upload(self, application_id: UUID, room: Room) -> Iterator["IncomingUpload"]:
        """The bytes of one upload; `room` as it was when the upload began."""
        upload = IncomingUpload(self._bytes, self.require_disk, application_id, room)
        try:
            yield upload
        finally:
            upload.release(upload.size)
            if not self._bytes[application_id]:
                del self._bytes[application_id]


def incoming_of(connection: HTTPConnection) -> Incoming:
    """The counts that the application's lifespan created."""
    incoming: Incoming = connection.app.state.incoming
    return incoming


class IncomingUpload:
    """Admits the bytes of one upload while they fit the quota and the disk."""

    def __init__(
        self,
        counts: Counter[UUID],
        require_disk: Callable[[], Awaitable[None]],
        application_id: UUID,
        room: Room,
    ) -> None:
        self._counts = counts
        self._require_disk = require_disk
        self._application_id = application_id
        self._quota = room.quotas.staged_bytes
        self._staged = room.used.staged_bytes
        self._unchecked = 0
        self.size = 0

    async def add(self, size: int) -> Excess | None:
        """Count bytes before they are written, or return the quota that they would exceed.

        Raises InsufficientStorage.
        """
        used = self._staged + self._counts[self._application_id]
        if used + size > self._quota:
            return Excess(quota="stagedBytes", limit=self._quota, used=used, needed=size)
        self._counts[self._application_id] += size
        self.size += size
        self._unchecked += size
        if self._unchecked >= _BYTES_PER_CHECK:
            self._unchecked = 0
            await self._require_disk()
        return None

    def release(self, size: int) -> None:
        """Bytes of a file that was refused, or of an upload that has ended."""
        self._counts[self._application_id] -= size
        self.size -= size
