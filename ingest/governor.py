"""The governor: rate limits and circuit breaker of providers, shared by all workers.

A lane is what a limit applies to: `<provider>/<model>#<key>`, or any name that a handler chooses.
Its state is a database row, so that all workers share it; only the database's clock is used.

- Rate limits: a token bucket for requests, one for tokens. No window of 60 s exceeds the limit.
- Rate-limit pauses: as long as the provider asks; otherwise 1 s, doubling to 60 s.
- Pauses by the operator: until the operator resumes the lane; nothing is sent, not even a probe.
- Circuit breaker: after three failures in a row, or one that an operator must fix, the lane
  pauses 1 s, doubling to 60 s, or to 15 s if the cause is known. After each pause, one request
  probes the provider while the rest wait for the result. The lane stores the cause of the failure.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal

import structlog

from ingest.errors import ErrorCode, Snooze
from ingest.postgres.database import Pool, transaction
from ingest.store.lenient_json import positive_integer
from ingest.store.limits import provider_lanes, provider_pauses
from ingest.store.limits.provider_lanes import PROVIDER_CODES, Cause, Lane, LaneState, PauseReason
from ingest.store.limits.worker_config import LaneLimits
from ingest.token_bucket import burst, take

log = structlog.get_logger()

_LONGEST_BACKOFF: Final = timedelta(seconds=60)
_LONGEST_PROBE_PAUSE: Final = timedelta(seconds=15)
# Upper bound on a pause that a provider asks for.
_LONGEST_PAUSE: Final = timedelta(days=1)
# How long other requests wait for the one that probes.
_PROBE: Final = timedelta(seconds=10)
_NARROWEST_SPREAD: Final = timedelta(seconds=2)
_WIDEST_SPREAD: Final = timedelta(minutes=1)
_SHORTEST_WAIT: Final = timedelta(milliseconds=1)

# Should jobs miss that the operator has resumed the provider, they ask again after this.
_UNTIL_RESUMED: Final = timedelta(minutes=15)

WaitReason = Literal["rate_limited", "provider_unavailable", "provider_paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The request must wait."""

    delay: timedelta
    reason: WaitReason
    most_tokens: int | None = None
    """A request of up to this size waits no longer than a smaller one; None: unlimited."""
    cause: Cause | None = None
    """Cause of a provider failure."""
    is_probe_due: bool = False
    """The pause is over: one request should probe the provider."""

    def snooze(self, *, code: ErrorCode | None = None, message: str | None = None) -> Snooze:
        """The Snooze that puts the job back in the queue.

        Jitter keeps waiting jobs from resuming all at once.
        """
        widest = min(max(self.delay / 4, _NARROWEST_SPREAD), _WIDEST_SPREAD)
        spread = widest * random.random()  # noqa: S311  # spreads load, guards nothing
        return Snooze(self.delay + spread, reason=self.reason, code=code, message=message)


STOPPED: Final = Hold(delay=_UNTIL_RESUMED, reason="provider_paused")
"""The operator has paused the provider."""


