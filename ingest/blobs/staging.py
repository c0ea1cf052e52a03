"""What staged blobs of all stores share: buffering, threads, order of calls."""

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
        """Remove the stored bytes, also under the final key, unless committed."""
        ...


S = TypeVar("S", bound=Sink)


class BufferedBlob(Generic[S]):
    """Buffers small writes, so that a small file takes a single call in a thread.

    `finish` starts that call without waiting, so the next part of an upload is read meanwhile.
    """

    def __init__(self, key: str, sink: S, *, threads: Threads, buffer_size: int) -> None:
        self.key = key
        self.sink = sink
        self._threads = threads
        self._limit = buffer_size
        self._parts: list[bytes] = []
        self._size = 0
        self._broken = False
        self._finishing: asyncio.Future[None] | None = None

    async def write(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size < self._limit:
            return
        try:
            await self._threads.run(self.sink.append, self._take())
        except BaseException:
            self._broken = True
            raise

    async def finish(self) -> None:
        if self._finishing is None:
            self._finishing = await self._threads.begin(partial(self.sink.finish, self._take()))

    async def finished(self) -> None:
        """Finish, wait for the end, and raise any error of the upload."""
        if self._broken:
            raise RuntimeError(f"a write of {self.key} has failed: it can only be discarded")
        await self.finish()
        if self._finishing is not None:
            await asyncio.shield(self._finishing)

    async def discard(self) -> None:
        self._take()
        try:
            if self._finishing is not None:
                await wait_uncancelled(self._finishing)
        finally:
            await self._threads.run(self.sink.discard)

    def _take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return data
