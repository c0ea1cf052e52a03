"""Vector search over chunks. Never finds deleted sources or other applications' chunks."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.embedding_models import index_type
from ingest.store.search.search_hints import Hints

_SQL = load_queries("search/vector_search.sql")
TUNED: Final = _SQL["tuned"]
"""Select list for the first statement of a search; it configures the transaction."""
_TUNE = b"select " + TUNED
_LOOK_FOR_FRESH, _COUNT_VECTORS = (
    _SQL[name].replace(b"{tuned}", TUNED) for name in ("look_for_fresh", "count_vectors")
)

# Up to this many vector components in total, a full scan is as fast as the index, and exact.
_EXACT_NUMBERS: Final = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The application to search, and optional filters."""

    application_id: UUID
    source_ids: Sequence[UUID] | None = None
    """Only these sources; None: all."""
    metadata: Mapping[str, Any] | None = None
    """Only sources whose metadata contain this; None: all."""
    is_hasty: bool = False
    """Faster: an unfiltered search may rank deleted chunks not yet purged; `load` drops them."""

    @property
    def is_filtered(self) -> bool:
        return self.source_ids is not None or self.metadata is not None

    @property
    def finds_deleted(self) -> bool:
        return self.is_hasty and not self.is_filtered

    def parameters(self) -> dict[str, Any]:
        return {
            "application_id": self.application_id,
            "source_ids": None if self.source_ids is None else list(self.source_ids),
            "metadata": None if self.metadata is None else Jsonb(dict(self.metadata)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A chunk found; higher scores are better, but comparable only within one kind of search."""

    id: UUID
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
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


async def by_vector(
    conn: Connection,
    scope: Scope,
    *,
    model_id: int,
    vector: NDArray[np.float32],
    limit: int,
    hints: Hints,
) -> list[Ranked]:
    """The chunks nearest to `vector`, scored by cosine similarity.

    Needs its own transaction, in which a statement that takes over 5 seconds raises psycopg
    QueryCanceled. `vector` has the dimension of the model.
    """
    parameters = {
        **scope.parameters(),
        "model_id": model_id,
        "vector": Vector(vector),
        "limit": limit,
    }
    bound = _EXACT_NUMBERS // len(vector)
    are_many, has_fresh = await _count(conn, scope, model_id=model_id, bound=bound, hints=hints)
    if are_many:
        # Search the buffer first: a vector moved to the index meanwhile is found twice, not missed.
        fresh = await _rows(conn, _SQL["nearest_fresh"], parameters) if has_fresh else []
        statement = indexed_statement(
            model_id, dimension=len(vector), finds_deleted=scope.finds_deleted
        )
        found = await _rows(conn, statement, parameters)
        if len(found) >= limit:
            return _best(fresh, found, limit=limit)
        # The index scan stopped before enough chunks passed the filters, or there are too few.
        if not scope.is_filtered:
            hints.note(scope.application_id, model_id, is_large=False)
    exact = "nearest_filtered" if scope.is_filtered else "nearest_exactly"
    return await _rows(conn, _SQL[exact], parameters)


async def _count(
    conn: Connection, scope: Scope, *, model_id: int, bound: int, hints: Hints
) -> tuple[bool, bool]:
    """Whether there are more than `bound` chunks to search, and whether the buffer has any."""
    parameters = {**scope.parameters(), "model_id": model_id, "bound": bound}
    if scope.is_filtered:
        await conn.execute(_TUNE)  # first: the count itself may be slow
        [counts] = await (await conn.execute(_SQL["count_filtered"], parameters)).fetchall()
        are_many, has_fresh = counts
        return are_many, has_fresh
    is_large = hints.is_large(scope.application_id, model_id)
    statement = _LOOK_FOR_FRESH if is_large else _COUNT_VECTORS
    [(*_, are_many, has_fresh)] = await (await conn.execute(statement, parameters)).fetchall()
    hints.note(scope.application_id, model_id, is_large=are_many)
    return are_many, has_fresh


def _best(*rankings: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Merge rankings, without duplicates, best first."""
    found = {hit.id: hit for ranking in rankings for hit in ranking}
    return sorted(found.values(), key=lambda hit: -hit.score)[:limit]


def indexed_statement(
    model_id: int, *, dimension: int, finds_deleted: bool = False
) -> sql.Composed:
    """Nearest-neighbour query on the model's HNSW index, whose expression requires literals."""
    return sql.SQL(_SQL["nearest_by_index"].decode()).format(
        type=sql.SQL(index_type(dimension)),
        dimension=sql.Literal(dimension),
        model_id=sql.Literal(model_id),
        passes=sql.SQL("true" if finds_deleted else _SQL["passes"].decode()),
    )


async def _rows(
    conn: Connection, statement: bytes | sql.Composed, parameters: Mapping[str, Any]
) -> list[Ranked]:
    async with conn.cursor(row_factory=class_row(Ranked)) as cur:
        # Not prepared: a generic plan cannot know how large this application is.
        await cur.execute(statement, parameters, prepare=False)
        return await cur.fetchall()


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


async def load(conn: Connection, ranked: Sequence[Ranked], *, application_id: UUID) -> list[Hit]:
    """Load the chunks in the same order; leave out those deleted meanwhile."""
    async with conn.cursor(row_factory=class_row(Hit)) as cur:
        await cur.execute(
            _SQL["hits"],
            {
                "ids": [found.id for found in ranked],
                "scores": [found.score for found in ranked],
                "application_id": application_id,
            },
        )
        return await cur.fetchall()
