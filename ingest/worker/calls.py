"""The call of a handler, whatever that does: the worker goes on."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import Handler
from ingest.store.jobs import ClaimedJob

log = structlog.get_logger()

_GRACE: Final = timedelta(seconds=3)


class Calls:
    """Handlers run in tasks of their own, so that one that will not end can be left behind."""

    def __init__(self, *, grace: timedelta = _GRACE) -> None:
        """`grace`: how long a handler may take to let go when it is cancelled."""
        self.left_behind: set[asyncio.Task[Outcome]] = set()
        self._grace = grace.total_seconds()

    async def run(
        self, handler: Handler, job: ClaimedJob, context: Context, progress: Progress
    ) -> Outcome:
        """The handler's outcome; what it raises, as an Exception. Cancellation passes through."""
        task = asyncio.create_task(_call(handler, job, context, progress), name=f"call {job.id}")
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and not _is_cancelling():
                raise RuntimeError("the handler cancelled itself") from None
            await self._end(task, job)
            raise

    async def _end(self, task: asyncio.Task[Outcome], job: ClaimedJob) -> None:
        task.cancel()
        await asyncio.wait([task], timeout=self._grace)
        if not task.done():
            # It holds no slot any more, and by the fence it can write nothing.
            log.error("handler.left_behind", job_id=str(job.id), type=job.type)
            self.left_behind.add(task)
            task.add_done_callback(self.left_behind.discard)
        elif not task.cancelled():
            task.exception()  # seen: the cancellation is what counts


async def _call(handler: Handler, job: ClaimedJob, context: Context, progress: Progress) -> Outcome:
    try:
        outcome = await handler(job, context, progress)
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except Exception:
        raise
    except BaseException as error:
        # `exit()`, or a panic of a native library: no reason to stop the whole service.
        raise RuntimeError(f"the handler raised {type(error).__name__}") from error
    if not isinstance(outcome, Outcome):
        raise TypeError(f"the handler returned {type(outcome).__name__} instead of an Outcome")
    return outcome


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
