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
from ingest.search.fusion import fuse
from ingest.search.keyword_ranking import WordMatches, by_words, score_others
from ingest.search.slots import SearchSlots
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.search import hits, vector_search
from ingest.store.search.hits import SearchHit
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery

log = structlog.get_logger()

Mode = Literal["hybrid", "vector", "keyword"]
Vector = NDArray[np.float32]

# Hits of each list that are fused: a chunk that ranks well in both beats the best of one.
_FUSED: Final = 50
# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 1000
_RANKED_HYBRID: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    mode: Mode = "hybrid"
    limit: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    hits: Sequence[SearchHit]
    """Best first. A score is the cosine similarity (`vector`), BM25 (`keyword`), or 0 to 1 by
    both (`hybrid`)."""
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
    # Checking every candidate for deletion takes a third of a search. So only the hits are checked;
    # if one was deleted, the search is repeated with the full check.
    for careful in (replace(scope, is_hasty=True), scope):
        ranked = await _rank(question, careful, vector, parts)
        async with transaction(parts.pool.of(scope.application_id)) as conn:
            found = await hits.load(conn, ranked, application_id=scope.application_id)
        if len(found) == len(ranked):
            break
    return found


async def _rank(
    question: Question, scope: SearchScope, vector: Vector | None, parts: SearchParts
) -> list[Ranked]:
    pool = parts.pool.of(scope.application_id)

    async def meaning(vector: Vector, *, limit: int) -> list[Ranked]:
        query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=limit)
        async with transaction(pool) as conn:
            return await by_meaning(conn, query, parts.statistics)

    async def words(*, most: int) -> WordMatches:
        async with transaction(pool) as conn:
            return await by_words(conn, scope, question.text, parts.statistics, most=most)

    if vector is None:
        return (await words(most=_RANKED_ALONE)).best(question.limit)
    if question.mode == "vector":
        return await meaning(vector, limit=question.limit)
    depth = max(question.limit, _FUSED)
    # Concurrently, each on its own connection. Neither holds one while it waits for the other:
    # otherwise many searches would deadlock on the pool.
    near, matching = await run_both(meaning(vector, limit=depth), words(most=_RANKED_HYBRID))
    return await _fuse(near, matching, vector, question, scope, parts)


async def _fuse(
    near: Sequence[Ranked],
    matching: WordMatches,
    vector: Vector,
    question: Question,
    scope: SearchScope,
    parts: SearchParts,
) -> list[Ranked]:
    """Score each chunk of both rankings by both: a chunk that only one has is not worse by that."""
    cosines = {hit.id: hit.score for hit in near}
    best = matching.best(max(question.limit, _FUSED))
    bm25 = {id: matching.scores[id] for id in cosines if id in matching.scores}
    bm25 |= {hit.id: hit.score for hit in best}
    query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=len(best))
    async with transaction(parts.pool.of(scope.application_id)) as conn:
        cosines |= await vector_search.cosines(
            conn, query, [id for id in bm25 if id not in cosines]
        )
        others = [id for id in cosines if id not in bm25]
        bm25 |= await score_others(conn, scope, matching, others)
    if matching.has_conditions:
        cosines = {id: cosine for id, cosine in cosines.items() if id in bm25}
    return fuse(cosines, bm25, whole_weight=matching.whole_weight, limit=question.limit)
