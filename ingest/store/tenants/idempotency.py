"""Responses to requests with an Idempotency-Key, replayed when the request is repeated."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from ingest.errors import Conflict
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("tenants/idempotency.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """A stored response: HTTP status and JSON body."""

    status: int
    response: dict[str, Any]


async def replay(
    conn: Connection, *, application_id: UUID, key: str, request_hash: bytes
) -> StoredAnswer | None:
    """Return the stored response to an earlier request with this idempotency key, else None.

    Locks the key until the transaction ends, so concurrent requests with it wait for each other.
    Raises Conflict if the earlier request had different content, or still runs after ten seconds.
    """
    asked = {"application_id": application_id, "key": key}
    await conn.execute(_SQL["set_lock_timeout"])
    try:
        await conn.execute(_SQL["lock"], asked)
    except psycopg.errors.LockNotAvailable:
        raise Conflict(
            "a request with this Idempotency-Key is still running; ask again later",
            code="idempotency_in_progress",
        ) from None
    await conn.execute(_SQL["reset_lock_timeout"])
    row = await (await conn.execute(_SQL["replay"], asked)).fetchone()
    if row is None:
        return None
    if bytes(row[0]) != request_hash:
        raise Conflict(
            "this Idempotency-Key was used for a different request",
            code="idempotency_conflict",
        )
    return StoredAnswer(status=row[1], response=row[2])


async def remember(
    conn: Connection, *, application_id: UUID, key: str, request_hash: bytes, answer: StoredAnswer
) -> None:
    """Store the response to a request, in the transaction that executes it."""
    await conn.execute(
        _SQL["remember"],
        {
            "application_id": application_id,
            "key": key,
            "request_hash": request_hash,
            "status": answer.status,
            "response": Jsonb(answer.response),
        },
    )


async def forget_answers(
    conn: Connection, *, older_than: timedelta = timedelta(days=7), limit: int | None = None
) -> int:
    """Remove up to `limit` responses older than `older_than`, oldest first; returns how many."""
    gone = await conn.execute(_SQL["forget_answers"], {"older_than": older_than, "limit": limit})
    return gone.rowcount
