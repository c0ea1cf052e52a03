"""The governor: what all workers together may ask of a provider, and when to leave it alone.

A lane is what a limit applies to: `<provider>/<model>#<key>`, or any name that a handler makes up.
Its state is a row of the database, so that all workers see it; only the database's clock counts.

- Rates: a bucket of requests and one of tokens. In no 60 seconds is more granted than the limit.
- Pauses: as long as a provider that limits us says; else 1 s, doubling to 60 s.
- Outages: after three failures in a row the lane pauses 1 s, doubling to 60 s; after each pause one
  request goes ahead, and the others wait for what becomes of it.
"""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

from ingest.db import Pool, transaction
from ingest.errors import ErrorCode, Snooze
from ingest.store import lanes
from ingest.store.by_hand import positive_integer
from ingest.store.lanes import Lane, PauseReason

# A second more than the minute that providers count: requests are under way for different times.
_WINDOW_SECONDS: Final = 61
_BURST_SHARE: Final = 10
_FAILURES_TO_PAUSE: Final = 3
_LONGEST_BACKOFF: Final = timedelta(seconds=60)
# From then on a pause is as long as it gets, and the job that probes pays for it with an attempt:
# it may be its own text that the provider cannot stand.
_FAILURES_SPARED: Final = 9
# Whoever wants to be left alone for longer is asked again after that.
_LONGEST_PAUSE: Final = timedelta(days=1)
# How long the others wait for the one request that probes.
_PROBE: Final = timedelta(seconds=10)
_NARROWEST_SPREAD: Final = timedelta(seconds=2)
_WIDEST_SPREAD: Final = timedelta(minutes=1)
_SHORTEST_WAIT: Final = timedelta(milliseconds=1)

