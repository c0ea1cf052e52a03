"""Waiting for tasks and events without losing a cancellation.

Before Python 3.12, `asyncio.wait_for` swallows a cancellation that arrives in the moment in which
what it waits for is done; psycopg waits with it, too. A task that was cancelled once may go on.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

_First = TypeVar("_First")
_Second = TypeVar("_Second")

_AGAIN_SECONDS: Final = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until they have ended, whatever their outcome."""
    open_tasks = [task for task in tasks if not task.done()]
    while open_tasks:
        for task in open_tasks:
            task.cancel()
        await asyncio.wait(open_tasks, timeout=_AGAIN_SECONDS)
        open_tasks = [task for task in open_tasks if not task.done()]
    await asyncio.gather(*tasks, return_exceptions=True)


async def both(
    first: Coroutine[Any, Any, _First], second: Coroutine[Any, Any, _Second]
) -> tuple[_First, _Second]:
    """Run both at once, for what they return.

    When one fails, the other is ended, and the error is raised as it is.
    """
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done():
                task.result()
        return tasks[0].result(), tasks[1].result()
    finally:
        await end(*tasks)


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most so long; whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def ended(future: asyncio.Future[Any]) -> None:
    """Wait until `future` is done, whatever came of it, even if our task is cancelled meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if not future.cancelled():
        future.exception()  # seen, so that asyncio does not report it
    if cancelled is not None:
        raise cancelled
