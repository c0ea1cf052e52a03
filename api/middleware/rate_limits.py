"""Rate limit per key: requests per minute, counted by each process separately.

The window slides: the last 60 seconds never contain more requests than the limit. Only valid keys
are counted (api/authentication.py), so invented keys cannot fill the memory.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from api.problems import RateLimited, problem, retry_after
from ingest.errors import QuotaExceeded

_WINDOW_SECONDS: Final = 60.0


class RequestLimits:
    """The requests of each key in the last minute; keys are identified by their digests."""

    def __init__(
        self,
        per_minute: int,
        *,
        sentence: str = "this key may send {} requests per minute",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`per_minute` 0: no limit. `clock`: seconds, monotonic."""
        self._per_minute = per_minute
        self._sentence = sentence
        self._clock = clock
        # Times of requests, oldest first; keys ordered by their last request, oldest first.
        self._times: OrderedDict[bytes, deque[float]] = OrderedDict()

    def refusal(self, key_hash: bytes) -> RateLimited | None:
        """The error if the key is over its limit now, else None. Counts nothing."""
        times = self._times.get(key_hash)
        if times is None:
            return None
        now = self._clock()
        while times and now - times[0] >= _WINDOW_SECONDS:
            times.popleft()
        if len(times) < self._per_minute:
            return None
        return RateLimited(
            self._sentence.format(self._per_minute),
            retry_after=timedelta(seconds=_WINDOW_SECONDS - (now - times[0])),
        )

    def count(self, key_hash: bytes) -> None:
        """Count a request. Raises RateLimited, and counts nothing, when there were too many."""
        if self._per_minute == 0:
            return
        refusal = self.refusal(key_hash)
        if refusal is not None:
            raise refusal
        self._times.setdefault(key_hash, deque()).append(self._clock())
        self._times.move_to_end(key_hash)
        self._forget_one()

    def _forget_one(self) -> None:
        """Drop one idle key; one per request keeps up with all of them."""
        key_hash, times = next(iter(self._times.items()))
        if not times or self._clock() - times[-1] >= _WINDOW_SECONDS:
            del self._times[key_hash]


def request_limits_of(app: FastAPI) -> RequestLimits:
    """The counts that the application's lifespan created."""
    limits: RequestLimits = app.state.request_limits
    return limits


def rate_limit_response(refusal: RateLimited | QuotaExceeded) -> JSONResponse:
    """The problem document for a request that is refused before it reaches a route."""
    headers = None if refusal.retry_after is None else retry_after(refusal.retry_after)
    return problem(429, code=refusal.code, detail=str(refusal), headers=headers)
