"""Find chunks by meaning and by words. Deleted sources and other applications are never found."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries
from ingest.keywords import KeywordQuery, keyword_query
from ingest.store.models import index_type

_SQL = load_queries("search.sql")

# Up to so many numbers, comparing with every vector is as fast as the index, and exact.
_EXACT_NUMBERS: Final = 2_000_000
# Words that more chunks have than this share rank chunks, but do not find them.
_TELLING_SHARE: Final = 0.02
_MOST_TERMS: Final = 64
_FUSION_K: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to search."""

    application_id: UUID
    source_ids: Sequence[UUID] | None = None
    """Only in these sources; None: in all."""
    metadata: Mapping[str, Any] | None = None
    """Only in sources whose metadata contain this; None: in all."""

    @property
    def is_filtered(self) -> bool:
        return self.source_ids is not None or self.metadata is not None

    def parameters(self) -> dict[str, Any]:
        return {
            "application_id": self.application_id,
            "source_ids": None if self.source_ids is None else list(self.source_ids),
            "metadata": None if self.metadata is None else Jsonb(dict(self.metadata)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A chunk that was found; a higher score is better, among results of the same kind."""

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
    headings: list[str]
    content: str


async def by_vector(
    conn: Connection,
    scope: Scope,
    *,
    model_id: int,
    vector: NDArray[np.float32],
    limit: int,
) -> list[Ranked]:
    """The chunks nearest to `vector`, scored by cosine similarity.

    Needs a transaction, which it tunes. `vector` has the dimension of the model.
    """
    await conn.execute(_SQL["tune"])
    parameters = {
        **scope.parameters(),
        "model_id": model_id,
        "vector": Vector(vector),
        "limit": limit,
    }
    bound = _EXACT_NUMBERS // len(vector)
    if await _count(conn, scope, model_id=model_id, bound=bound) > bound:
        found = await _rows(conn, indexed_statement(model_id, dimension=len(vector)), parameters)
        if len(found) >= limit:
            return found
        # The index gave up before enough chunks had passed the filters.
    exact = "nearest_filtered" if scope.is_filtered else "nearest_exactly"
    return await _rows(conn, _SQL[exact], parameters)


async def _count(conn: Connection, scope: Scope, *, model_id: int, bound: int) -> int:
    statement = "count_filtered" if scope.is_filtered else "count_vectors"
    parameters = {**scope.parameters(), "model_id": model_id, "bound": bound + 1}
    row = await (await conn.execute(_SQL[statement], parameters)).fetchone()
    return int(row[0]) if row else 0


def indexed_statement(model_id: int, *, dimension: int) -> sql.Composed:
    """Finds the nearest by the HNSW index of the model, whose expression needs literals."""
    return sql.SQL(_SQL["nearest_by_index"].decode()).format(
        type=sql.SQL(index_type(dimension)),
        dimension=sql.Literal(dimension),
        model_id=sql.Literal(model_id),
    )


async def _rows(
    conn: Connection, statement: bytes | sql.Composed, parameters: Mapping[str, Any]
) -> list[Ranked]:
    async with conn.cursor(row_factory=class_row(Ranked)) as cur:
        # Planned for these values: a plan for any application would not know how large this one is.
        await cur.execute(statement, parameters, prepare=False)
        return await cur.fetchall()


async def by_keyword(
    conn: Connection, scope: Scope, query: str, *, limit: int, enough: int, ranked: int
) -> list[Ranked]:
    """Chunks with all words of the query, then, if those are not `enough`, with some of them.

    Quotes make a phrase and `-` excludes, among those with all words. Those score 1 to 2, the
    others below 1. Any string is accepted. Of what matches, up to `ranked` chunks are ranked.
    """
    wanted = keyword_query(query)
    parameters = {**scope.parameters(), "limit": limit, "ranked": ranked}
    strict = await _rows(conn, _SQL["matches_all"], {**parameters, "query": wanted.strict})
    found = {hit.id: Ranked(id=hit.id, score=1 + _below_one(hit.score)) for hit in strict}
    terms = [] if len(found) >= enough else await _terms(conn, wanted)
    if terms:
        telling = [term for term, share in terms if share <= _TELLING_SHARE] or [terms[0][0]]
        words = {
            "query": " | ".join(term for term, _ in terms),
            "telling": " | ".join(telling),
        }
        for hit in await _rows(conn, _SQL["matches_any"], parameters | words):
            found.setdefault(hit.id, Ranked(id=hit.id, score=_below_one(hit.score)))
    return list(found.values())[:limit]


def _below_one(score: float) -> float:
    return score / (1 + score)


async def _terms(conn: Connection, wanted: KeywordQuery) -> list[tuple[str, float]]:
    """Parts of a tsquery, each with the share of chunks that have it, rarest first.

    A run of characters counts as its pairs of neighbours, which are about as telling as words.
    """
    cursor = await conn.execute(_SQL["lexemes"], {"words": wanted.words})
    words = [(_quoted(lexeme), share) for lexeme, share in await cursor.fetchall()]
    pairs = [pair for run in wanted.runs for pair in _pairs(run)]
    return ([(pair, 0.0) for pair in dict.fromkeys(pairs)] + words)[:_MOST_TERMS]


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [_quoted(run)]
    return [f"({_quoted(first)} <-> {_quoted(second)})" for first, second in pairwise(run)]


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def fuse(*rankings: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Reciprocal rank fusion: 1 / (60 + rank), summed; equal sums keep the order of arrival."""
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ranking in rankings:
        for rank, found in enumerate(ranking, start=1):
            scores[found.id] += 1 / (_FUSION_K + rank)
    best = sorted(scores.items(), key=lambda item: -item[1])[:limit]
    return [Ranked(id=id, score=score) for id, score in best]


async def load(
    conn: Connection, ranked: Sequence[Ranked], *, application_id: UUID
) -> list[tuple[Hit, float]]:
    """What was found, in the same order; what was deleted meanwhile is left out."""
    async with conn.cursor(row_factory=class_row(Hit)) as cur:
        await cur.execute(
            _SQL["hits"],
            {"ids": [found.id for found in ranked], "application_id": application_id},
        )
        hits = {hit.chunk_id: hit for hit in await cur.fetchall()}
    return [(hits[found.id], found.score) for found in ranked if found.id in hits]
