"""Claim jobs: applications take turns, but every tenth claim begins with the oldest job.

Limits span all workers.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection
from ingest.store.queue import claims, job_types
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import job_events
from ingest.worker.round_robin import WeightedRoundRobin
from ingest.worker.slot_shares import SlotShares

# Cache time of application weights and of job type settings such as timeouts. Which types are
# claimable, and which of them are limited, is read for each claim.
_CACHED: Final = timedelta(seconds=1)
# Every so many claims, the first job goes by age alone.
_BY_AGE_EVERY: Final = 10
# Retry interval while ready jobs are locked by another claim, which ends soon.
CONTENTION_DELAY: Final = timedelta(milliseconds=20)
# No notification tells us that another worker ended a job of a type with `max_concurrent`.
_LIMITED_POLL: Final = timedelta(milliseconds=250)


class Claiming:
    """Claims in the caller's transaction. Weights and timeouts may be a second old."""

    def __init__(
        self, *, worker: UUID, handlers: Mapping[str, Handler], shares: SlotShares | None = None
    ) -> None:
        """`shares`: the use of this worker's slots; None: it has none yet."""
        self.types: Mapping[str, JobType] = {}
        self._worker = worker
        self._handlers = list(handlers)
        self._shares = shares or SlotShares({})
        self._round_robin = WeightedRoundRobin()
        self._claimable: list[str] = []
        self._limited: list[str] = []
        self._limited_and_ready: list[str] = []
        self._weights: Mapping[UUID, int] = {}
        self._read_at = float("-inf")
        self._claims = 0
        self._was_empty = False
        self._wait: timedelta | None = None

    async def take(self, conn: Connection, batch: int) -> list[ClaimedJob]:
        """Claim up to `batch` jobs and announce their start.

        After an empty claim, the oldest job is claimed alone: that takes half the time and, since
        more slots are free, delays no other application.
        """
        await claims.begin(conn)
        await self._refresh(conn)
        if self._was_empty and batch > 1:
            claimed = await self._claim_oldest(conn)
            if claimed:
                return claimed
        claimed = await self._claim_in_turn(conn, batch)
        self._was_empty = not claimed
        return claimed

    async def take_reserved(self, conn: Connection, *, free: int) -> list[ClaimedJob]:
        """Claim a job for one of `free` reserved slots, and announce its start.

        Only of an application that holds fewer slots than that, and has used them for at most half
        as long as any other holder: so the last reserved slots are left to newcomers.
        """
        await claims.begin(conn)
        await self._refresh(conn)
        return await self._claim_in_turn(conn, 1, most_held=free)

    async def _claim_oldest(self, conn: Connection) -> list[ClaimedJob]:
        self._was_empty = False
        free = [type for type in self._claimable if type not in self._limited]
        claimed = await claims.claim_oldest(conn, types=free, worker=self._worker)
        await job_events.jobs_claimed(conn, claimed)
        return claimed

    async def _claim_in_turn(
        self, conn: Connection, batch: int, *, most_held: int | None = None
    ) -> list[ClaimedJob]:
        allowed = await self._allowed(conn)
        types = [type for type in self._claimable if allowed.get(type, 1) > 0]
        if not types:
            return []
        claimed = await self._claim(conn, types, batch, allowed, most_held)
        started = Counter(job.type for job in claimed if job.type in allowed)
        if started:
            await claims.charge_rate_limits(conn, started)
        await job_events.jobs_claimed(conn, claimed)
        return claimed

    async def retry_delay(self, conn: Connection) -> timedelta | None:
        """Call after an empty claim: when to look again; None if no job is ready for us."""
        if await claims.ready_types(conn, self._claimable):
            self._round_robin.jump()
            return self._wait or CONTENTION_DELAY
        return None

    async def _claim(
        self,
        conn: Connection,
        types: Sequence[str],
        batch: int,
        allowed: Mapping[str, int],
        most_held: int | None,
    ) -> list[ClaimedJob]:
        self._claims += most_held is None
        oldest: list[ClaimedJob] = []
        if most_held is None and self._claims % _BY_AGE_EVERY == 0:
            oldest = await claims.claim_oldest(conn, types=types, worker=self._worker)
            taken = Counter(job.type for job in oldest)
            allowed = {type: left - taken[type] for type, left in allowed.items()}
        if len(oldest) == batch:
            return oldest
        claimed = await claims.claim(
            conn,
            types=types,
            batch=batch - len(oldest),
            worker=self._worker,
            cursor=self._round_robin.cursor,
            allowed=allowed,
            weights=self._weights,
            held=self._shares.held() if most_held is None else self._shares.held_by_light_ones(),
            most_held=most_held,
        )
        self._round_robin.advance(claimed, self._weights)
        return [*oldest, *claimed]

    async def _allowed(self, conn: Connection) -> dict[str, int]:
        """Remaining allowance of each limited type; locks the lanes of those with ready jobs.

        Limited types without ready jobs get 0: their lane is not locked, so a job that arrives
        before the claim must not be taken.
        """
        self._wait = None
        nothing = {type: 0 for type in self._limited if type not in self._limited_and_ready}
        if not self._limited_and_ready:
            return nothing
        left = await claims.allowances(conn, self._limited_and_ready)
        used_up = [row for row in left if row.allowance < 1]
        if used_up:
            waits = [row.wait_seconds for row in used_up if row.wait_seconds is not None]
            rated = timedelta(seconds=min(waits, default=_LIMITED_POLL.total_seconds()))
            self._wait = min(max(rated, CONTENTION_DELAY), _LIMITED_POLL)
        return nothing | {row.type: row.allowance for row in left}

    async def _refresh(self, conn: Connection) -> None:
        claimable = await claims.claimable_types(conn, handlers=self._handlers)
        self._claimable = [row.type for row in claimable]
        self._limited = [row.type for row in claimable if row.is_limited]
        self._limited_and_ready = [row.type for row in claimable if row.is_limited_and_ready]
        is_fresh = time.monotonic() - self._read_at <= _CACHED.total_seconds()
        if is_fresh and self.types.keys() >= set(self._claimable):
            return
        self.types = {row.type: row for row in await job_types.all_types(conn)}
        self._weights = await claims.weights(conn)
        self._read_at = time.monotonic()
