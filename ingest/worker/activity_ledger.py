"""Counts the ended attempts of this worker, and stores them every few seconds (rag.activity)."""

import asyncio
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.payloads import file_size
from ingest.postgres.database import Pool, transaction
from ingest.store.overview import activity
from ingest.store.overview.activity import FILE_TYPES, ActivityOutcome, Amounts, Kind
from ingest.worker.commit import Finished

log = structlog.get_logger()

_EVERY: Final = timedelta(seconds=10)
# Older minutes may have been merged into hours: to store them then would count them twice.
_RETRIED_FOR: Final = timedelta(days=1)


class ActivityLedger:
    """Stores at intervals and when it is closed; a process that is killed loses the rest.

    Each minute is stored as a total, so that what was stored already, although the answer was
    lost, is not counted twice.
    """

    def __init__(self, pool: Pool, *, worker_id: UUID) -> None:
        self._pool = pool
        self._worker_id = worker_id
        self._new: defaultdict[Kind, Amounts] = defaultdict(Amounts)
        """Counted since the last time that minutes were stored."""
        self._totals: dict[datetime, defaultdict[Kind, Amounts]] = {}
        """Of the minute that was stored last, and of those that may not have been stored."""
        self._is_stored = True
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._store_forever(), name="activity ledger")

    async def close(self) -> None:
        if self._task is not None:
            await cancel_all(self._task)
        await self.store()

    def add(self, finished: Finished) -> None:
        """Count an attempt. Call it once its end is committed, under the fence."""
        job = finished.ended.job
        outcome = _outcome(finished)
        tokens = _tokens(finished)
        if outcome is None and not tokens:
            return
        amounts = self._new[Kind(job.application_id, job.type, outcome or "completed")]
        amounts.tokens += tokens
        if outcome is not None:  # of an attempt that is given back the job's next one is counted
            amounts.n += 1
            amounts.bytes += _bytes_read(finished)

    async def store(self) -> None:
        """Store what was counted; kept for the next time if the database cannot be reached."""
        if not self._new and self._is_stored:
            return
        try:
            async with transaction(self._pool) as conn:
                minute = await activity.minute(conn)
                self._is_stored = False
                self._count_for(minute)
                await activity.store(conn, worker_id=self._worker_id, totals=self._totals)
        except psycopg.Error as error:
            log.warning("activity_ledger.not_stored", error=type(error).__name__)
            return
        self._is_stored = True
        self._totals = {minute: self._totals[minute]} if minute in self._totals else {}

    def _count_for(self, minute: datetime) -> None:
        """Move what was counted into the total of this minute."""
        new, self._new = self._new, defaultdict(Amounts)
        for kind, amounts in new.items():
            self._totals.setdefault(minute, defaultdict(Amounts))[kind].add(amounts)
        for old in [start for start in self._totals if start < minute - _RETRIED_FOR]:
            del self._totals[old]

    async def _store_forever(self) -> None:
        while True:
            await asyncio.sleep(_EVERY.total_seconds())
            await self.store()


def _outcome(finished: Finished) -> ActivityOutcome | None:
    """None: the attempt was given back."""
    match finished.ended.status:
        case "completed" | "failed" | "review_needed" as ended:
            return ended
        case "pending" if not finished.ended.refund:
            return "retry"
    return None


def _tokens(finished: Finished) -> int:
    if not finished.documents:
        return 0
    return sum(chunk.token_count for new in finished.documents for chunk in new.chunks)


def _bytes_read(finished: Finished) -> int:
    job = finished.ended.job
    if job.type in FILE_TYPES:
        return file_size(job)
    if not finished.documents:
        return 0
    return sum(len(new.document.text.encode()) for new in finished.documents)
