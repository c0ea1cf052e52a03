"""A real worker on the test database, with handlers that a test makes up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, cast

from ingest.db import Connection, Pool
from ingest.handlers.context import Context
from ingest.handlers.registry import Handler
from ingest.listen import Listener
from ingest.worker.loop import Worker
from tests.builders import job_row


@asynccontextmanager
async def running_worker(
    dsn: str,
    pool: Pool,
    handlers: Mapping[str, Handler],
    *,
    concurrency: int = 4,
    heartbeat: timedelta = timedelta(seconds=1),
    stale_after: timedelta = timedelta(seconds=10),
    context: Context | None = None,
) -> AsyncIterator[Worker]:
    """Started, with its listener; stopped at the end if the test has not done so."""
    listener = Listener(dsn, channels=("rag_jobs",))
    worker = Worker(
        dsn=dsn,
        pool=pool,
        listener=listener,
        # Made-up handlers touch nothing of it.
        context=cast(Context, context),
        handlers=handlers,
        concurrency=concurrency,
        heartbeat=heartbeat,
        stale_after=stale_after,
    )
    await worker.start()
    listener.start()
    try:
        yield worker
    finally:
        await worker.stop(grace=timedelta(seconds=0.1))
        await listener.close()


async def until(
    condition: Callable[[], Awaitable[Any]], *, within: timedelta = timedelta(seconds=20)
) -> Any:
    """Wait for `condition` to return something true, and return it."""
    async with asyncio.timeout(within.total_seconds()):
        while not (found := await condition()):  # noqa: ASYNC110  # a database sets no event
            await asyncio.sleep(0.02)
    return found


async def until_status(conn: Connection, job_id: Any, *statuses: str) -> dict[str, Any]:
    """Wait until a job has one of these states; its row."""

    async def reached() -> dict[str, Any] | None:
        row = await job_row(conn, job_id)
        return row if row["status"] in statuses else None

    return cast(dict[str, Any], await until(reached))
