"""A TCP proxy in front of a server that cuts, withholds and delays."""

import asyncio
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

T = TypeVar("T")

Mode = Literal["open", "slow", "silent", "deaf", "closed"]
"""silent: nothing passes; deaf: requests arrive, their answers do not; closed: connections end, new
ones at once, and what was withheld is lost."""
MODES: Final[dict[str, Mode]] = {mode: mode for mode in get_args(Mode)}

_DELAY_SECONDS = 0.03


class Proxy:
    """Listens on `port`, in a thread of its own."""

    def __init__(self, target: Path | int) -> None:
        """`target`: a Unix socket, or a port of this host."""
        self.disturbed = 0
        """Connections that were cut, and pieces that were delayed or withheld."""
        self._target = target
        self._mode: Mode = "open"
        self._next: tuple[int, Mode] | None = None
        self._opened = asyncio.Event()
        self._opened.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]

    def set(self, mode: Mode) -> None:
        async def change() -> None:
            self._change(mode)

        self._run(change())

    def _change(self, mode: Mode) -> None:
        self._mode = mode
        if mode == "closed":
            self._cut()
        if mode in ("silent", "deaf"):
            self._opened.clear()
        else:
            self._opened.set()

    def cut(self) -> None:
        """End all connections without a goodbye, on both sides."""

        async def end() -> None:
            self._cut()

        self._run(end())

    def set_after(self, count: int, mode: Mode) -> None:
        """Be in a mode as soon as so many bytes of requests have passed."""

        async def change() -> None:
            self._next = (count, mode)

        self._run(change())

    def _cut(self) -> None:
        self.disturbed += len(self._tasks)
        for task in self._tasks:
            task.cancel()

    def close(self) -> None:
        async def end() -> None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._connect(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # cut, or the server is down
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        if self._mode == "closed":
            return
        if isinstance(self._target, int):
            backend, to_backend = await asyncio.open_connection("127.0.0.1", self._target)
        else:
            backend, to_backend = await asyncio.open_unix_connection(str(self._target))
        try:
            await asyncio.gather(
                self._pump(reader, to_backend, is_answer=False),
                self._pump(backend, writer, is_answer=True),
            )
        finally:
            to_backend.transport.abort()

    async def _pump(self, reader: StreamReader, writer: StreamWriter, *, is_answer: bool) -> None:
        while data := await reader.read(65536):
            if self._mode == "slow":
                self.disturbed += 1
                await asyncio.sleep(_DELAY_SECONDS)
            elif self._mode == "silent" or (self._mode == "deaf" and is_answer):
                self.disturbed += 1
                await self._opened.wait()
            writer.write(data)
            await writer.drain()
            if not is_answer and self._next is not None:
                rest, mode = self._next[0] - len(data), self._next[1]
                self._next = None if rest <= 0 else (rest, mode)
                if rest <= 0:
                    self._change(mode)
        with suppress(OSError):
            writer.write_eof()
        if is_answer:
            raise ConnectionResetError  # the backend has ended: so does the connection