class Governor:
    """One per process. Uses a connection only during each call."""

    def __init__(self, pool: Pool, *, limits: Mapping[str, LaneLimits] | None = None) -> None:
        """`limits`: defaults for lanes without an entry in `limits` of rag.worker_config."""
        self._pool = pool
        self._limits = dict(limits or {})

    async def enter(self, lane: str, *, requests: int = 1, tokens: int = 0) -> None:
        """Reserve capacity for a handler; raises Snooze, which spends no attempt, to wait."""
        hold = await self.reserve(lane, requests=requests, tokens=tokens)
        if hold is not None:
            raise hold.snooze()

    async def reserve(
        self, lane: str, *, requests: int = 1, tokens: int = 0, may_probe: bool = True
    ) -> Hold | None:
        """Reserve capacity in the lane; if that must wait, reserve nothing and return a Hold.

        A request larger than the bucket is granted as a debt once the bucket has been full for long
        enough. `may_probe`: whether this may be the request that probes a provider that failed.
        """
        async with transaction(self._pool) as conn:
            now = await provider_lanes.lock(conn, lane)
            if now.is_stopped:
                return STOPPED
            if (hold := _current_pause(now)) is not None:
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
                    most_tokens=burst(limits.tokens_per_minute),
                )
            probes = now.failures >= provider_lanes.FAILURES_TO_PAUSE
            if probes and not may_probe:
                return _probe_due(now.cause)
            granted = replace(
                now,
                requests=requests_left,
                tokens=tokens_left,
                refilled_at=max(now.now, now.refilled_at),
                paused_until=now.now + _PROBE if probes else None,
                pause_reason="probe" if probes else None,
            )
            await provider_lanes.save(conn, lane, granted)
        return None

    async def current_hold(self, lane: str) -> Hold | None:
        """A Hold if the lane is paused or due for a probe, else None. Reserves nothing."""
        async with transaction(self._pool) as conn:
            if await provider_pauses.is_paused(conn, lane):
                return STOPPED
            state = await provider_lanes.state(conn, lane)
        if state is None:
            return None
        if state.is_paused and state.delay is not None:
            reason = _wait_reason(state.reason)
            return Hold(delay=state.delay, reason=reason, cause=state.cause)
        if state.failures >= provider_lanes.FAILURES_TO_PAUSE:
            return _probe_due(state.cause)
        return None

    async def is_stopped(self, lane: str) -> bool:
        """Whether the operator has paused the lane."""
        async with transaction(self._pool) as conn:
            return await provider_pauses.is_paused(conn, lane)

    async def state(self, lane: str) -> LaneState | None:
        """The lane's state; None: it has not been used yet."""
        async with transaction(self._pool) as conn:
            return await provider_lanes.state(conn, lane)

    async def record_rate_limit(
        self, lane: str, *, retry_after: timedelta | None = None, cause: Cause | None = None
    ) -> None:
        """Pause the lane after a rate-limit response, exactly for `retry_after` if given."""
        async with transaction(self._pool) as conn:
            now = await provider_lanes.lock(conn, lane)
            failures = now.failures + _counts(now)
            backoff = _backoff(failures) if _counts(now) else timedelta(0)
            delay = backoff if retry_after is None else retry_after
            after = _after_failure(now, failures, delay, "rate_limited")
            if _counts(now):
                after = _with_cause(after, cause, is_failing=now.failing_since is not None)
            await provider_lanes.save(conn, lane, after)

    async def record_failure(
        self,
        lane: str,
        *,
        retry_after: timedelta | None = None,
        cause: Cause | None = None,
        at_once: bool = False,
    ) -> bool:
        """Report that the provider is unreachable or refuses service; True if the lane pauses.

        It pauses at the third failure in a row; at the first if the provider names a time, which is
        obeyed, or if the next request is certain to fail too (`at_once`).
        """
        async with transaction(self._pool) as conn:
            now = await provider_lanes.lock(conn, lane)
            failures = now.failures + _counts(now)
            if at_once:
                failures = max(failures, provider_lanes.FAILURES_TO_PAUSE)
            delay = retry_after or timedelta(0)
            if retry_after is None and _counts(now):
                longest = _LONGEST_BACKOFF if cause is None else _LONGEST_PROBE_PAUSE
                delay = min(longest, _backoff(failures - provider_lanes.FAILURES_TO_PAUSE + 1))
            after = _after_failure(now, failures, delay, "provider_unavailable")
            is_paused = _current_pause(after) is not None
            if _counts(now) or at_once:
                after = _with_cause(after, cause, is_failing=is_paused)
            await provider_lanes.save(conn, lane, after)
        if cause is not None and after.failing_since != now.failing_since:
            log.warning(
                "provider.failing",
                lane=lane,
                code=cause.code,
                http_status=cause.status,
                message=cause.message,
            )
        return is_paused

    async def record_success(self, lane: str, *, wakes_jobs: bool = True) -> None:
        """Reset the failures after a response of the provider, and resume jobs that wait for it."""
        async with transaction(self._pool) as conn:
            was_failing = await provider_lanes.succeed(conn, lane)
        if was_failing:
            log.info("provider.back", lane=lane, jobs=await self.release() if wakes_jobs else 0)

    async def end_pauses(
        self, *, lane: str | None = None, reason: PauseReason | None = None
    ) -> list[str]:
        """End provider pauses, optionally of one lane or reason; returns the lanes it resumed.

        A provider that failed is first probed by one request, without further delay.
        """
        async with transaction(self._pool) as conn:
            return await provider_lanes.end_pauses(conn, lane=lane, reason=reason)

    async def release(self, *, all: bool = False) -> int:
        """Resume jobs that wait for the embedding provider, or any (`all`); returns how many."""
        reasons: list[WaitReason] = ["provider_unavailable", "rate_limited"] if all else []
        return await self._release(PROVIDER_CODES, reasons)

    async def release_stopped(self) -> int:
        """Resume jobs that waited for the operator to resume a provider; returns how many.

        Those of a provider that is still paused wait again.
        """
        return await self._release((), ("provider_paused",))

    async def _release(self, codes: Sequence[str], reasons: Sequence[WaitReason]) -> int:
        released = 0
        while True:
            # In short transactions that do not block the queue.
            async with transaction(self._pool) as conn:
                some = await provider_lanes.release(conn, codes=codes, reasons=reasons)
            released += some
            if some < provider_lanes.RELEASED_AT_ONCE:  # not until 0: new jobs may wait
                return released

    def _limits_of(self, lane: str, now: Lane) -> LaneLimits:
        if not isinstance(now.limits, dict):
            return self._limits.get(lane, LaneLimits())
        return LaneLimits(
            requests_per_minute=positive_integer(now.limits.get("requestsPerMinute")),
            tokens_per_minute=positive_integer(now.limits.get("tokensPerMinute")),
        )


