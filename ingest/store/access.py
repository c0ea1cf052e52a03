"""Who may do what: applications, API keys, tickets. Secrets are stored as digests only."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from ingest.db import Connection, load_queries, new_id
from ingest.model import Role

_SQL = load_queries("access.sql")

TICKET_LIFETIME: Final = timedelta(seconds=60)
_PREFIX_LENGTH: Final = 10

Position = tuple[datetime, UUID]
"""`created_at` and id of the last row of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    id: UUID
    application_id: UUID
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    id: UUID
    name: str
    settings: dict[str, Any]
    is_default: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    id: UUID
    application_id: UUID
    name: str
    role: Role
    prefix: str
    """The first 10 characters, by which people recognise a key."""
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What the bearer of a redeemed ticket may do."""

    application_id: UUID
    role: Role
    key_id: UUID | None
    """The key that it stood for; None for the operator's."""
    key_hash: bytes | None
    """The digest of that key."""


def digest(secret: str) -> bytes:
    """Under what a key or ticket is stored; 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()


async def find_key(conn: Connection, key: str) -> KnownKey | None:
    """The key if it exists and was not revoked."""
    async with conn.cursor(row_factory=class_row(KnownKey)) as cur:
        await cur.execute(_SQL["find_key"], {"key_hash": digest(key)})
        return await cur.fetchone()


async def is_key_live(conn: Connection, id: UUID) -> bool:
    """Whether the key still exists and was not revoked."""
    row = await (await conn.execute(_SQL["is_key_live"], {"id": id})).fetchone()
    return row is not None and bool(row[0])


async def add_application(conn: Connection, *, name: str) -> Application:
    async with conn.cursor(row_factory=class_row(Application)) as cur:
        await cur.execute(_SQL["add_application"], {"id": new_id(), "name": name})
        added = await cur.fetchone()
    if added is None:
        raise RuntimeError("an insert always returns its row")
    return added


async def get_application(conn: Connection, id: UUID) -> Application | None:
    async with conn.cursor(row_factory=class_row(Application)) as cur:
        await cur.execute(_SQL["get_application"], {"id": id})
        return await cur.fetchone()


async def list_applications(
    conn: Connection, *, limit: int, before: Position | None
) -> list[Application]:
    """Newest first."""
    async with conn.cursor(row_factory=class_row(Application)) as cur:
        await cur.execute(_SQL["list_applications"], {"limit": limit, **_before(before)})
        return await cur.fetchall()


async def add_key(
    conn: Connection, *, application_id: UUID, name: str, role: Role
) -> tuple[ApiKey, str] | None:
    """A new key and, this once, the key in clear; None when there is no such application."""
    key = f"rk_{secrets.token_urlsafe(32)}"
    async with conn.cursor(row_factory=class_row(ApiKey)) as cur:
        await cur.execute(
            _SQL["add_key"],
            {
                "id": new_id(),
                "application_id": application_id,
                "name": name,
                "role": role,
                "prefix": key[:_PREFIX_LENGTH],
                "key_hash": digest(key),
            },
        )
        added = await cur.fetchone()
    return None if added is None else (added, key)


async def list_keys(
    conn: Connection, *, application_id: UUID, limit: int, before: Position | None
) -> list[ApiKey]:
    """Newest first, revoked ones too."""
    async with conn.cursor(row_factory=class_row(ApiKey)) as cur:
        await cur.execute(
            _SQL["list_keys"],
            {"application_id": application_id, "limit": limit, **_before(before)},
        )
        return await cur.fetchall()


async def revoke_key(conn: Connection, *, application_id: UUID, id: UUID) -> bool:
    """End a key at once; False when there is no such live key."""
    done = await conn.execute(_SQL["revoke_key"], {"application_id": application_id, "id": id})
    return done.rowcount == 1


async def add_ticket(
    conn: Connection, *, application_id: UUID, role: Role, key_id: UUID | None
) -> tuple[str, datetime]:
    """A ticket in clear, good for one use within `TICKET_LIFETIME`, and when it expires.

    `key_id` is the key that it stands for; None for the operator's.
    """
    ticket = secrets.token_urlsafe(32)
    cursor = await conn.execute(
        _SQL["add_ticket"],
        {
            "ticket_hash": digest(ticket),
            "application_id": application_id,
            "key_id": key_id,
            "role": role,
            "lifetime": TICKET_LIFETIME,
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise RuntimeError("an insert always returns its row")
    return ticket, row[0]


async def redeem_ticket(conn: Connection, ticket: str) -> Grant | None:
    """Use a ticket up; None when it is unknown, used or expired, or its key was revoked."""
    async with conn.cursor(row_factory=class_row(Grant)) as cur:
        await cur.execute(_SQL["redeem_ticket"], {"ticket_hash": digest(ticket)})
        return await cur.fetchone()


async def forget_tickets(conn: Connection) -> int:
    """Remove tickets that nobody used in time; how many."""
    return (await conn.execute(_SQL["forget_tickets"])).rowcount


def _before(position: Position | None) -> dict[str, Any]:
    time, id = position or (None, None)
    return {"before_time": time, "before_id": id}
