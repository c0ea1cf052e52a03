"""What staged blobs of all stores share: buffering, memory, threads, order of calls."""

import asyncio
from functools import partial
from typing import Generic, Protocol, TypeVar

from ingest.asynchronous.tasks import wait_uncancelled
from ingest.blobs.threads import Threads


class Sink(Protocol):
    """The blocking side of one staged blob. Its calls run in threads, one at a time."""

    def append(self, data: bytes) -> None:
        """Store more bytes."""
        ...

    def finish(self, data: bytes) -> None:
        """Store the last bytes, and close files and connections."""
        ...

    def discard(self) -> None:
        """Remove the stored bytes, also under the final key. Idempotent."""
        ...


class MemoryBudget:
    """Bytes that the uncommitted small blobs of all uploads together may keep in memory."""

    def __init__(self, size: int = 32 * 1024 * 1024) -> None:
        self._left = size

    def take(self, size: int) -> bool:
        """Reserve `size` bytes; False if there is no room."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def give_back(self, size: int) -> None:
        self._left += size


S = TypeVar("S", bound=Sink)


class BufferedBlob(Generic[S]):
    """Buffers small writes. A blob that is small as a whole stays in memory until its commit.

    Most files of a repeated upload are known already, so that nothing of them is ever written. If
    the budget is used up, `finish` starts a call in a thread without waiting for it, so the next
    part of an upload is read meanwhile.
    """

    def __init__(
        self, key: str, sink: S, *, threads: Threads, memory: MemoryBudget, buffer_size: int
    ) -> None:
        self.key = key
        self.sink = sink
        self.kept: bytes | None = None
        """All bytes of the blob, if none of them are stored."""
        self._threads = threads
        self._memory = memory
        self._limit = buffer_size
        self._parts: list[bytes] = []
        self._size = 0
        self._is_sink_used = False
        self._is_committed = False
        self._broken = False
        self._finishing: asyncio.Future[None] | None = None

    async def write(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size < self._limit:
            return
        self._is_sink_used = True
        try:
            await self._threads.run(self.sink.append, self._take())
        except BaseException:
            self._broken = True
            raise

    async def finish(self) -> None:
        if self.kept is not None or self._finishing is not None:
            return
        if not self._is_sink_used and self._memory.take(self._size):
            self.kept = self._take()
            return
        self._is_sink_used = True
        self._finishing = await self._threads.begin(partial(self.sink.finish, self._take()))

    async def finished(self) -> None:
        """Finish, wait for the end, and raise any error of the upload. The sink may be used now."""
        if self._broken:
            raise RuntimeError(f"a write of {self.key} has failed: it can only be discarded")
        await self.finish()
        self._is_sink_used = True
        if self._finishing is not None:
            await asyncio.shield(self._finishing)

    def committed(self) -> None:
        """Its bytes are durable."""
        self._is_committed = True
        self._forget()

    async def discard(self) -> None:
        self._take()
        self._forget()
        try:
            if self._finishing is not None:
                await wait_uncancelled(self._finishing)
        finally:
            if self._is_sink_used and not self._is_committed:
                await self._threads.run(self.sink.discard)

    def _take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return data

    def _forget(self) -> None:
        if self.kept is not None:
            self._memory.give_back(len(self.kept))
            self.kept = None
