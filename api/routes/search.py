"""Search chunks: by meaning, by keywords, or by both."""

import time
from dataclasses import replace
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import numpy as np
import psycopg
import structlog
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from api.dependencies import RuntimeDep, Viewer
from api.keyed_route import KeyedRoute
from api.problems import SearchTimeout
from api.schema.json_model import Body, Metadata, View, Whole, storable
from ingest.asynchronous.tasks import run_both
from ingest.errors import Transient
from ingest.observability import metrics
from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.store.search import keyword_search, vector_search
from ingest.store.search.keyword_search import Matches
from ingest.store.search.vector_search import Hit, Ranked, Scope

log = structlog.get_logger()
router = APIRouter(route_class=KeyedRoute, tags=["search"])

# Hits of each list that are fused: a chunk that ranks well in both beats the best of one.
_FUSED: Final = 50
# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 2000
_RANKED_HYBRID: Final = 400


def _not_blank(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("the query is empty")
        return storable(value)
    return value


class SearchFilter(Body):
    knowledge_source_ids: Annotated[list[UUID], Field(max_length=10_000)] | None = None
    metadata: Metadata | None = None
    """Only sources whose metadata contain this object."""


class SearchRequest(Body):
    query: Annotated[str, BeforeValidator(_not_blank), Field(max_length=8000)]
    limit: Annotated[Whole, Field(ge=1, le=100)] = 10
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    filter: SearchFilter = SearchFilter()


class SearchHit(View):
    chunk_id: UUID
    knowledge_source_id: UUID
    document_id: UUID
    title: str
    uri: str
    page: int | None
    page_end: int | None
    headings: list[str]
    content: str
    score: float


class SearchHits(View):
    hits: list[SearchHit]
    degraded: list[Literal["vector"]] = Field(default_factory=list)
    """What a hybrid search lacked: `vector`, while the embedding provider does not answer."""
    degraded_reason: str | None = None
    """The error code and the provider's message."""


@router.post("/api/search")
async def search_chunks(body: SearchRequest, runtime: RuntimeDep, key: Viewer) -> SearchHits:
    """The best chunks, best first. `hybrid` weights both rankings equally.

    A score is the cosine similarity (`vector`), 1 to 2 for all words and 0 to 1 for some of them
    (`keyword`), or the mean of both scores relative to the best of their kind (`hybrid`).

    A search waits at most 5 seconds for the embedding provider. Without it, `hybrid` returns the
    hits and scores of `keyword` with `"degraded": ["vector"]`; `vector` is answered with 503 and
    the code of the cause.
    """
    if not body.query.strip():
        return SearchHits(hits=[])  # only characters that are never stored
    scope = Scope(
        application_id=key.application_id,
        source_ids=body.filter.knowledge_source_ids,
        metadata=body.filter.metadata,
    )
    started = time.monotonic()
    # Before the transaction: a slow provider must not hold a connection.
    vector, failure = await _vector(body, runtime)
    async with runtime.searches:
        try:
            found = await _find(body, scope, vector, runtime)
        except psycopg.errors.QueryCanceled:
            raise _too_slow(scope) from None
    metrics.searched(body.mode, seconds=time.monotonic() - started)
    hits = [SearchHit.model_validate(hit) for hit in found]
    if failure is None:
        return SearchHits(hits=hits)
    metrics.search_degraded(failure.code)
    reason = f"{failure.code}: {failure}"
    return SearchHits(hits=hits, degraded=["vector"], degraded_reason=reason)


async def _vector(
    body: SearchRequest, runtime: Runtime
) -> tuple[NDArray[np.float32] | None, Transient | None]:
    """The query vector, or the reason why the search lacks one."""
    if body.mode == "keyword":
        return None, None
    try:
        return await runtime.embed_query(body.query), None
    except Transient as error:
        if body.mode == "vector":
            raise
        return None, error


def _too_slow(scope: Scope) -> SearchTimeout:
    metrics.statement_timed_out("search")
    log.warning("search.timed_out", application_id=str(scope.application_id))
    return SearchTimeout(
        "the search took too long and was ended; ask with fewer words, or in fewer sources"
    )


async def _find(
    body: SearchRequest, scope: Scope, vector: NDArray[np.float32] | None, runtime: Runtime
) -> list[Hit]:
    # Checking every candidate for deletion takes a third of a search. So only the hits are checked;
    # if one was deleted, the search is repeated with the full check.
    for careful in (replace(scope, is_hasty=True), scope):
        ranked = await _rank(body, careful, vector, runtime)
        async with runtime.pool.connection() as conn:
            found = await vector_search.load(conn, ranked, application_id=scope.application_id)
        if len(found) == len(ranked):
            break
    return found


async def _rank(
    body: SearchRequest, scope: Scope, vector: NDArray[np.float32] | None, runtime: Runtime
) -> list[Ranked]:
    if vector is None:
        found = await _by_words(body, scope, runtime, limit=body.limit, ranked=_RANKED_ALONE)
        return found.in_order()
    if body.mode == "vector":
        return await _by_meaning(scope, vector, runtime, limit=body.limit)
    depth = max(body.limit, _FUSED)
    # Concurrently, each on its own connection. Neither holds one while it waits for the other:
    # otherwise many searches would deadlock on the pool.
    near, found = await run_both(
        _by_meaning(scope, vector, runtime, limit=depth),
        _by_words(body, scope, runtime, limit=depth, ranked=_RANKED_HYBRID),
    )
    return vector_search.fuse(near, [*found.with_all, *found.with_some], limit=body.limit)


async def _by_meaning(
    scope: Scope, vector: NDArray[np.float32], runtime: Runtime, *, limit: int
) -> list[Ranked]:
    async with transaction(runtime.pool) as conn:
        return await vector_search.by_vector(
            conn,
            scope,
            model_id=runtime.model_id,
            vector=vector,
            limit=limit,
            hints=runtime.search_hints,
        )


async def _by_words(
    body: SearchRequest, scope: Scope, runtime: Runtime, *, limit: int, ranked: int
) -> Matches:
    async with transaction(runtime.pool) as conn:
        return await keyword_search.by_keyword(
            conn,
            scope,
            body.query,
            limit=limit,
            enough=body.limit,
            ranked=ranked,
            hints=runtime.search_hints,
        )
