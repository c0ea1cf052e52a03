"""Checks once, when a process starts, whether everything that the parsers need is installed."""

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
    """Check in the background; the task logs and returns the missing modules.

    A process of the pool imports the extractors, and the pool is closed afterwards. In the caller,
    they would slow down the start and occupy 100 MB.
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
