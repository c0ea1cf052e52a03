"""The embedding service's view of its lane: what an error means for it, and what a hold means."""

import psycopg
import structlog

from ingest.errors import ErrorCode, Snooze, Transient
from ingest.governor import Governor, Hold

log = structlog.get_logger()


class EmbeddingLane:
    """Without a name (an embedder in this process) or a governor, nothing is ever held."""

    def __init__(self, governor: Governor | None, name: str | None) -> None:
        self.name = None if governor is None else name
        self._governor = governor

    async def hold(self, tokens: int) -> Hold | None:
        """Reserve a request of so many tokens; a Hold when it has to wait."""
        if self._governor is None or self.name is None:
            return None
        return await self._governor.reserve(self.name, tokens=tokens)

    async def paused(self) -> Hold | None:
        if self._governor is None or self.name is None:
            return None
        return await self._governor.paused(self.name)

    async def succeeded(self) -> None:
        if self._governor is None or self.name is None:
            return
        try:
            await self._governor.succeeded(self.name)
        except psycopg.OperationalError as error:
            # No reason to throw away what was paid for.
            log.warning("lane.not_told", lane=self.name, error=type(error).__name__)

    async def note(self, error: Transient) -> bool:
        """Tell the others of a failed request; whether it is to be sent again after a pause."""
        if self._governor is None or self.name is None:
            return False
        if error.code == "rate_limited":
            await self._governor.limited(self.name, retry_after=error.retry_after)
            return True
        return error.code == "embedding_unavailable" and await self._governor.failed(
            self.name, retry_after=error.retry_after
        )

    def snooze(self, hold: Hold) -> Snooze:
        """For jobs that would have to wait too long."""
        return hold.snooze(code=_code(hold), message=_message(hold))

    def not_now(self, hold: Hold) -> Transient:
        """For people who would have to wait too long."""
        return Transient(_message(hold), code=_code(hold), retry_after=hold.delay)


def _message(hold: Hold) -> str:
    if hold.reason == "rate_limited":
        return "the rate limit of the embedding provider is used up"
    return "the embedding provider is out of reach"


def _code(hold: Hold) -> ErrorCode:
    return "rate_limited" if hold.reason == "rate_limited" else "embedding_unavailable"
