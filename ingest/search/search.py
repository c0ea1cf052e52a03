"""Search, from the question to its hits: limits and order of the steps.

    search ─► embed the question ─► rank by meaning ┐
                                    rank by words  ─┴► fuse ─► load the hits

`ingest/store/search` has the statements.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
import psycopg
import structlog
from numpy.typing import NDArray

from ingest.asynchronous.tasks import run_both
from ingest.embedding.service import EmbeddingService
from ingest.errors import SearchTimeout, Transient
from ingest.observability import metrics
from ingest.postgres.database import Pool, transaction
from ingest.search.broad_filters import BroadFilters
from ingest.search.fusion import fuse
from ingest.search.keyword_ranking import Matches, by_words
from ingest.search.slots import SearchSlots
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning, exact_bound
from ingest.store.search import hits, matching
from ingest.store.search.hits import SearchHit
from ingest.store.search.scope import STATEMENT_TIMEOUT, Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery

log = structlog.get_logger()

Mode = Literal["hybrid", "vector", "keyword"]
Vector = NDArray[np.float32]

# Hits of each list that are fused: a chunk that ranks well in both beats the best of one.
_FUSED: Final = 50
# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 2000
_RANKED_HYBRID: Final = 400
# Chunks of the documents that pass a filter; if more, each match is checked instead.
_READ_BY_WORDS: Final = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    mode: Mode = "hybrid"
    limit: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    hits: Sequence[SearchHit]
    """Best first. A score is the cosine similarity (`vector`), 1 to 2 for all words and 0 to 1 for
    some of them (`keyword`), or the mean of both scores relative to the best of their kind
    (`hybrid`)."""
    lacks_vector: Transient | None = None
    """Why a hybrid search went by words alone; its scores are those of `keyword`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What searches of a process share."""

    pool: Pool
    embedder: EmbeddingService
    model_id: int
    slots: SearchSlots = field(default_factory=SearchSlots)
    statistics: SearchStatistics = field(default_factory=SearchStatistics)
    broad_filters: BroadFilters = field(default_factory=BroadFilters)


async def search(question: Question, scope: SearchScope, parts: SearchParts) -> Answer:
    """Find the best chunks for a question.

    Raises SearchTimeout, Transient `busy` if too many searches of the application wait, and
    Transient if a `vector` search lacks the provider.
    """
    started = time.monotonic()
    # Embed before the transaction, so that a slow provider does not hold a connection.
    vector, failure = await _embed(question, parts.embedder)
    try:
        async with parts.slots.hold(scope.application_id):
            found = await _find(question, scope, vector, parts)
    except psycopg.errors.QueryCanceled:
        metrics.statement_timed_out("search")
        log.warning("search.timed_out", application_id=str(scope.application_id))
        raise SearchTimeout(
            "the search took too long and was ended; ask with fewer words, or in fewer sources"
        ) from None
    metrics.searched(question.mode, seconds=time.monotonic() - started)
    if failure is not None:
        metrics.search_degraded(failure.code)
    return Answer(hits=found, lacks_vector=failure)


async def _embed(
    question: Question, embedder: EmbeddingService
) -> tuple[Vector | None, Transient | None]:
    """The question's vector, or the reason why the search lacks one."""
    if question.mode == "keyword":
        return None, None
    try:
        return await embedder.embed_query(question.text, len(question.text)), None
    except Transient as error:
        if question.mode == "vector":
            raise
        return None, error


async def _find(
    question: Question, scope: SearchScope, vector: Vector | None, parts: SearchParts
) -> list[SearchHit]:
    scope = await _narrowed(scope, vector, parts)
    pool = parts.pool.of(scope.application_id)
    if scope.visible_in is not None:
        pool = pool.limited_to(scope.visible_in)
    # Checking every candidate for deletion takes a third of a search. So only the hits are checked;
    # if one was deleted, the search is repeated with the full check.
    for careful in (replace(scope, is_hasty=True), scope):
        ranked = await _rank(question, careful, vector, parts)
        async with transaction(pool) as conn:
            found = await hits.load(conn, ranked, application_id=scope.application_id)
        if len(found) == len(ranked):
            break
    return found


async def _narrowed(scope: SearchScope, vector: Vector | None, parts: SearchParts) -> SearchScope:
    """The scope with the documents that pass its filter, if they are few."""
    if not scope.is_filtered or parts.broad_filters.has(scope):
        return scope
    async with transaction(parts.pool) as conn:
        narrowed = await matching.narrowed(
            conn,
            scope,
            most_chunks=_READ_BY_WORDS if vector is None else exact_bound(len(vector)),
            statement_timeout=STATEMENT_TIMEOUT,
        )
    if narrowed.document_ids is None:
        parts.broad_filters.note(scope)
    return narrowed


async def _rank(
    question: Question, scope: SearchScope, vector: Vector | None, parts: SearchParts
) -> list[Ranked]:
    pool = parts.pool.of(scope.application_id)

    async def meaning(vector: Vector, *, limit: int) -> list[Ranked]:
        query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=limit)
        async with transaction(pool) as conn:
            return await by_meaning(conn, query, parts.statistics)

    async def words(*, limit: int, ranked: int) -> Matches:
        async with transaction(pool) as conn:
            return await by_words(
                conn,
                scope,
                question.text,
                parts.statistics,
                limit=limit,
                enough=question.limit,
                ranked=ranked,
            )

    if vector is None:
        return (await words(limit=question.limit, ranked=_RANKED_ALONE)).in_order()
    if question.mode == "vector":
        return await meaning(vector, limit=question.limit)
    depth = max(question.limit, _FUSED)
    # Concurrently, each on its own connection. Neither holds one while it waits for the other:
    # otherwise many searches would deadlock on the pool.
    near, matching = await run_both(
        meaning(vector, limit=depth), words(limit=depth, ranked=_RANKED_HYBRID)
    )
    return fuse(near, [*matching.with_all, *matching.with_some], limit=question.limit)
