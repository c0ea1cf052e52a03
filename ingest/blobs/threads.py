"""A bounded pool for blocking calls, in which no call is ever abandoned."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from ingest.asynchronous.tasks import ended

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """Runs blocking calls beside the event loop.

    When a waiting task is cancelled, the wait still lasts until the call has ended: whoever cleans
    up next may rely on no thread touching the same file or object any more.
    """

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="blobs")
        self._begun = asyncio.Semaphore(2 * workers)

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The call's result."""
        running = self._pool.submit(partial(call, *args, **kwargs))
        future = asyncio.wrap_future(running)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not running.cancel():
                await ended(future)
            raise

    async def run_all(self, calls: Iterable[Callable[[], object]]) -> None:
        """Run them side by side; all have ended when this returns or raises the first error."""
        results = await asyncio.gather(*map(self.run, calls), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def begin(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Start a call and do not wait for it, unless too many have been begun already.

        That bound also bounds the memory that their arguments hold.
        """
        await self._begun.acquire()
        running: Future[T] = self._pool.submit(call)
        future = asyncio.wrap_future(running)
        future.add_done_callback(self._end)
        return future

    def _end(self, future: asyncio.Future[T]) -> None:
        self._begun.release()
        if not future.cancelled():
            future.exception()  # whoever awaits it is told; if nobody does, asyncio is silent

    async def close(self) -> None:
        """Wait for what runs, and end the threads."""
        await asyncio.to_thread(self._pool.shutdown)
