"""A bounded thread pool for blocking calls that never abandons a call."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from ingest.asynchronous.tasks import wait_uncancelled

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """Runs blocking calls outside of the event loop.

    A cancelled task still waits until its call has ended. So when cleanup code runs, no thread
    uses the same file or object any more.
    """

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="blobs")
        self._begun = asyncio.Semaphore(2 * workers)

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the call in a thread and return its result."""
        running = self._pool.submit(partial(call, *args, **kwargs))
        future = asyncio.wrap_future(running)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not running.cancel():
                await wait_uncancelled(future)
            raise

    async def run_all(self, calls: Iterable[Callable[[], object]]) -> None:
        """Run calls concurrently; all have ended when this returns or raises the first error."""
        results = await asyncio.gather(*map(self.run, calls), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def begin(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Start a call without waiting for it, unless too many started calls are running.

        The limit also bounds the memory held by the calls' arguments.
        """
        await self._begun.acquire()
        running: Future[T] = self._pool.submit(call)
        future = asyncio.wrap_future(running)
        future.add_done_callback(self._end)
        return future

    def _end(self, future: asyncio.Future[T]) -> None:
        self._begun.release()
        if not future.cancelled():
            future.exception()  # mark as retrieved: awaiting still raises, but asyncio logs nothing

    async def close(self) -> None:
        """Wait for running calls, and end the threads."""
        await asyncio.to_thread(self._pool.shutdown)
