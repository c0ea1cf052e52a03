"""Find chunks by meaning and by words. Deleted sources and other applications are never found."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
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
# The rare words of a query are had by so many chunks for each one that may be ranked.
_READ_PER_RANKED: Final = 4
_MOST_TERMS: Final = 64
_COUNTED: Final = 8
# What is assumed of two neighbouring characters; statistics know single ones only.
_PAIR_SHARE: Final = 0.001
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
    page_end: int | None
    headings: list[str]
    content: str


async def bound(conn: Connection) -> None:
    """Let no statement of this transaction take more than 5 seconds (psycopg QueryCanceled)."""
    await conn.execute(_SQL["bound"])


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
        # First those that wait for the index: what is put under it meanwhile is found there again,
        # and not missed.
        fresh = await _fresh(conn, parameters)
        found = await _rows(conn, indexed_statement(model_id, dimension=len(vector)), parameters)
        if len(found) >= limit:
            return _best(fresh, found, limit=limit)
        # The index gave up before enough chunks had passed the filters.
    exact = "nearest_filtered" if scope.is_filtered else "nearest_exactly"
    return await _rows(conn, _SQL[exact], parameters)


async def _count(conn: Connection, scope: Scope, *, model_id: int, bound: int) -> int:
    statement = "count_filtered" if scope.is_filtered else "count_vectors"
    parameters = {**scope.parameters(), "model_id": model_id, "bound": bound + 1}
    row = await (await conn.execute(_SQL[statement], parameters)).fetchone()
    return int(row[0]) if row else 0


async def _fresh(conn: Connection, parameters: Mapping[str, Any]) -> list[Ranked]:
    row = await (await conn.execute(_SQL["has_fresh"], parameters)).fetchone()
    return await _rows(conn, _SQL["nearest_fresh"], parameters) if row and row[0] else []


def _best(*rankings: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The best of all, each once."""
    found = {hit.id: hit for ranking in rankings for hit in ranking}
    return sorted(found.values(), key=lambda hit: -hit.score)[:limit]


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
    if len(found) < enough:
        for hit in await _with_some_words(conn, wanted, parameters, enough=enough - len(found)):
            found.setdefault(hit.id, hit)
    return list(found.values())[:limit]


async def _with_some_words(
    conn: Connection, wanted: KeywordQuery, parameters: Mapping[str, Any], *, enough: int
) -> list[Ranked]:
    """Chunks with one of the rare words and others of the query, with ever fewer others."""
    terms, chunks = await _terms(conn, wanted)
    ranking = {
        **parameters,
        "terms": [term for term, _ in terms],
        "weights": [math.log(1 + 1 / share) for _, share in terms],
    }
    most = _READ_PER_RANKED * parameters["ranked"] / chunks
    found: dict[UUID, Ranked] = {}
    for telling in _ever_less(terms, most):
        for hit in await _rows(conn, _SQL["matches_any"], {**ranking, "telling": telling}):
            found.setdefault(hit.id, Ranked(id=hit.id, score=_below_one(hit.score)))
        if len(found) >= enough:
            break
    return sorted(found.values(), key=lambda hit: -hit.score)


def _ever_less(terms: Sequence[tuple[str, float]], most: float) -> Iterator[str]:
    """What a chunk must have: a rare word and two others, a rare word and another, a rare word.

    The rare ones are those that a share of about `most` of the chunks have, so however common the
    others are, the index goes through few chunks; and only those that match are read for their
    rank.
    """
    names = [term for term, _ in terms[:_COUNTED]]
    shares = list(accumulate(share for _, share in terms[:_COUNTED]))
    rare = names[: max(1, sum(total <= most for total in shares))]
    for others in (2, 1, 0):
        if others < len(names):
            yield " | ".join(_with_others(term, names, others) for term in rare)


def _with_others(term: str, names: Sequence[str], count: int) -> str:
    if count == 0:
        return term
    choices = combinations([name for name in names if name != term], count)
    either = " | ".join(f"({' & '.join(choice)})" for choice in choices)
    return f"({term} & ({either}))"


def _below_one(score: float) -> float:
    return score / (1 + score)


async def _terms(conn: Connection, wanted: KeywordQuery) -> tuple[list[tuple[str, float]], float]:
    """Parts of a tsquery, each with the share of chunks that have it, rarest first; all chunks.

    A run of characters counts as its pairs of neighbours, which are about as telling as words.
    """
    cursor = await conn.execute(_SQL["lexemes"], {"words": wanted.words})
    rows = await cursor.fetchall()
    words = [(_quoted(lexeme), share) for lexeme, share, _ in rows]
    pairs = dict.fromkeys(pair for run in wanted.runs for pair in _pairs(run))
    terms = [(pair, _PAIR_SHARE) for pair in pairs] + words
    chunks = rows[0][2] if rows else 1.0
    return sorted(terms, key=lambda term: term[1])[:_MOST_TERMS], chunks


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
