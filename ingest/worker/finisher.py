"""Commit outcomes as they come in: those that have come in meanwhile share a transaction."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import structlog
from psycopg_pool import PoolTimeout

from ingest.asynchronous.tasks import end
from ingest.postgres.database import Pool, has_lost_connection, is_out_of_reach
from ingest.worker.batches import BatchCompletion
from ingest.worker.finish import Finished, commit
from ingest.worker.slots import Slot

log = structlog.get_logger()

_LARGEST_GROUP: Final = 50
# Of jobs of which only the row changes, in one short statement.
_LARGEST_BARE_GROUP: Final = 500
# Characters of documents, which go into one statement: one of more has a transaction of its own.
_LARGEST_TEXTS: Final = 20_000_000
# While one transaction waits for Postgres, the other is being written.
_COMMITTERS: Final = 2
# How long to wait before the database is tried again with a finished job in hand.
_PAUSE_SECONDS: Final = 1.0
# An outcome that was being written by itself each time that the connection was lost is the reason
# for it: too large for the server, which it may take down for everybody.
_MOST_LOSSES: Final = 6


class Finisher:
    """Commits in a few tasks. If a group fails, each gets a transaction of its own."""

    def __init__(self, pool: Pool, *, on_done: Callable[[Slot, bool | Exception], None]) -> None:
        """`on_done` hears what came of each: whether the job was still ours and the outcome is
        committed, or what the write raised.

        While the database is out of reach it is tried again, until the slot is lost; but what is
        written when the connection breaks off is tried a few times only, with longer pauses.
        """
        self._pool = pool
        self._on_done = on_done
        self._batches = BatchCompletion(pool)
        self._bare: deque[tuple[Slot, Finished]] = deque()
        self._others: deque[tuple[Slot, Finished]] = deque()
        self._some = asyncio.Event()
        self._open = 0
        self._all_done = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._run(), name=f"committer {number}")
            for number in range(_COMMITTERS)
        ]
        self._batches.start()

    async def close(self) -> None:
        """Stop after what was handed in is committed."""
        while self._open:
            self._all_done.clear()
            await self._all_done.wait()
        await end(*self._tasks)
        await self._batches.close()

    def hand_in(self, slot: Slot, finished: Finished) -> None:
        """Commit soon."""
        (self._bare if finished.is_bare else self._others).append((slot, finished))
        self._open += 1
        self._some.set()

    async def _run(self) -> None:
        while True:
            await self._some.wait()
            group = _not_too_large(self._others) or _bare(self._bare)
            if not group:
                self._some.clear()
                continue
            try:
                await self._commit(group)
            except Exception as error:
                # A committer that ends would leave the others' outcomes uncommitted.
                log.error("finish.failed", exc_info=error)
            finally:
                self._open -= len(group)
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
        are_all_held = len(held) == len(wanted)
        for slot, _ in wanted:
            self._on_done(slot, are_all_held or slot.job.id in held)

    async def _not_committed(self, wanted: list[tuple[Slot, Finished]], error: Exception) -> None:
        if isinstance(error, PoolTimeout):
            self._commit_later(wanted, error)  # it is none of theirs that nothing was reached
        elif len(wanted) > 1:
            for pair in wanted:
                await self._commit([pair])
        else:
            [(slot, finished)] = wanted
            finished.losses += has_lost_connection(error)
            if is_out_of_reach(error) and finished.losses < _MOST_LOSSES:
                self._commit_later(wanted, error)
            else:
                self._on_done(slot, error)

    def _commit_later(self, wanted: list[tuple[Slot, Finished]], error: Exception) -> None:
        log.warning("finish.database_lost", error=type(error).__name__)
        for slot, finished in wanted:
            pause = _PAUSE_SECONDS * 2 ** max(finished.losses - 1, 0)
            asyncio.get_running_loop().call_later(pause, self.hand_in, slot, finished)


def _not_too_large(waiting: deque[tuple[Slot, Finished]]) -> list[tuple[Slot, Finished]]:
    group: list[tuple[Slot, Finished]] = []
    characters = 0
    while waiting and len(group) < _LARGEST_GROUP:
        characters += waiting[0][1].characters
        if group and characters > _LARGEST_TEXTS:
            break
        group.append(waiting.popleft())
    return group


def _bare(waiting: deque[tuple[Slot, Finished]]) -> list[tuple[Slot, Finished]]:
    return [waiting.popleft() for _ in range(min(_LARGEST_BARE_GROUP, len(waiting)))]
