"""Requests to the embedder: when they may be sent, what is sent again, what came of them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from ingest import metrics, tracing
from ingest.embedding_caller import Rows, callers
from ingest.embedding_lane import EmbeddingLane
from ingest.errors import IngestError, Transient
from ingest.governor import Patience
from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder, Refused, mismatch

# A search is not worth a longer wait: whoever asked is told when to ask again.
_QUERY_PATIENCE: Final = timedelta(seconds=2)

Answers = list[tuple[Rows, Vectors]]


@dataclass(slots=True)
class RequestCounts:
    """Of this process."""

    calls: int = 0
    texts: int = 0
    """That got a vector."""
    tokens: int = 0
    """Of those texts."""
    rate_limited: int = 0
    """Calls that the provider wants to have later."""


class EmbeddingRequests:
    """Waits for the lane before each request, and tells it what came of it."""

    def __init__(self, embedder: Embedder, lane: EmbeddingLane) -> None:
        self.counts = RequestCounts()
        self._embedder = embedder
        self._lane = lane

    @property
    def is_limited(self) -> bool:
        """Whether requests may have to wait."""
        return self._lane.name is not None

    async def ready(self) -> None:
        """Raises Snooze while the lane is paused for longer than a request waits."""
        hold = await self._lane.paused()
        if hold is not None and not Patience().allows(hold):
            raise self._lane.snooze(hold)

    async def resolve(self, rows: Rows) -> Answers:
        """Vectors of the rows; of fewer where a text was refused or a request failed."""
        try:
            return await self._resolve(rows)
        except Exception as error:
            _fail(rows, error)
            return []
        except BaseException as error:
            # A panic of a native library, or cancelled from within. Who is not told would take the
            # zeros that stand where no answer came for vectors.
            fault = RuntimeError(f"the embedder raised {type(error).__name__}")
            fault.__cause__ = error
            _fail(rows, fault)
            raise

    async def query(self, text: str, token_count: int) -> Vectors:
        """The vector of one text, (dimension,), or Transient within seconds."""
        patience = Patience(longest=_QUERY_PATIENCE, total=_QUERY_PATIENCE)
        while (hold := await self._lane.hold(token_count)) is not None:
            if not patience.allows(hold):
                raise self._lane.not_now(hold)
            await patience.wait(hold)
        try:
            vectors = await self._ask([text], token_count, parents=None)
        except Refused:
            raise refused_query() from None
        except Transient as error:
            await self._lane.note(error)
            raise
        vector: Vectors = vectors[0]
        return vector

    async def _resolve(self, rows: Rows) -> Answers:
        patience = Patience()
        while True:
            try:
                rows = await self._admitted(rows, patience)
                return [(rows, await self._request(rows))]
            except (Refused, _TooLarge) as refusal:
                return await self._resolve_halves(rows, str(refusal))
            except Transient as error:
                if not await self._lane.note(error):
                    raise

    async def _resolve_halves(self, rows: Rows, reason: str) -> Answers:
        if len(rows) == 1:
            [(caller, index)] = rows
            caller.refuse(index, reason)
            return []
        middle = len(rows) // 2
        return [*await self.resolve(rows[:middle]), *await self.resolve(rows[middle:])]

    async def _admitted(self, rows: Rows, patience: Patience) -> Rows:
        """Those of the rows that are still wanted when their request may be sent."""
        while True:
            rows = [(caller, index) for caller, index in rows if not caller.gone]
            tokens = _tokens(rows)
            hold = await self._lane.hold(tokens) if rows else None
            if hold is None:
                return rows
            if len(rows) > 1 and hold.most_tokens is not None and tokens > hold.most_tokens:
                raise _TooLarge
            if not patience.allows(hold):
                raise self._lane.snooze(hold)
            await patience.wait(hold)

    async def _request(self, rows: Rows) -> Vectors:
        if not rows:
            return np.empty((0, self._embedder.model.dimension), np.float32)
        texts = [caller.texts[index] for caller, index in rows]
        parents = [caller.traceparent for caller in callers(rows)]
        return await self._ask(texts, _tokens(rows), parents=parents)

    async def _ask(
        self, texts: Sequence[str], tokens: int, *, parents: Sequence[str | None] | None
    ) -> Vectors:
        """One request. `parents`: the spans for which it is sent, if not the current one."""
        self.counts.calls += 1
        started = time.monotonic()
        outcome = "internal"
        try:
            with tracing.client_span("embed", {"texts": len(texts)}, parents=parents):
                vectors = await self._embedder.embed(texts)
            _prove(vectors, (len(texts), self._embedder.model.dimension))
            outcome = "ok"
        except Refused:
            outcome = "refused"
            await self._lane.succeeded()  # it is there, and it has an opinion
            raise
        except IngestError as error:
            outcome = getattr(error, "code", outcome)
            self.counts.rate_limited += outcome == "rate_limited"
            raise
        finally:
            known = {"texts": len(texts), "tokens": tokens} if outcome == "ok" else {}
            metrics.embedding_call(outcome, seconds=time.monotonic() - started, **known)
        await self._lane.succeeded()
        self.counts.texts += len(texts)
        self.counts.tokens += tokens
        return vectors


class _TooLarge(Exception):
    """The request has more tokens than the rate limit lets through at once: send it in parts."""


def refused_query() -> Transient:
    return Transient("the provider refused the query", code="embedding_unavailable")


def _prove(vectors: Vectors, shape: tuple[int, int]) -> None:
    if vectors.shape != shape:
        raise mismatch(f"an answer of shape {vectors.shape} for {shape[0]} texts")
    if not np.isfinite(vectors).all():
        raise mismatch("numbers that are not finite")


def _fail(rows: Rows, error: Exception) -> None:
    for caller in callers(rows):
        caller.fail(error)


def _tokens(rows: Rows) -> int:
    return sum(caller.token_counts[index] for caller, index in rows)
