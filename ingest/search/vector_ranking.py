"""Ranks chunks by meaning: the distance of their vectors to that of the question."""

from typing import Final

from ingest.postgres.database import Connection
from ingest.search.statistics import SearchStatistics
from ingest.store.search import vector_search
from ingest.store.search.scope import STATEMENT_TIMEOUT, Ranked
from ingest.store.search.vector_search import VectorQuery

EF_SEARCH: Final = 250
"""Breadth of the index scan; recall needs it (docs/decisions.md)."""
# Up to this many vector components in total, a full scan is as fast as the index, and exact.
_EXACT_NUMBERS: Final = 2_000_000


class OtherModels(Exception):
    """Some documents are searched by another model: see model_change.py."""


def exact_bound(dimension: int) -> int:
    """Up to this many vectors are compared one by one."""
    return _EXACT_NUMBERS // dimension


async def by_meaning(
    conn: Connection,
    query: VectorQuery,
    statistics: SearchStatistics,
    *,
    expects_one_model: bool = False,
) -> list[Ranked]:
    """The chunks nearest to a vector, scored by cosine similarity. Needs its own transaction.

    Many vectors are searched by the index, and those that wait for it beside it; few are compared
    one by one. With `expects_one_model`, raises OtherModels.
    """
    scope, bound = query.scope, exact_bound(len(query.vector))
    application = scope.application_id, query.model_id
    has_fresh, has_other_models, index = await vector_search.begin(
        conn, query, statement_timeout=STATEMENT_TIMEOUT, ef_search=EF_SEARCH
    )
    if expects_one_model and has_other_models:
        raise OtherModels
    if scope.is_filtered:
        are_many = scope.document_ids is None
    else:
        are_many = statistics.is_large(*application) or await vector_search.are_many(
            conn, query, bound=bound
        )
        statistics.note(*application, is_large=are_many)
    if are_many:
        # Search the buffer first: a vector moved to the index meanwhile is found twice, not missed.
        fresh = await vector_search.nearest_fresh(conn, query, index) if has_fresh else []
        found = await vector_search.nearest_by_index(conn, query, index)
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
