"""The second stage of a search: the best candidates are ranked again by a reranking model.

It only improves: if the endpoint fails, is slow or answers nonsense, the first ranking stands, the
answer says so, and it is counted. The governor keeps searches from waiting for an endpoint that is
known to fail.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
import structlog

from ingest.errors import Transient
from ingest.governor import Governor, Hold
from ingest.observability import metrics
from ingest.providers.rerank import Reranker, RerankFault
from ingest.search.choose import Choice
from ingest.store.limits.provider_lanes import Cause
from ingest.store.search.hits import StoredChunk

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOutcome:
    choices: Sequence[Choice]
    reranked: bool | None
    """None: not asked for."""
    failure: Transient | None = None


class Reranking:
    """Shared by all searches of a process."""

    def __init__(self, reranker: Reranker, governor: Governor, *, candidates: int) -> None:
        self.candidates = candidates
        self.lane = reranker.lane
        self._reranker = reranker
        self._governor = governor

    async def rerank(self, query: str, choices: Sequence[Choice]) -> RerankOutcome:
        """The choices in the order of the reranker, or in their own if it fails."""
        if not choices:
            return RerankOutcome(choices=choices, reranked=True)
        try:
            scores = await self._scores(query, [_text(choice.chunk) for choice in choices])
        except Transient as failure:
            log.warning("search.not_reranked", code=failure.code, reason=str(failure))
            metrics.search_not_reranked(failure.code)
            return RerankOutcome(choices=choices, reranked=False, failure=failure)
        for choice, score in zip(choices, scores, strict=True):
            choice.rerank_score = score
        # A stable sort: equal scores keep the order of the first ranking.
        order = sorted(choices, key=lambda choice: -choice.score)
        return RerankOutcome(choices=order, reranked=True)

    async def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        hold = await self._governor.reserve(self.lane)
        if hold is not None:
            raise Transient("the reranker is paused: " + _reason(hold), code="rerank_unavailable")
        try:
            scores = await self._reranker.scores(query, texts)
        except RerankFault as error:
            await self._report(error)
            raise
        await self._report(None)
        return scores

    async def _report(self, error: RerankFault | None) -> None:
        """Tell the governor; a report that fails costs no scores."""
        lane = self.lane
        try:
            if error is None:
                await self._governor.record_success(lane, wakes_jobs=False)
            elif error.code == "rate_limited":
                await self._governor.record_rate_limit(
                    lane, retry_after=error.retry_after, cause=_cause(error)
                )
            else:
                await self._governor.record_failure(
                    lane,
                    retry_after=error.retry_after,
                    cause=_cause(error),
                    at_once=error.needs_operator,
                )
        except psycopg.OperationalError as failed:
            log.warning("lane.not_told", lane=lane, error=type(failed).__name__)


def _text(chunk: StoredChunk) -> str:
    """What the reranker reads: the chunk below what it is about."""
    return "\n\n".join([" > ".join([chunk.title, *chunk.headings]), chunk.content])


def _reason(hold: Hold) -> str:
    if hold.reason == "provider_paused":
        return "by the operator"
    if hold.cause is not None:
        return hold.cause.message
    return "its rate limit was reached" if hold.reason == "rate_limited" else "it failed"


def _cause(error: RerankFault) -> Cause:
    return Cause(code=error.code, status=error.status, message=str(error))
