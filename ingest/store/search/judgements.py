"""Relevance judgements: how well a passage answers a query."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg.rows import class_row, kwargs_row
from psycopg.types.json import Jsonb
from pydantic import Field

from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.view import UtcTime, View

_SQL: Final = load_queries("search/judgements.sql")

MOST: Final = 10_000
"""Judgements of an application."""

Position = tuple[datetime, UUID]
Quote = Callable[[str], str]
"""What is judged of the text of a chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    set_name: str
    query: str
    filter: Mapping[str, Any] | None
    """As in the search request; None: none."""

    @property
    def hash(self) -> bytes:
        question = json.dumps([self.query, self.filter], sort_keys=True)
        return hashlib.sha256(question.encode()).digest()


class Judgement(View):
    id: UUID
    application_id: UUID = Field(exclude=True)
    question_hash: bytes = Field(exclude=True)
    set_name: str = Field(serialization_alias="set")
    query: str
    filter: dict[str, Any] | None
    knowledge_source_id: UUID
    document_id: UUID | None
    """Null: the document is gone; a later run of its source may bring it back."""
    uri: str
    quote: str
    """The words that were judged."""
    page: int | None
    grade: int
    """0: no answer; 1 to 3: the higher, the better."""
    judged_by: str | None
    """Name of the API key; null: the operator."""
    created_at: UtcTime
    judged_at: UtcTime


class JudgementSet(View):
    name: str
    question_count: int
    judgement_count: int
    relevant_count: int
    """Judgements with a grade above 0."""
    judged_at: UtcTime
    """When the last of them was made."""


class _Passage(NamedTuple):
    source_id: UUID
    uri: str
    page: int | None
    content: str


class Grade(NamedTuple):
    question_hash: bytes
    document_id: UUID
    grade: int


class JudgedQuery(NamedTuple):
    question_hash: bytes
    query: str


async def put(
    conn: Connection,
    question: JudgedQuestion,
    *,
    application_id: UUID,
    chunk_id: UUID,
    quote: Quote,
    grade: int,
    key_id: UUID | None,
) -> Judgement:
    """Judge what `quote` takes of a chunk; replaces an earlier judgement of it.

    Raises NotFound for the chunk, and Conflict if the application has too many.
    """
    owner = {"application_id": application_id}
    async with conn.cursor(row_factory=kwargs_row(_Passage)) as cur:
        await cur.execute(_SQL["passage"], {**owner, "chunk_id": chunk_id})
        passage = await cur.fetchone()
    if passage is None:
        raise NotFound("chunk")
    cursor = await conn.execute(
        _SQL["put"],
        {
            **owner,
            "id": new_id(),
            "set_name": question.set_name,
            "query": question.query,
            "filter": None if question.filter is None else Jsonb(dict(question.filter)),
            "question_hash": question.hash,
            "source_id": passage.source_id,
            "uri": passage.uri,
            "quote": quote(passage.content),
            "page": passage.page,
            "grade": grade,
            "key_id": key_id,
        },
    )
    [(id, is_new)] = await cursor.fetchall()
    if is_new:
        [(are_many,)] = await (
            await conn.execute(_SQL["are_many"], {**owner, "most": MOST})
        ).fetchall()
        if are_many:  # rolls back
            raise Conflict(
                f"an application has at most {MOST} judgements", code="too_many_judgements"
            )
    [judgement] = await _list(conn, application_id, id=id)
    return judgement


async def list_judgements(
    conn: Connection,
    *,
    application_id: UUID,
    set_name: str | None,
    query: str | None,
    limit: int,
    before: Position | None,
) -> list[Judgement]:
    """Newest first."""
    time, last = before or (None, None)
    return await _list(
        conn,
        application_id,
        set_name=set_name,
        query=query,
        limit=limit,
        before_time=time,
        before_id=last,
    )


async def _list(
    conn: Connection,
    application_id: UUID,
    *,
    id: UUID | None = None,
    set_name: str | None = None,
    query: str | None = None,
    limit: int = 1,
    before_time: datetime | None = None,
    before_id: UUID | None = None,
) -> list[Judgement]:
    async with conn.cursor(row_factory=class_row(Judgement)) as cur:
        await cur.execute(
            _SQL["list"],
            {
                "application_id": application_id,
                "id": id,
                "set_name": set_name,
                "query": query,
                "limit": limit,
                "before_time": before_time,
                "before_id": before_id,
            },
        )
        return await cur.fetchall()


async def delete(conn: Connection, *, application_id: UUID, id: UUID) -> None:
    """Raises NotFound."""
    done = await conn.execute(_SQL["delete"], {"application_id": application_id, "id": id})
    if done.rowcount == 0:
        raise NotFound("judgement")


async def delete_set(conn: Connection, *, application_id: UUID, set_name: str) -> None:
    """Delete all judgements of a set. Raises NotFound if it has none."""
    done = await conn.execute(
        _SQL["delete_set"], {"application_id": application_id, "set_name": set_name}
    )
    if done.rowcount == 0:
        raise NotFound("set of judgements")


async def sets(
    conn: Connection, *, application_id: UUID, limit: int, after: str | None
) -> list[JudgementSet]:
    """The sets with judgements, by name."""
    async with conn.cursor(row_factory=class_row(JudgementSet)) as cur:
        await cur.execute(
            _SQL["sets"], {"application_id": application_id, "limit": limit, "after": after or ""}
        )
        return await cur.fetchall()


async def grades(conn: Connection, *, application_id: UUID, set_name: str) -> list[Grade]:
    """The best grade of each document of each question without a filter."""
    async with conn.cursor(row_factory=kwargs_row(Grade)) as cur:
        await cur.execute(_SQL["grades"], {"application_id": application_id, "set_name": set_name})
        return await cur.fetchall()


async def queries(
    conn: Connection, *, application_id: UUID, set_name: str, limit: int, after: bytes
) -> list[JudgedQuery]:
    """The questions of `grades`, in the order of their hashes."""
    async with conn.cursor(row_factory=kwargs_row(JudgedQuery)) as cur:
        await cur.execute(
            _SQL["queries"],
            {
                "application_id": application_id,
                "set_name": set_name,
                "limit": limit,
                "after": after,
            },
        )
        return await cur.fetchall()


async def part(
    conn: Connection, *, application_id: UUID, set_name: str, limit: int, after: UUID | None
) -> list[Judgement]:
    """Judgements of a set, in the order of their ids."""
    async with conn.cursor(row_factory=class_row(Judgement)) as cur:
        await cur.execute(
            _SQL["part"],
            {
                "application_id": application_id,
                "set_name": set_name,
                "limit": limit,
                "after": after,
            },
        )
        return await cur.fetchall()
