"""The embedding provider's lane: report errors to the governor, translate holds to errors."""

import time
from collections.abc import Mapping, Sequence
from typing import Final, cast

import psycopg
import structlog

from ingest.errors import ErrorCode, Snooze, Transient
from ingest.governor import STOPPED, Governor, Hold
from ingest.postgres.batch_loader import BatchLoader
from ingest.postgres.database import is_database_unavailable
from ingest.providers.embedders.base import Embedder, ProviderFault
from ingest.store.limits.provider_lanes import PROVIDER_CODES, Cause

log = structlog.get_logger()

_LONGEST_MESSAGE: Final = 500
# How long an embedder of this process, whose requests may take a millisecond, goes by what it knows
# of a pause by the operator.
_STOP_KNOWN_SECONDS: Final = 1.0


class EmbeddingLane:
    """The lane of the provider. Without a governor, requests never wait.

    An embedder in this process has no lane name: its requests wait for the operator only.
    """

    def __init__(self, governor: Governor | None, embedder: Embedder) -> None:
        self.name = None if governor is None else embedder.lane
        self._governor = governor
        self._pausable = embedder.lane or f"{embedder.model.provider}/{embedder.model.name}"
        self._is_stopped = False
        self._asked_at = -_STOP_KNOWN_SECONDS
        self._pauses = BatchLoader(self._read_pauses, concerns_all=is_database_unavailable)

    async def hold(self, tokens: int, *, may_probe: bool = False) -> Hold | None:
        """Reserve a request of `tokens`; returns a Hold if it has to wait.

        `may_probe`: whether this request may be the probe of a provider that failed.
        """
        if self._governor is None or self.name is None:
            return await self.stopped()
        return await self._governor.reserve(self.name, tokens=tokens, may_probe=may_probe)

    async def paused(self) -> Hold | None:
        """A Hold while requests have to wait; read after the call, once for concurrent calls."""
        if self._governor is None:
            return None
        return (await self._pauses.get([self._pausable])).get(self._pausable)

    async def _read_pauses(self, names: Sequence[str]) -> Mapping[str, Hold]:
        if self._governor is None or self.name is None:
            hold = await self.stopped(is_fresh=True)
        else:
            hold = await self._governor.current_hold(self.name)
        return {} if hold is None else dict.fromkeys(names, hold)

    async def stopped(self, *, is_fresh: bool = False) -> Hold | None:
        """A Hold while the operator has paused it; known for a second unless `is_fresh`."""
        if self._governor is None:
            return None
        if is_fresh or time.monotonic() - self._asked_at >= _STOP_KNOWN_SECONDS:
            self._is_stopped = await self._governor.is_stopped(self._pausable)
            self._asked_at = time.monotonic()
        return STOPPED if self._is_stopped else None

    async def resumed(self) -> None:
        """Wake the jobs that waited for the operator."""
        if self._governor is not None:
            await self._governor.release_stopped()

    async def reopen(self) -> None:
        """End a pause caused by failures, as the provider works again; wake all waiting jobs."""
        if self._governor is None:
            return
        if self.name is not None:
            await self._governor.end_pauses(lane=self.name, reason="provider_unavailable")
            await self._governor.record_success(self.name)
        # `release` also resumes jobs that wait for another lane: that of an earlier key, model or
        # endpoint.
        await self._governor.release()

    async def succeeded(self) -> None:
        if self._governor is None or self.name is None:
            return
        try:
            await self._governor.record_success(self.name)
        except psycopg.OperationalError as error:
            # A failed report is no reason to discard vectors that were paid for.
            log.warning("lane.not_told", lane=self.name, error=type(error).__name__)

    async def note(self, error: Transient, *, is_certain: bool = False) -> bool:
        """Report a failed request to the governor; returns whether to send it again after a pause.

        `is_certain`: a harmless text failed too, so the request is not the cause.
        """
        if self._governor is None or self.name is None:
            return False
        status = error.status if isinstance(error, ProviderFault) else None
        cause = Cause(code=error.code, status=status, message=str(error)[:_LONGEST_MESSAGE])
        if error.code == "rate_limited":
            await self._governor.record_rate_limit(
                self.name, retry_after=error.retry_after, cause=cause
            )
            return True
        needs_operator = isinstance(error, ProviderFault) and error.needs_operator
        return error.code in PROVIDER_CODES and await self._governor.record_failure(
            self.name,
            retry_after=error.retry_after,
            cause=cause,
            at_once=is_certain or needs_operator,
        )

    def snooze(self, hold: Hold) -> Snooze:
        """The error for a job that would have to wait too long."""
        return hold.snooze(code=_code(hold), message=_message(hold))

    def unavailable(self, hold: Hold) -> Transient:
        """The error for a user who would have to wait too long."""
        return Transient(_message(hold), code=_code(hold), retry_after=hold.delay)


def _message(hold: Hold) -> str:
    if hold.reason == "provider_paused":
        return "the operator has paused the embedding provider"
    if hold.cause is not None and _is_of(hold, hold.cause):
        return hold.cause.message
    if hold.reason == "rate_limited":
        return "the rate limit of the embedding provider was reached"
    return "the embedding provider cannot be reached"


def _code(hold: Hold) -> ErrorCode:
    if hold.reason == "rate_limited" or hold.reason == "provider_paused":
        return hold.reason
    if hold.cause is not None and _is_of(hold, hold.cause):
        return cast(ErrorCode, hold.cause.code)  # one of PROVIDER_CODES
    return "embedding_unavailable"


def _is_of(hold: Hold, cause: Cause) -> bool:
    """Whether `cause` explains the hold; it may be an older failure while our own limit holds."""
    return (hold.reason == "provider_unavailable") == (cause.code in PROVIDER_CODES)
