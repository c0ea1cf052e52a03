"""Send requests to the embedder: wait for the lane, retry, and isolate texts that fail.

If a request fails without a clear reason, a text in it or the provider may be the cause. A harmless
text shows which: if that fails too, all requests wait for the provider. If not, the request is sent
again, then halved until the failing text is found.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import numpy as np

from ingest.embedding.caller_state import Rows, callers
from ingest.embedding.lane import EmbeddingLane
from ingest.embedding.one_request import EmbeddingCalls, RequestCounts, unusable
from ingest.embedding.wait_budget import WaitBudget
from ingest.errors import Transient
from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder, Misaligned, ProviderFault, Refused

# A search does not wait longer, but falls back to keywords.
_QUERY_SECONDS: Final = 5.0
_QUERY_WAIT_BUDGET: Final = timedelta(seconds=2)
# How often to send a request that fails although the provider serves a harmless text. A single text
# gets one more try, because it would lose its vector.
_TRIES: Final = 2
_TRIES_ALONE: Final = 3
_SECONDS_BETWEEN_TRIES: Final = 0.2

Answers = list[tuple[Rows, Vectors]]


@dataclass(slots=True)
class _RequestAttempts:
    """A request that may be sent several times."""

    rows: Rows
    wait_budget: WaitBudget = field(default_factory=WaitBudget)
    blamed: int = 0
    """How often it failed while the provider served a harmless text."""


class EmbeddingRequests:
    """Waits for the lane before each request, and reports the result to it."""

    def __init__(self, embedder: Embedder, lane: EmbeddingLane) -> None:
        self._calls = EmbeddingCalls(embedder)
        self._lane = lane
        self._is_in_doubt = False
        """Whether a query got no usable response; that alone does not pause the lane."""
        self._wakes_left = 0

    @property
    def counts(self) -> RequestCounts:
        return self._calls.counts

    @property
    def is_limited(self) -> bool:
        """Whether requests may have to wait."""
        return self._lane.name is not None

    async def ready(self) -> None:
        """Raises Snooze while the lane is paused for longer than a request waits."""
        hold = await self._lane.paused()
        if hold is not None and hold.is_probe_due:
            await self._try()
            hold = await self._lane.paused()
        if hold is not None and not WaitBudget().allows(hold):
            raise self._lane.snooze(hold)

    async def check_at_start(self) -> None:
        """Send a harmless text unless the provider asked for a pause; success opens the lane."""
        hold = await self._lane.paused()
        if hold is not None and hold.reason in ("rate_limited", "provider_paused"):
            return
        fault = await self._calls.fault() if self.is_limited else None
        if fault is None:
            await self._lane.reopen()
        else:
            await self._lane.note(fault, is_certain=True)

    async def watch(self) -> None:
        """Send a harmless text if the lane's pause is over or a query got no usable response.

        After a pause by the operator, wake its jobs, twice: the request that ended it may have been
        killed before it did, and a job may have begun to wait since.
        """
        if await self._lane.stopped(is_fresh=True) is not None:
            self._wakes_left = 2
            return
        if self._wakes_left:
            await self._lane.resumed()
            self._wakes_left -= 1
        hold = await self._lane.paused()
        if hold is not None and hold.is_probe_due:
            await self._try()
        elif hold is None and self._is_in_doubt:
            await self._try(is_certain=False)  # it may be queued behind large requests

    async def resolve(self, rows: Rows) -> Answers:
        """Vectors of the rows, except for texts that were refused or whose request failed."""
        try:
            return await self._resolve(rows)
        except Exception as error:
            _fail(rows, error)
            return []
        except BaseException as error:
            # A panic in a native library, or a cancellation. Callers must get an error: otherwise
            # they would take the placeholder zeros for vectors.
            fault = RuntimeError(f"the embedder raised {type(error).__name__}")
            fault.__cause__ = error
            _fail(rows, fault)
            raise

    async def check_not_stopped(self) -> None:
        """Raises Transient while the operator has paused the provider."""
        hold = await self._lane.stopped()
        if hold is not None:
            raise self._lane.unavailable(hold)

    async def query(self, text: str, token_count: int) -> Vectors:
        """Embed one text; returns a vector, (dimension,), or raises Transient within 5 seconds."""
        try:
            async with asyncio.timeout(_QUERY_SECONDS):
                return await self._query(text, token_count)
        except TimeoutError:
            # Do not pause the lane, since a slow provider may still serve jobs.
            self._is_in_doubt = True
            said = f"no response within {_QUERY_SECONDS:.0f} s"
            raise ProviderFault(said, code="embedding_unavailable") from None

    async def _query(self, text: str, token_count: int) -> Vectors:
        wait_budget = WaitBudget(longest=_QUERY_WAIT_BUDGET, total=_QUERY_WAIT_BUDGET)
        while (hold := await self._lane.hold(token_count)) is not None:
            # A query does not wait for a probe; ProviderWatch makes it.
            if hold.is_probe_due or not wait_budget.allows(hold):
                raise self._lane.unavailable(hold)
            await wait_budget.wait(hold)
        try:
            vectors = await self._calls.ask([text], token_count, is_query=True)
        except Refused:
            await self._lane.succeeded()
            raise refused_query() from None
        except Misaligned as error:
            self._is_in_doubt = True
            raise unusable(error) from None
        except Transient as error:
            await self._lane.note(error)
            raise
        await self._lane.succeeded()
        vector: Vectors = vectors[0]
        return vector

    async def _resolve(self, rows: Rows) -> Answers:
        attempts = _RequestAttempts(rows)
        while True:
            try:
                attempts.rows = await self._admitted(attempts.rows, attempts.wait_budget)
                vectors = await self._request(attempts.rows)
            except (Refused, Misaligned, Transient, _TooLarge) as error:
                answers = await self._failed(attempts, error)
                if answers is not None:
                    return answers
            else:
                if attempts.rows:
                    await self._lane.succeeded()
                return [(attempts.rows, vectors)]

    async def _failed(self, attempts: _RequestAttempts, error: Exception) -> Answers | None:
        """Handle a failed request; None: send it again when the lane allows."""
        if isinstance(error, Refused | _TooLarge):
            if isinstance(error, Refused):
                await self._lane.succeeded()  # a refusal proves that the provider works
            return await self._refused(attempts.rows, error)
        if isinstance(error, Transient) and not (self.is_limited and _may_be_caused_by_text(error)):
            if not await self._lane.note(error):
                raise error
            return None
        fault = await self._calls.fault() if self.is_limited else None
        if fault is not None:
            if not await self._lane.note(fault, is_certain=True):
                raise fault
            return None
        return await self._blamed(attempts, error)

    async def _blamed(self, attempts: _RequestAttempts, error: Exception) -> Answers | None:
        """Retry a request that a working provider failed; then halve it to find the text."""
        attempts.blamed += 1
        is_alone = len(attempts.rows) == 1
        if attempts.blamed < (_TRIES_ALONE if is_alone else _TRIES):
            await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
            return None
        if is_alone and isinstance(error, Transient):
            raise error
        if not self.is_limited and isinstance(error, Misaligned) and error.dimension is not None:
            # A wrong dimension is never the fault of a text, even without the harmless check.
            raise unusable(error)
        return await self._refused(attempts.rows, error)

    async def _refused(self, rows: Rows, error: Exception) -> Answers:
        """Halve the rows and send both halves; a single text is recorded as refused."""
        if len(rows) == 1:
            [(caller, index)] = rows
            if isinstance(error, Misaligned):
                caller.unusable.add(index)
            caller.refuse(index, str(error))
            return []
        middle = len(rows) // 2
        return [*await self.resolve(rows[:middle]), *await self.resolve(rows[middle:])]

    async def _try(self, *, is_certain: bool = True) -> None:
        """Send a harmless text to see whether the provider is back, unless another process does."""
        if await self._lane.hold(1, may_probe=True) is not None:
            return
        fault = await self._calls.fault()
        self._is_in_doubt = fault is not None
        if fault is None:
            await self._lane.succeeded()
        else:
            await self._lane.note(fault, is_certain=is_certain)

    async def _admitted(self, rows: Rows, wait_budget: WaitBudget) -> Rows:
        """Wait until the request may be sent; returns the rows that are still wanted."""
        while True:
            rows = _wanted(rows)
            tokens = _tokens(rows)
            hold = await self._lane.hold(tokens) if rows else None
            if hold is None:
                return _wanted(rows)  # a caller may have gone while the lane was asked
            if hold.is_probe_due:
                await self._try()
                continue
            if len(rows) > 1 and hold.most_tokens is not None and tokens > hold.most_tokens:
                raise _TooLarge
            if not wait_budget.allows(hold):
                raise self._lane.snooze(hold)
            await wait_budget.wait(hold)

    async def _request(self, rows: Rows) -> Vectors:
        if not rows:
            return np.empty((0, self._calls.dimension), np.float32)
        texts = [caller.texts[index] for caller, index in rows]
        parents = [caller.traceparent for caller in callers(rows)]
        is_query = rows[0][0].is_query  # those of a request are alike
        return await self._calls.ask(texts, _tokens(rows), is_query=is_query, parents=parents)


class _TooLarge(Exception):
    """The request has more tokens than the rate limit allows at once: split it."""


def refused_query() -> Transient:
    return Transient("the provider refused the query", code="embedding_unavailable")


def _may_be_caused_by_text(error: Transient) -> bool:
    return isinstance(error, ProviderFault) and error.may_be_caused_by_text


def _fail(rows: Rows, error: Exception) -> None:
    for caller in callers(rows):
        caller.fail(error)


def _wanted(rows: Rows) -> Rows:
    return [(caller, index) for caller, index in rows if not caller.is_over]


def _tokens(rows: Rows) -> int:
    return sum(caller.token_counts[index] for caller, index in rows)
