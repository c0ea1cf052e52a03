"""Answers to requests with an Idempotency-Key, replayed when the request comes again."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries
from ingest.errors import Conflict

_SQL = load_queries("idempotency.sql")


async def replay(
    conn: Connection, *, application_id: UUID, key: str, request_hash: bytes
) -> dict[str, Any] | None:
    """The stored answer to an earlier request with this idempotency key.

    Raises Conflict when the earlier request had another content.
    """
    cursor = await conn.execute(_SQL["replay"], {"application_id": application_id, "key": key})
    row = await cursor.fetchone()
    if row is None:
        return None
    if bytes(row[0]) != request_hash:
        raise Conflict(
            "this Idempotency-Key was used for a request with other content",
            code="idempotency_conflict",
        )
    answer: dict[str, Any] = row[1]
    return answer


async def remember(
    conn: Connection,
    *,
    application_id: UUID,
    key: str,
    request_hash: bytes,
    response: dict[str, Any],
) -> None:
    """Store the answer to a request, in the transaction that carries it out."""
    await conn.execute(
        _SQL["remember"],
        {
            "application_id": application_id,
            "key": key,
            "request_hash": request_hash,
            "response": Jsonb(response),
        },
    )


async def forget_answers(conn: Connection) -> int:
    """Remove stored answers older than a week; how many."""
    return (await conn.execute(_SQL["forget_answers"])).rowcount
