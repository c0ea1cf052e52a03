"""Requests with an Idempotency-Key: executed once, then the stored response is repeated.

A route that creates something takes `idempotent: IdempotentDep`, does its work in a function of a
connection, and ends in `return await idempotent.run_once(pool, work, application_id=…, status=…)`.
Of concurrent requests with the same key one does the work; the others wait for its commit and get
its response.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import Depends, Header, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ingest.errors import Conflict
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.tenants import api_keys, idempotency

_REPLAYED: Final = {"Idempotency-Replayed": "true"}

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]*$",
        description="Requests with the same key run only once and get the same response",
    ),
]

Work = Callable[[Connection], Awaitable[BaseModel]]
"""The work of a request, in one transaction; returns the response body."""


@dataclass(frozen=True, slots=True)
class IdempotentAnswer:
    """A status and a JSON body; `is_replayed` if it comes from the store."""

    status: int
    body: dict[str, Any]
    is_replayed: bool = False

    def response(self) -> JSONResponse:
        headers = _REPLAYED if self.is_replayed else None
        return JSONResponse(self.body, status_code=self.status, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret in a response. Only a seed is stored, from which the secret is derived again.

    The seed is useless without the operator key.
    """

    member: str
    """Field of the body that holds the secret; null if this response has none."""
    derive: Callable[[str], str]
    """Computes the secret from a seed."""
    is_valid: Callable[[Connection, str], Awaitable[bool]]
    """Whether a secret is the one that was issued, and still valid."""
    seed: str = field(default_factory=api_keys.new_seed)

    @property
    def clear(self) -> str:
        return self.derive(self.seed)

    def sealed(self, answer: IdempotentAnswer) -> IdempotentAnswer:
        """Return the response to store: the seed in place of the plaintext secret."""
        if answer.body[self.member] is None:
            return answer
        return replace(answer, body={**answer.body, self.member: {"seed": self.seed}})

    async def unsealed(self, conn: Connection, answer: IdempotentAnswer) -> IdempotentAnswer:
        """Restore the original response; raises Conflict if its secret is no longer valid."""
        sealed = answer.body[self.member]
        if sealed is None:
            return answer
        clear = self.derive(sealed["seed"])
        if not await self.is_valid(conn, clear):
            raise Conflict(
                "the secret cannot be shown again: it has expired, or the operator key has changed",
                code="secret_lost",
            )
        return replace(answer, body={**answer.body, self.member: clear})


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """The idempotency key of a request, if it has one, and the request's digest."""

    key: str | None
    request_hash: bytes

    async def run_once(
        self,
        pool: Pool,
        work: Work,
        *,
        application_id: UUID,
        status: int,
        secret: Secret | None = None,
    ) -> JSONResponse:
        """Do the work and respond with `status`, or repeat the stored response.

        If the work raises, nothing is stored and the key is free again. Raises Conflict if the key
        was used for another request. A response with a secret needs `secret`.
        """
        async with transaction(pool) as conn:
            answer = await self.stored_answer(conn, application_id)
            if answer is None:
                answer = IdempotentAnswer(status, to_json(await work(conn)))
                kept = answer if secret is None else secret.sealed(answer)
                await self.store_answer(conn, application_id, kept)
            elif secret is not None:
                answer = await secret.unsealed(conn, answer)
        return answer.response()

    async def stored_answer(
        self, conn: Connection, application_id: UUID
    ) -> IdempotentAnswer | None:
        """Return the stored response, if any; raises Conflict if it belongs to another request.

        From here to the end of the transaction, other requests with this key wait. The caller must
        not take any other lock before.
        """
        if self.key is None:
            return None
        known = await idempotency.replay(
            conn, application_id=application_id, key=self.key, request_hash=self.request_hash
        )
        return (
            None
            if known is None
            else IdempotentAnswer(known.status, known.response, is_replayed=True)
        )

    async def store_answer(
        self, conn: Connection, application_id: UUID, answer: IdempotentAnswer
    ) -> None:
        """Store a response without plaintext secrets, in the transaction that does the work."""
        if self.key is not None:
            await idempotency.remember(
                conn,
                application_id=application_id,
                key=self.key,
                request_hash=self.request_hash,
                answer=idempotency.StoredAnswer(status=answer.status, response=answer.body),
            )


def to_json(view: BaseModel) -> dict[str, Any]:
    """A view as it goes over the wire."""
    return view.model_dump(mode="json", by_alias=True)


def digest(content: Any) -> bytes:
    """SHA-256 of the fields, as JSON values, that distinguish requests."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()


async def _idempotent_request(
    request: Request, idempotency_key: IdempotencyKey = None
) -> IdempotentRequest:
    if idempotency_key is None:
        return IdempotentRequest(None, b"")
    body = await request.body()
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = hashlib.sha256(body).hexdigest()
    return IdempotentRequest(idempotency_key, digest([request.url.path, content]))


IdempotentDep = Annotated[IdempotentRequest, Depends(_idempotent_request)]
"""For routes whose request consists of its path and JSON body."""
