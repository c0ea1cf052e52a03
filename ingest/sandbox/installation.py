"""Whether all that the parsers need is installed: looked at once, when a process starts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from ingest.errors import Permanent, Transient
from ingest.model import MissingModule
from ingest.sandbox.pool import ParserPool

log = structlog.get_logger()

Missing = tuple[MissingModule, ...]


@asynccontextmanager
async def checking(pool: ParserPool) -> AsyncIterator[asyncio.Task[Missing]]:
    """Look in the background; the task's result is what is missing, which is logged, too.

    The extractors are imported in a process of the pool, which is closed afterwards: they would
    make the caller's start slower and hold a hundred megabytes of it.
    """
    task = asyncio.create_task(_check(pool))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _check(pool: ParserPool) -> Missing:
    try:
        missing = await pool.check()
    except (Permanent, Transient) as error:
        log.error("parsers_not_checked", error=str(error))
        return ()
    finally:
        await pool.close()
    if missing:
        log.error("parsers_missing", missing={item.module: list(item.formats) for item in missing})
    return missing
