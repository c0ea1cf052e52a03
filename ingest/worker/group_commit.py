"""Commit outcomes as they arrive; those that arrive during a commit share the next one."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import structlog
from psycopg_pool import PoolTimeout

from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.database import Pool, has_lost_connection, is_database_unavailable
from ingest.worker.batch_completion import BatchCompletion
from ingest.worker.commit import Finished, commit
from ingest.worker.slots import Slot

log = structlog.get_logger()

_MAX_GROUP: Final = 50
# Group size for jobs of which only the row changes, in one short statement.
_MAX_JOB_ONLY_GROUP: Final = 500
# Characters of documents in one statement. A larger outcome gets its own transaction.
_MAX_GROUP_CHARACTERS: Final = 20_000_000
# While one transaction waits for Postgres, another is being prepared.
_COMMITTERS: Final = 2
# Pause before an outcome is retried after the database was unreachable.
_RETRY_SECONDS: Final = 1.0
# If the connection is lost this often while one outcome alone is being written, that outcome is
# the cause: it is too large for the server and may take it down.
_MAX_LOSSES: Final = 6


OnDone = Callable[[Sequence[tuple[Slot, bool | Exception]]], None]


class GroupCommit:
    """Commits in a few tasks. If a group fails, each outcome gets its own transaction."""

    def __init__(self, pool: Pool, *, on_done: OnDone) -> None:
        """`on_done` gets what was decided together, each with True if the outcome is committed,
        False if the lease was lost, or the exception that the write raised.

        While the database is unreachable, commits are retried until the slot is lost. An outcome
        whose write breaks the connection is retried a few times only, with increasing pauses.
        """
        self._pool = pool
        self._on_done = on_done
        self._batches = BatchCompletion(pool)
        self._job_only: deque[tuple[Slot, Finished]] = deque()
        self._others: deque[tuple[Slot, Finished]] = deque()
        self._has_work = asyncio.Event()
        self._pending = 0
        self._all_done = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._run(), name=f"committer {number}")
            for number in range(_COMMITTERS)
        ]
        self._batches.start()

    async def close(self) -> None:
        """Commit what was handed in, then stop."""
        while self._pending:
            self._all_done.clear()
            await self._all_done.wait()
        await cancel_all(*self._tasks)
        await self._batches.close()

    def submit(self, slot: Slot, finished: Finished) -> None:
        """Queue the outcome for commit."""
        (self._job_only if finished.updates_job_only else self._others).append((slot, finished))
        self._pending += 1
        self._has_work.set()

    async def _run(self) -> None:
        while True:
            await self._has_work.wait()
            group = _take_group(self._others) or _take_job_only_group(self._job_only)
            if not group:
                self._has_work.clear()
                continue
            try:
                await self._commit(group)
            except Exception as error:
                # The task must survive: if it ended, later outcomes would never be committed.
                log.error("finish.failed", exc_info=error)
            finally:
                self._pending -= len(group)
                self._all_done.set()

    async def _commit(self, group: list[tuple[Slot, Finished]]) -> None:
        wanted = [(slot, finished) for slot, finished in group if not slot.is_lost]
        try:
            held = await commit(self._pool, [finished for _, finished in wanted])
        except Exception as error:
            await self._not_committed(wanted, error)
            return
        self._batches.jobs_ended(
            finished.ended.job.batch_id
            for _, finished in wanted
            if finished.ended.job.batch_id and finished.ended.status != "pending"
        )
        self._on_done([(slot, slot.job.position in held) for slot, _ in wanted])

    async def _not_committed(self, wanted: list[tuple[Slot, Finished]], error: Exception) -> None:
        if isinstance(error, PoolTimeout):
            self._retry_later(wanted, error)  # pool timeout, not the jobs' fault
        elif len(wanted) > 1:
            for pair in wanted:
                await self._commit([pair])
        else:
            [(slot, finished)] = wanted
            finished.losses += has_lost_connection(error)
            if is_database_unavailable(error) and finished.losses < _MAX_LOSSES:
                self._retry_later(wanted, error)
            else:
                self._on_done([(slot, error)])

    def _retry_later(self, wanted: list[tuple[Slot, Finished]], error: Exception) -> None:
        log.warning("finish.database_lost", error=type(error).__name__)
        for slot, finished in wanted:
            pause = _RETRY_SECONDS * 2 ** max(finished.losses - 1, 0)
            asyncio.get_running_loop().call_later(pause, self.submit, slot, finished)


def _take_group(waiting: deque[tuple[Slot, Finished]]) -> list[tuple[Slot, Finished]]:
    group: list[tuple[Slot, Finished]] = []
    characters = 0
    while waiting and len(group) < _MAX_GROUP:
        characters += waiting[0][1].characters
        if group and characters > _MAX_GROUP_CHARACTERS:
            break
        group.append(waiting.popleft())
    return group


def _take_job_only_group(waiting: deque[tuple[Slot, Finished]]) -> list[tuple[Slot, Finished]]:
    return [waiting.popleft() for _ in range(min(_MAX_JOB_ONLY_GROUP, len(waiting)))]
