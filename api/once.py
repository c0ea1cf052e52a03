"""Requests with an Idempotency-Key: carried out once, answered the same again."""

import hashlib
import json
from typing import Annotated, Any
from uuid import UUID

from fastapi import Header

from ingest.db import Connection
from ingest.store import idempotency

Answer = dict[str, Any]

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="The same key with the same request gets the same answer, without a second run",
    ),
]


class Once:
    """The key of a request, if it has one, and a digest of what it asks for."""

    def __init__(self, key: str | None, *, application_id: UUID, content: Any) -> None:
        """`content`: all that makes the request another one, as JSON values."""
        self._key = key
        self._application_id = application_id
        self._hash = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()

    async def earlier(self, conn: Connection) -> Answer | None:
        """The answer that was given before, if any; Conflict if it was to another request."""
        if self._key is None:
            return None
        return await idempotency.replay(
            conn,
            application_id=self._application_id,
            key=self._key,
            request_hash=self._hash,
        )

    async def remember(self, conn: Connection, answer: Answer) -> None:
        if self._key is not None:
            await idempotency.remember(
                conn,
                application_id=self._application_id,
                key=self._key,
                request_hash=self._hash,
                response=answer,
            )