def _backoff(failures: int) -> timedelta:
    """Pause after that many failures in a row; 0 for none."""
    if failures < 1:
        return timedelta(0)
    return min(_LONGEST_BACKOFF, timedelta(seconds=2 ** min(failures - 1, 30)))


def _counts(lane: Lane) -> bool:
    """Whether a failure counts: during a pause only a probe's, as others were sent before it."""
    return lane.pause_reason == "probe" or _current_pause(lane) is None


def _current_pause(lane: Lane) -> Hold | None:
    if lane.paused_until is None or lane.paused_until <= lane.now:
        return None
    delay = lane.paused_until - lane.now
    return Hold(delay=delay, reason=_wait_reason(lane.pause_reason), cause=lane.cause)


def _probe_due(cause: Cause | None) -> Hold:
    return Hold(delay=_SHORTEST_WAIT, reason="provider_unavailable", cause=cause, is_probe_due=True)


def _with_cause(lane: Lane, cause: Cause | None, *, is_failing: bool = False) -> Lane:
    """The lane with the cause of its failure; `is_failing`: the failure pauses the lane."""
    if cause is None:
        return lane
    since = lane.failing_since if lane.error_code == cause.code else None
    return replace(
        lane,
        failing_since=(since or lane.now) if is_failing else None,
        error_code=cause.code,
        error_status=cause.status,
        error_message=cause.message,
    )


def _wait_reason(reason: PauseReason | None) -> WaitReason:
    return "rate_limited" if reason == "rate_limited" else "provider_unavailable"


def _after_failure(lane: Lane, failures: int, delay: timedelta, reason: PauseReason) -> Lane:
    """The lane after a failure; a current pause is never shortened."""
    until = lane.now + min(delay, _LONGEST_PAUSE)
    if not _counts(lane) and lane.paused_until is not None and lane.paused_until >= until:
        return replace(lane, failures=failures)
    return replace(lane, failures=failures, paused_until=until, pause_reason=reason)
