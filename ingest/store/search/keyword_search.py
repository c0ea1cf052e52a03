"""Statements of the keyword search. None finds deleted sources or other applications' chunks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np
from psycopg import sql

from ingest.analysis.terms import Terms, as_array, salt
from ingest.postgres.database import Connection, load_queries
from ingest.store.search.scope import SearchScope

_SQL = load_queries("search/keyword_search.sql")
# Of `array_send`: a header for an empty array, and one with the length; then each number.
_EMPTY_HEADER, _HEADER = 12, 20
_ELEMENT: Final = np.dtype([("size", ">i4"), ("value", ">i4")])


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCondition:
    """Chunks with one of the terms of each group; at most three groups."""

    groups: Sequence[Terms]
    phrase: Sequence[Terms] = ()
    """And with one of each of these, in this order, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GramCondition:
    """Chunks with all of these grams."""

    grams: Terms


@dataclass(frozen=True, slots=True, eq=False)
class IndexedChunk:
    """A chunk as the keyword index has it (analysis/chunk_terms.py), without the salt."""

    id: UUID
    words: Terms
    grams: Terms


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Random chunks of an application."""

    chunks: Sequence[IndexedChunk]
    highest: int
    """The greatest of their random numbers, which are below 2**31."""


async def begin(conn: Connection, *, statement_timeout: timedelta) -> None:
    """Configure the transaction: a statement that takes longer raises psycopg QueryCanceled."""
    timeout_ms = str(round(statement_timeout.total_seconds() * 1000))
    await conn.execute(_SQL["begin"], {"timeout_ms": timeout_ms})


async def sample(conn: Connection, application_id: UUID, *, limit: int) -> Sample:
    """Up to `limit` random chunks; all of them, if there are fewer."""
    cursor = await conn.execute(_SQL["sample"], {"application_id": application_id, "limit": limit})
    rows = await cursor.fetchall()
    chunks = _chunks([row[:-1] for row in rows], application_id)
    return Sample(chunks, rows[-1][-1] if rows else 0)


async def languages(conn: Connection, application_id: UUID) -> list[str]:
    """The languages of its documents, ISO 639-1."""
    cursor = await conn.execute(_SQL["languages"], {"application_id": application_id})
    return [language for (language,) in await cursor.fetchall()]


async def candidates(
    conn: Connection,
    scope: SearchScope,
    conditions: Iterable[WordCondition | GramCondition],
    *,
    most: int,
) -> list[IndexedChunk]:
    """Chunks that meet any condition, each once; at most `most` for each condition."""
    first, second, third, phrases, grams = [], [], [], [], []
    added = np.int32(salt(scope.application_id))
    for condition in conditions:
        if isinstance(condition, GramCondition):
            grams.append(as_array(condition.grams ^ added))
            continue
        groups = [as_array(group ^ added) for group in condition.groups]
        first.append(groups[0])
        second.append(groups[min(1, len(groups) - 1)])
        third.append(groups[-1])
        phrases.append(_pattern([group ^ added for group in condition.phrase]))
    statement, parameters = candidates_statement(scope)
    values = {"first": first, "second": second, "third": third, "phrases": phrases}
    values |= {"grams": grams, "most": most}
    # Not prepared, since a generic plan cannot know the filter.
    cursor = await conn.execute(statement, {**parameters, **values}, prepare=scope.finds_deleted)
    return _chunks(await cursor.fetchall(), scope.application_id)


def candidates_statement(scope: SearchScope) -> tuple[sql.Composed, dict[str, Any]]:
    live = sql.SQL("" if scope.finds_deleted else _SQL["live"].decode())
    return scope.fill_in(_SQL["candidates"], live=live)


async def terms_of(
    conn: Connection, application_id: UUID, ids: Sequence[UUID]
) -> list[IndexedChunk]:
    """These chunks, in any order."""
    cursor = await conn.execute(
        _SQL["terms_of"], {"application_id": application_id, "ids": list(ids)}
    )
    return _chunks(await cursor.fetchall(), application_id)


def _chunks(rows: Sequence[Any], application_id: UUID) -> list[IndexedChunk]:
    unsalted = _Unsalted(application_id)
    found = {id: (words, grams) for id, words, grams in rows}
    return [
        IndexedChunk(id, unsalted(words), unsalted(grams)) for id, (words, grams) in found.items()
    ]


def _pattern(phrase: Sequence[Terms]) -> str | None:
    """A regular expression for the numbers of a phrase, separated by spaces; None for no phrase."""
    if not phrase:
        return None
    words = (f"({'|'.join(map(str, terms.tolist()))})" for terms in phrase)
    return f"(^| ){' '.join(words)}( |$)"


class _Unsalted:
    """Decodes what `array_send` made of an array of integers, ten times faster than the driver."""

    def __init__(self, application_id: UUID) -> None:
        self._salt = np.int32(salt(application_id))

    def __call__(self, sent: bytes) -> Terms:
        if len(sent) <= _EMPTY_HEADER:
            return np.empty(0, np.int32)
        return np.frombuffer(sent, _ELEMENT, offset=_HEADER)["value"].astype(np.int32) ^ self._salt
