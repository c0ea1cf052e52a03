"""Sessions of the dashboard, and the one-time codes that open one. Secrets are stored as digests.

A session or code of the operator has a seal, made with the operator key (OperatorKey.seal): callers
check it, so that a changed key ends them.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from psycopg.rows import class_row

from ingest.model import Role
from ingest.postgres.database import Connection, load_queries
from ingest.store.tenants.api_keys import digest

_SQL = load_queries("tenants/sessions.sql")

LIFETIME: Final = timedelta(days=7)
"""The longest that a session lasts."""
IDLE: Final = timedelta(hours=12)
"""A session without a request for this long has ended."""
PER_KEY: Final = 100
"""Sessions of one key, or of the operator, at once."""
CODE_LIFETIME: Final = timedelta(minutes=10)

# `seen_at` is written at most this often: not every request is a write.
_PRECISION: Final = timedelta(minutes=5)

Seal = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    session_hash: bytes
    application_id: UUID
    key_id: UUID | None
    """The key that signed in; None: the operator's."""
    operator_seal: bytes | None
    """Of `session_hash`; None unless it is the operator's session."""
    role: Role
    key_hash: bytes | None
    collection_ids: Sequence[UUID] | None
    """The collections that the key may see; None: everything."""
    is_stale: bool
    """Whether `touch` is due."""


async def add(
    conn: Connection, *, application_id: UUID, key_id: UUID | None, seal: Seal | None
) -> str:
    """Start a session; returns its secret. `seal`: exactly if it is the operator's.

    Beyond `PER_KEY`, the key's session that was not used for the longest time ends.
    """
    secret = secrets.token_urlsafe(32)
    session_hash = digest(secret)
    await conn.execute(
        _SQL["add"],
        {
            "session_hash": session_hash,
            "application_id": application_id,
            "key_id": key_id,
            "operator_seal": None if seal is None else seal(session_hash),
            "lifetime": LIFETIME,
            "most": PER_KEY,
        },
    )
    return secret


async def find(conn: Connection, session_hash: bytes) -> Session | None:
    """The session, unless it has ended, was idle for too long, or its key was revoked."""
    async with conn.cursor(row_factory=class_row(Session)) as cur:
        await cur.execute(
            _SQL["find"], {"session_hash": session_hash, "idle": IDLE, "precision": _PRECISION}
        )
        return await cur.fetchone()


async def touch(conn: Connection, session_hash: bytes) -> None:
    """Note that the session is in use."""
    await conn.execute(_SQL["touch"], {"session_hash": session_hash})


async def end(conn: Connection, session_hash: bytes) -> None:
    """End the session, if there is one."""
    await conn.execute(_SQL["end"], {"session_hash": session_hash})


async def ends_at(conn: Connection, session_hash: bytes) -> datetime | None:
    """When the session ends if it is not used again; None: it has ended."""
    values = {"session_hash": session_hash, "idle": IDLE}
    row = await (await conn.execute(_SQL["ends_at"], values)).fetchone()
    return None if row is None else row[0]


async def forget(conn: Connection, *, limit: int) -> int:
    """Remove up to `limit` sessions that have ended; returns how many."""
    return (await conn.execute(_SQL["forget"], {"idle": IDLE, "limit": limit})).rowcount


async def add_code(conn: Connection, *, application_id: UUID, seal: Seal) -> tuple[str, datetime]:
    """Issue a code for one sign-in as the operator within `CODE_LIFETIME`; returns it and its
    expiry."""
    code = secrets.token_urlsafe(32)
    code_hash = digest(code)
    cursor = await conn.execute(
        _SQL["add_code"],
        {
            "code_hash": code_hash,
            "application_id": application_id,
            "operator_seal": seal(code_hash),
            "lifetime": CODE_LIFETIME,
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise RuntimeError("an insert returned no row")
    return code, row[0]


async def redeem_code(conn: Connection, code: str) -> bytes | None:
    """Consume a code; returns its seal, or None if it is unknown, used or expired."""
    cursor = await conn.execute(_SQL["redeem_code"], {"code_hash": digest(code)})
    row = await cursor.fetchone()
    return None if row is None else row[0]


async def forget_codes(conn: Connection) -> int:
    """Remove expired codes; returns how many."""
    return (await conn.execute(_SQL["forget_codes"])).rowcount
