"""Statements of the keyword search. None finds deleted sources or other applications' chunks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, overload
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from ingest.analysis.term_rows import TermRows
from ingest.analysis.terms import Terms, as_array, salt
from ingest.postgres.database import Connection, load_queries
from ingest.store.search.scope import SearchScope

_SQL = load_queries("search/keyword_search.sql")
_TERMS: Final = sql.SQL(_SQL["terms"].decode())
_SAMPLE: Final = sql.SQL(_SQL["sample"].decode()).format(terms=_TERMS)
_TERMS_OF: Final = sql.SQL(_SQL["terms_of"].decode()).format(terms=_TERMS)
_GROUPS: Final = ("first", "second", "third", "fourth")
MOST_GROUPS: Final = len(_GROUPS)
"""Of a condition."""
# Of `array_send`, in 32-bit numbers: the header of an empty array, and of one with the length; then
# each number with its size before it.
_EMPTY_HEADER, _HEADER, _ELEMENT = 3, 5, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCondition:
    """Chunks with one of the terms of each group; at most MOST_GROUPS."""

    groups: Sequence[Terms]
    phrase: Sequence[Terms] = ()
    """And with one of each of these, in this order, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GramCondition:
    """Chunks with all of these grams."""

    grams: Terms


@dataclass(frozen=True, slots=True)
class Ids(Sequence[UUID]):
    """Made when they are asked for, because a search needs few of the ids that it reads."""

    octets: bytes = b""
    """16 of each."""

    def __len__(self) -> int:
        return len(self.octets) // 16

    @overload
    def __getitem__(self, place: int) -> UUID: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[UUID]: ...
    def __getitem__(self, place: int | slice) -> UUID | Sequence[UUID]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        octets = self.octets[16 * place : 16 * place + 16]
        if place < 0 or not octets:
            raise IndexError(place)
        return UUID(bytes=octets)

    def of(self, are_wanted: NDArray[np.bool_]) -> "Ids":
        return Ids(self.sortable()[are_wanted].tobytes())

    def sortable(self) -> NDArray[np.bytes_]:
        """In the order of the ids."""
        return np.frombuffer(self.octets, "S16")


@dataclass(frozen=True, slots=True, eq=False)
class IndexedChunks:
    """Chunks as the keyword index has them (analysis/chunk_terms.py), without the salt."""

    ids: Ids = field(default_factory=Ids)
    words: TermRows = field(default_factory=lambda: TermRows.of([]))
    grams: TermRows = field(default_factory=lambda: TermRows.of([]))


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Random chunks of an application."""

    chunks: IndexedChunks
    highest: int
    """The greatest of their random numbers, which are below 2**31."""


async def begin(conn: Connection, *, statement_timeout: timedelta) -> None:
    """Configure the transaction: a statement that takes longer raises psycopg QueryCanceled."""
    timeout_ms = str(round(statement_timeout.total_seconds() * 1000))
    await conn.execute(_SQL["begin"], {"timeout_ms": timeout_ms})


async def sample(conn: Connection, application_id: UUID, *, limit: int) -> Sample:
    """Up to `limit` random chunks; all of them, if there are fewer."""
    values = {"application_id": application_id, "limit": limit}
    row = await _row(conn, _SAMPLE, values)
    return Sample(_chunks(row, application_id), row[-1] or 0)


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
) -> IndexedChunks:
    """Chunks that meet any condition, each once; about `most`, of the first conditions."""
    groups: list[list[str]] = [[] for _ in range(MOST_GROUPS)]
    phrases, grams = [], []
    added = np.int32(salt(scope.application_id))
    for condition in conditions:
        if isinstance(condition, GramCondition):
            grams.append(as_array(condition.grams ^ added))
            continue
        own = [as_array(group ^ added) for group in condition.groups]
        for number, texts in enumerate(groups):
            texts.append(own[min(number, len(own) - 1)])
        phrases.append(_pattern([group ^ added for group in condition.phrase]))
    statement, parameters = candidates_statement(scope)
    values = {
        **parameters,
        **{name: _text_array(own) for name, own in zip(_GROUPS, groups, strict=True)},
        "phrases": phrases if any(phrases) else [],  # `unnest` adds nulls
        "grams": _text_array(grams),
        "most": most,
    }
    # Not prepared, since a generic plan cannot know the filter.
    row = await _row(conn, statement, values, prepare=scope.finds_deleted)
    return _chunks(row, scope.application_id)


def candidates_statement(scope: SearchScope) -> tuple[sql.Composed, dict[str, Any]]:
    are_few = scope.document_ids is not None  # and were not deleted when the filter was resolved
    live = "" if scope.finds_deleted or are_few else _SQL["live"].decode()
    chunks, parameters = scope.fill_in(_SQL["chunks"], live=sql.SQL(live))
    few: sql.Composable = sql.SQL("")
    if are_few:
        few = sql.SQL(_SQL["few"].decode()).format(chunks=chunks)
        chunks = sql.Composed([sql.SQL(_SQL["few_chunks"].decode())])
    statement = sql.SQL(_SQL["candidates"].decode())
    return statement.format(few=few, chunks=chunks, terms=_TERMS), parameters


async def terms_of(conn: Connection, application_id: UUID, ids: Sequence[UUID]) -> IndexedChunks:
    """These chunks, in any order."""
    values = {"application_id": application_id, "ids": list(ids)}
    return _chunks(await _row(conn, _TERMS_OF, values), application_id)


async def _row(
    conn: Connection,
    statement: sql.Composed,
    values: Mapping[str, Any],
    *,
    prepare: bool | None = None,
) -> Sequence[Any]:
    cursor = await conn.execute(statement, values, prepare=prepare, binary=True)
    return await cursor.fetchone() or ()


def _chunks(row: Sequence[Any], application_id: UUID) -> IndexedChunks:
    ids, word_counts, words, gram_counts, grams = (sent or b"" for sent in row[:5])
    added = np.int32(salt(application_id))
    return IndexedChunks(
        ids=Ids(ids),
        words=_unsalted(word_counts, words, added),
        grams=_unsalted(gram_counts, grams, added),
    )


def _unsalted(counts: bytes, arrays: bytes, added: np.int32) -> TermRows:
    """Decode what `array_send` made of arrays of integers, one after the other."""
    lengths = np.frombuffer(counts, ">i4").astype(np.int64)
    sizes = np.where(lengths > 0, _HEADER + _ELEMENT * lengths, _EMPTY_HEADER)
    firsts = np.cumsum(sizes) - sizes + _HEADER + 1
    starts = np.cumsum(lengths) - lengths
    places = np.repeat(firsts - _ELEMENT * starts, lengths)
    places += _ELEMENT * np.arange(len(places))
    terms = np.frombuffer(arrays, ">i4")[places].astype(np.int32) ^ added
    return TermRows.of_lengths(terms, lengths)


def _text_array(arrays: Sequence[str]) -> str:
    """A Postgres array of arrays as texts. psycopg takes much longer for a list."""
    quoted = ",".join(f'"{array}"' for array in arrays)
    return f"{{{quoted}}}"


def _pattern(phrase: Sequence[Terms]) -> str | None:
    """A regular expression for the numbers of a phrase, separated by spaces; None for no phrase."""
    if not phrase:
        return None
    words = (f"({'|'.join(map(str, terms.tolist()))})" for terms in phrase)
    return f"(^| ){' '.join(words)}( |$)"
