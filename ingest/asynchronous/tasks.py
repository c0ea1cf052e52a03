"""Waits for tasks and events without losing a cancellation.

Before Python 3.12, `asyncio.wait_for` swallows a cancellation that arrives just as the awaited
task finishes. psycopg uses it too, so a task that was cancelled once may continue.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

_First = TypeVar("_First")
_Second = TypeVar("_Second")

_AGAIN_SECONDS: Final = 0.5


async def cancel_all(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks repeatedly until all have ended; ignore their outcome."""
    open_tasks = [task for task in tasks if not task.done()]
    while open_tasks:
        for task in open_tasks:
            task.cancel()
        await asyncio.wait(open_tasks, timeout=_AGAIN_SECONDS)
        open_tasks = [task for task in open_tasks if not task.done()]
    await asyncio.gather(*tasks, return_exceptions=True)


async def run_both(
    first: Coroutine[Any, Any, _First], second: Coroutine[Any, Any, _Second]
) -> tuple[_First, _Second]:
    """Run both concurrently and return both results.

    If one fails, cancel the other and raise the error unchanged.
    """
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done():
                task.result()
        return tasks[0].result(), tasks[1].result()
    finally:
        await cancel_all(*tasks)


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait up to `seconds` for an event; return whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def wait_uncancelled(future: asyncio.Future[Any]) -> None:
    """Wait until `future` is done, even if our task is cancelled meanwhile; ignore its outcome."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if not future.cancelled():
        future.exception()  # mark as retrieved, so that asyncio does not log it
    if cancelled is not None:
        raise cancelled