WaitReason = Literal["rate_limited", "provider_unavailable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Of a lane, of all workers together; None: no limit."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Not now."""

    delay: timedelta
    reason: WaitReason
    most_tokens: int | None = None
    """Of a request that need not wait longer than others because of its size; None: any number."""

    def snooze(self, *, code: ErrorCode | None = None, message: str | None = None) -> Snooze:
        """For a job that would rather come back. Its delay spreads the jobs that wait together."""
        widest = min(max(self.delay / 4, _NARROWEST_SPREAD), _WIDEST_SPREAD)
        spread = widest * random.random()  # noqa: S311  # spreads load, guards nothing
        return Snooze(self.delay + spread, reason=self.reason, code=code, message=message)


class Governor:
    """Shared by all of a process. Holds a connection only for the moment of a question."""

    def __init__(self, pool: Pool, *, limits: Mapping[str, Limits] | None = None) -> None:
        """`limits` of lanes for which `limits` in rag.worker_config names none."""
        self._pool = pool
        self._limits = dict(limits or {})

    async def enter(self, lane: str, *, requests: int = 1, tokens: int = 0) -> None:
        """Reserve, for a handler; raises Snooze when it has to wait: no attempt is spent."""
        hold = await self.reserve(lane, requests=requests, tokens=tokens)
        if hold is not None:
            raise hold.snooze()

    async def reserve(self, lane: str, *, requests: int = 1, tokens: int = 0) -> Hold | None:
        """Take so much of the lane's limits; or, with nothing taken, how long to wait.

        More than a bucket holds is granted when it has been full for long enough, as a debt.
        """
        async with transaction(self._pool) as conn:
            now = await lanes.lock(conn, lane)
            if (hold := _pause(now)) is not None:
                return hold
            limits = self._limits_of(lane, now)
            elapsed = max(0.0, (now.now - now.refilled_at).total_seconds())
            requests_left, for_requests = take(
                now.requests, limits.requests_per_minute, requests, elapsed
            )
            tokens_left, for_tokens = take(now.tokens, limits.tokens_per_minute, tokens, elapsed)
            if for_requests or for_tokens:
                delay = timedelta(seconds=max(for_requests, for_tokens))
                return Hold(
                    delay=max(delay, _SHORTEST_WAIT),
                    reason="rate_limited",
                    most_tokens=_burst(limits.tokens_per_minute),
                )
            probes = now.failures >= _FAILURES_TO_PAUSE
            granted = replace(
                now,
                requests=requests_left,
                tokens=tokens_left,
                refilled_at=max(now.now, now.refilled_at),
                paused_until=now.now + _PROBE if probes else None,
                pause_reason="probe" if probes else None,
            )
            await lanes.save(conn, lane, granted)
        return None

    async def paused(self, lane: str) -> Hold | None:
        """How long the lane is still paused; None: it is not. Takes nothing."""
        async with self._pool.connection() as conn:
            pause = await lanes.pause(conn, lane)
        return None if pause is None else Hold(delay=pause.delay, reason=_wait_reason(pause.reason))

    async def limited(self, lane: str, *, retry_after: timedelta | None = None) -> None:
        """The provider limits the rate: pause the lane, exactly as long as it says if it does."""
        async with transaction(self._pool) as conn:
            now = await lanes.lock(conn, lane)
            failures = now.failures + _is_news(now)
            backoff = _backoff(failures) if _is_news(now) else timedelta(0)
            delay = backoff if retry_after is None else retry_after
            await lanes.save(conn, lane, _paused(now, failures, delay, "rate_limited"))

    async def failed(self, lane: str, *, retry_after: timedelta | None = None) -> bool:
        """The provider cannot be reached, or failed by its own fault.

        `retry_after`, if the provider named a time, is obeyed at the first failure. Whether the
        lane pauses and the failure is not the asking job's: that one should wait, not fail.
        """
        async with transaction(self._pool) as conn:
            now = await lanes.lock(conn, lane)
            failures = now.failures + _is_news(now)
            delay = retry_after or timedelta(0)
            if retry_after is None and _is_news(now):
                delay = _backoff(failures - _FAILURES_TO_PAUSE + 1)
            after = _paused(now, failures, delay, "provider_unavailable")
            await lanes.save(conn, lane, after)
        is_spared = retry_after is not None or failures < _FAILURES_SPARED
        return _pause(after) is not None and is_spared

    async def succeeded(self, lane: str) -> None:
        """The provider answered: failures are no longer in a row."""
        async with self._pool.connection() as conn:
            await lanes.succeed(conn, lane)

    def _limits_of(self, lane: str, now: Lane) -> Limits:
        if not isinstance(now.limits, dict):
            return self._limits.get(lane, Limits())
        return Limits(
            requests_per_minute=positive_integer(now.limits.get("requestsPerMinute")),
            tokens_per_minute=positive_integer(now.limits.get("tokensPerMinute")),
        )


class Patience:
    """How long one request waits where it is; beyond that, its job comes back later."""

    def __init__(
        self,
        *,
        longest: timedelta = timedelta(seconds=10),
        total: timedelta = timedelta(seconds=60),
    ) -> None:
        """`longest`: of a single wait."""
        self._longest = longest
        self._left = total

    def allows(self, hold: Hold) -> bool:
        return hold.delay <= min(self._longest, self._left)

    async def wait(self, hold: Hold) -> None:
        """Until it is worth asking again: others may have gone ahead, or a pause be over early."""
        delay = min(hold.delay, timedelta(seconds=1)) * random.uniform(1, 1.1)  # noqa: S311
        self._left -= delay
        await asyncio.sleep(delay.total_seconds())


def take(
    left: float | None, limit: int | None, amount: int, elapsed: float
) -> tuple[float | None, float]:
    """What is left after taking `amount`, or how many seconds until that is allowed. Pure.

    A bucket holds a tenth of the limit, and is refilled so slowly that both together stay within
    the limit. Only a request larger than the bucket may use what runs over while nobody asks: in
    the minute before it, less was granted; in the minute after it, its debt is paid.
    """
    burst = _burst(limit)
    if limit is None or burst is None:
        return None, 0.0
    rate = (limit - burst + 1) / _WINDOW_SECONDS
    filled = float(limit) if left is None else left + rate * elapsed
    if amount == 0:
        return filled, 0.0
    needed = min(amount, limit)
    if filled < needed:
        return left, (needed - filled) / rate
    return min(filled, burst) - amount, 0.0


def _burst(limit: int | None) -> int | None:
    return None if limit is None else max(1, limit // _BURST_SHARE)


def _backoff(failures: int) -> timedelta:
    """After that many failures in a row; none before the first."""
    if failures < 1:
        return timedelta(0)
    return min(_LONGEST_BACKOFF, timedelta(seconds=2 ** min(failures - 1, 30)))


def _is_news(lane: Lane) -> bool:
    """Whether a failure tells more than the pause does: not of requests sent before it began."""
    return lane.pause_reason == "probe" or _pause(lane) is None


def _pause(lane: Lane) -> Hold | None:
    if lane.paused_until is None or lane.paused_until <= lane.now:
        return None
    return Hold(delay=lane.paused_until - lane.now, reason=_wait_reason(lane.pause_reason))


def _wait_reason(reason: PauseReason | None) -> WaitReason:
    return "rate_limited" if reason == "rate_limited" else "provider_unavailable"


def _paused(lane: Lane, failures: int, delay: timedelta, reason: PauseReason) -> Lane:
    """The lane after a failure; a pause under way is never cut short."""
    until = lane.now + min(delay, _LONGEST_PAUSE)
    if not _is_news(lane) and lane.paused_until is not None and lane.paused_until >= until:
        return replace(lane, failures=failures)
    return replace(lane, failures=failures, paused_until=until, pause_reason=reason)
