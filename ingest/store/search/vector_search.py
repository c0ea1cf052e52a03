"""Statements of the vector search. None finds deleted sources or other applications' chunks.

All need the transaction that `begin` configured. Scores are cosine similarities; `vector` has the
dimension of the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import isnan
from typing import Any, Literal, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql
from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.embeddings.index_builds import IndexType
from ingest.store.search.scope import Ranked, SearchScope

_SQL = load_queries("search/vector_search.sql")

Comparison = Literal["nearest_exactly", "nearest_filtered"]
"""All vectors of the application; all of the documents that pass the filter."""


class SearchedIndex(NamedTuple):
    """The HNSW index of a model."""

    type: IndexType
    generation: int
    """Vectors of later generations are not in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    scope: SearchScope
    model_id: int
    vector: NDArray[np.float32]
    limit: int
    only_own: bool = False
    """Whether to leave out documents that are searched by another model."""

    def parameters(self) -> dict[str, Any]:
        return {
            "model_id": self.model_id,
            "vector": Vector(self.vector),
            "limit": self.limit,
            "only_own": self.only_own,
        }


class Begun(NamedTuple):
    has_fresh: bool
    """Whether vectors wait that are not indexed yet."""
    has_other_models: bool
    """Whether the application has documents that are searched by another model."""
    model_index: SearchedIndex


async def begin(
    conn: Connection,
    query: VectorQuery,
    *,
    statement_timeout: timedelta,
    ef_search: int,
) -> Begun:
    """Configure the transaction: a statement that takes longer raises psycopg QueryCanceled."""
    cursor = await conn.execute(
        _SQL["begin"],
        {
            "application_id": query.scope.application_id,
            "model_id": query.model_id,
            "timeout_ms": str(round(statement_timeout.total_seconds() * 1000)),
            "ef_search": str(ef_search),
        },
    )
    [row] = await cursor.fetchall()
    has_fresh, has_other_models, *index = row[-len(Begun._fields) - 1 :]
    return Begun(has_fresh, has_other_models, SearchedIndex(*index))


async def are_many(conn: Connection, query: VectorQuery, *, bound: int) -> bool:
    """Whether the application has more than `bound` vectors that are indexed."""
    cursor = await conn.execute(
        _SQL["are_many"],
        {
            "application_id": query.scope.application_id,
            "model_id": query.model_id,
            "bound": bound,
        },
    )
    [(many,)] = await cursor.fetchall()
    return bool(many)


async def nearest_by_index(
    conn: Connection, query: VectorQuery, index: SearchedIndex
) -> list[Ranked]:
    """Approximately the nearest vectors; fewer than the limit if the index scan ended early."""
    return await _rows(conn, query, *indexed_statement(query, index))


async def nearest_fresh(conn: Connection, query: VectorQuery, index: SearchedIndex) -> list[Ranked]:
    """The exact nearest neighbours among the vectors that the index lacks."""
    statement, parameters = query.scope.fill_in(_SQL["nearest_fresh"])
    return await _rows(conn, query, statement, {**parameters, "generation": index.generation})


async def nearest(conn: Connection, query: VectorQuery, comparison: Comparison) -> list[Ranked]:
    """The exact nearest neighbours among the vectors of `comparison`."""
    return await _rows(conn, query, *query.scope.fill_in(_SQL[comparison]))


async def cosines(
    conn: Connection, query: VectorQuery, ids: Sequence[UUID]
) -> list[tuple[UUID, float]]:
    """The cosine similarity of each of these chunks that has a vector."""
    parameters = {"application_id": query.scope.application_id, "ids": list(ids)}
    cursor = await conn.execute(_SQL["cosines"], {**query.parameters(), **parameters}, binary=True)
    rows = await cursor.fetchall()
    return [(id, score) for id, score in rows if not isnan(score)]  # that of a zero vector


def indexed_statement(
    query: VectorQuery, index: SearchedIndex
) -> tuple[sql.Composed, dict[str, Any]]:
    """Nearest-neighbour query on the model's HNSW index, whose expression requires literals."""
    dimension = len(query.vector)
    finds_deleted = query.scope.finds_deleted and not query.only_own
    name = "nearest_by_index_in_haste" if finds_deleted else "nearest_by_index"
    return query.scope.fill_in(
        _SQL[name],
        type=sql.SQL(index.type),
        generation=sql.Literal(index.generation),
        dimension=sql.Literal(dimension),
        model_id=sql.Literal(query.model_id),
    )


async def _rows(
    conn: Connection, query: VectorQuery, statement: sql.Composed, parameters: Mapping[str, Any]
) -> list[Ranked]:
    async with conn.cursor(row_factory=class_row(Ranked)) as cur:
        # Not prepared, since a generic plan cannot know how large this application is.
        await cur.execute(
            statement, {**query.parameters(), **parameters}, prepare=False, binary=True
        )
        return await cur.fetchall()
