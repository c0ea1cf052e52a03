"""How long an attempt may take: in all, and without getting on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from ingest.errors import Transient
from ingest.handlers.context import Progress
from ingest.store.job_types import JobType


@asynccontextmanager
async def deadlines(job_type: JobType, progress: Progress) -> AsyncIterator[None]:
    """Cancel the block when a limit of its type is over; whatever it had started ends with it.

    Raises Transient `stage_timeout`, which says where the attempt was.
    """
    loop = asyncio.get_running_loop()
    stage_seconds = job_type.stage_timeout.total_seconds()
    stage, whole = asyncio.timeout(stage_seconds), asyncio.timeout(job_type.timeout.total_seconds())

    def moved() -> None:
        if not stage.expired():
            stage.reschedule(loop.time() + stage_seconds)

    try:
        async with whole, stage:
            progress.on_move = moved
            try:
                yield
            finally:
                progress.on_move = None
    except TimeoutError:
        if stage.expired():
            raise _too_long("did not get on for", job_type.stage_timeout, progress) from None
        if whole.expired():
            raise _too_long("took longer than", job_type.timeout, progress) from None
        raise


def _too_long(what: str, limit: timedelta, progress: Progress) -> Transient:
    where = f" (stage {progress.stage}, {progress.percent} %)" if progress.stage else ""
    return Transient(f"the job {what} {limit}{where}", code="stage_timeout")
