"""Search, from the question to its hits: limits, both rankings and their fusion.

    search ─► embed the question ─► rank by meaning ┐
                                    rank by words  ─┴► fuse ─► load the hits

`ingest/store/search` has the statements.
"""

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

import numpy as np
import psycopg
import structlog
from numpy.typing import NDArray

from ingest.asynchronous.tasks import run_both
from ingest.embedding.service import EmbeddingService
from ingest.errors import SearchTimeout, Transient
from ingest.observability import metrics
from ingest.postgres.database import Connection, Pool, transaction
from ingest.search.slots import SearchSlots
from ingest.search.statistics import SearchStatistics
from ingest.search.terms import looser_and_looser, rare_first
from ingest.store.search import hits, keyword_search, vector_search
from ingest.store.search.hits import SearchHit
from ingest.store.search.keyword_search import Term
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery
from ingest.tokens.keywords import keyword_query

log = structlog.get_logger()

Mode = Literal["hybrid", "vector", "keyword"]
Vector = NDArray[np.float32]

_TIMEOUT: Final = timedelta(seconds=5)
"""Time limit of each statement."""
# Hits of each list that are fused: a chunk that ranks well in both beats the best of one.
_FUSED: Final = 50
EF_SEARCH: Final = 250
"""Breadth of the index scan; recall needs it (docs/decisions.md)."""
# Up to this many vector components in total, a full scan is as fast as the index, and exact.
_EXACT_NUMBERS: Final = 2_000_000
# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 2000
_RANKED_HYBRID: Final = 400
# Candidates read per chunk ranked.
_READ_PER_RANKED: Final = 4
_MOST_TERMS: Final = 64


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


def fuse(*rankings: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Fuse rankings by mean score, each score relative to the best of its ranking; 0 to 1.

    Unlike rank fusion, this tells a clear winner from a narrow one. A ranking without the chunk
    counts as 0. Ties are ordered by id, so results are deterministic.
    """
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking in rankings:
        best = max((found.score for found in ranking), default=0)
        for found in ranking:
            share = found.score / best if best > 0 else 0
            scores[found.id] += max(0, share) / len(rankings)
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Ranked(id=id, score=score) for id, score in order[:limit]]


# ---------------------------------------------------------------- by meaning


async def by_meaning(
    conn: Connection, query: VectorQuery, statistics: SearchStatistics
) -> list[Ranked]:
    """The chunks nearest to a vector, scored by cosine similarity. Needs its own transaction.

    Many vectors are searched by the index, and those that wait for it beside it; few are compared
    one by one.
    """
    scope, bound = query.scope, _EXACT_NUMBERS // len(query.vector)
    application = scope.application_id, query.model_id
    are_many, has_fresh = await vector_search.begin(
        conn,
        query,
        bound=bound,
        is_large=scope.is_filtered or statistics.is_large(*application),
        statement_timeout=_TIMEOUT,
        ef_search=EF_SEARCH,
    )
    if scope.is_filtered:
        are_many = await vector_search.has_many_filtered(conn, scope, bound=bound)
    else:
        statistics.note(*application, is_large=are_many)
    if are_many:
        # Search the buffer first: a vector moved to the index meanwhile is found twice, not missed.
        fresh = await vector_search.nearest(conn, query, "nearest_fresh") if has_fresh else []
        found = await vector_search.nearest_by_index(conn, query)
        if len(found) >= query.limit:
            merged = {hit.id: hit for hit in (*fresh, *found)}
            return sorted(merged.values(), key=lambda hit: -hit.score)[: query.limit]
        # Fewer hits than the limit: the index scan ended early, or fewer chunks match. Search
        # exactly instead.
        if not scope.is_filtered:
            statistics.note(*application, is_large=False)
    return await vector_search.nearest(
        conn, query, "nearest_filtered" if scope.is_filtered else "nearest_exactly"
    )


# ---------------------------------------------------------------- by words


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Chunks that match a query, best first. Both lists share one scale of scores, 0 and above."""

    with_all: Sequence[Ranked]
    """Chunks with every word and quoted phrase, and no excluded word."""
    with_some: Sequence[Ranked]
    """Chunks with some of the words; searched for only if `with_all` is too short."""

    def in_order(self) -> list[Ranked]:
        """All hits: those with all words first, scored 1 to 2, then the rest, scored below 1."""
        return [
            *(Ranked(id=hit.id, score=1 + _below_one(hit.score)) for hit in self.with_all),
            *(Ranked(id=hit.id, score=_below_one(hit.score)) for hit in self.with_some),
        ]


async def by_words(
    conn: Connection,
    scope: SearchScope,
    query: str,
    statistics: SearchStatistics,
    *,
    limit: int,
    enough: int,
    ranked: int,
) -> Matches:
    """Up to `limit` chunks with all words of the query or, if fewer than `enough`, with some.

    Quotes make a phrase and `-` excludes a word; both apply only to the search for all words. Any
    string is accepted. At most `ranked` matches of each statement are ranked. Needs its own
    transaction.
    """
    wanted = keyword_query(query)
    parsed = await keyword_search.parse(
        conn, words=wanted.words, strict=wanted.strict, statement_timeout=_TIMEOUT
    )
    rated = rare_first(
        lexemes=parsed.lexemes,
        runs=wanted.runs,
        shares=await statistics.word_shares(conn),
        most=_MOST_TERMS,
    )
    terms = [Term(tsquery=term, weight=math.log(1 + 1 / share)) for term, share in rated]

    async def matches(telling: str) -> list[Ranked]:
        return await keyword_search.matches(
            conn, scope, telling, terms=terms, ranked=ranked, limit=limit
        )

    with_all = await matches(parsed.strict) if parsed.strict else []
    if len(with_all) >= enough:
        return Matches(with_all=with_all, with_some=[])
    known = {hit.id for hit in with_all}
    some: dict[UUID, Ranked] = {}
    for telling in looser_and_looser(rated, _READ_PER_RANKED * ranked / parsed.chunks):
        if len(known) + len(some) >= limit:
            break
        some.update({hit.id: hit for hit in await matches(telling) if hit.id not in known})
    best = sorted(some.values(), key=lambda hit: (-hit.score, hit.id))
    return Matches(with_all=with_all, with_some=best[: limit - len(with_all)])


def _below_one(score: float) -> float:
    return score / (1 + score)
