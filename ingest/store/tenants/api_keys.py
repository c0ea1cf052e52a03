"""API keys and tickets. Secrets are stored only as digests."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from psycopg.rows import class_row

from ingest.model import Role
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.view import UtcTime, View

_SQL = load_queries("tenants/api_keys.sql")

TICKET_LIFETIME: Final = timedelta(seconds=60)
_PREFIX_LENGTH: Final = 10

Position = tuple[datetime, UUID]
"""`created_at` and id of the last row of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    id: UUID
    application_id: UUID
    role: Role
    collection_ids: Sequence[UUID] | None
    """The collections that the key may see; None: everything."""
    is_use_due: bool
    """Whether the last noted use is over an hour ago."""


class ApiKey(View):
    id: UUID
    application_id: UUID
    name: str
    role: Role
    prefix: str
    """The first 10 characters of the key."""
    collection_ids: list[UUID] | None
    """The collections that the key may see; null: everything."""
    created_at: UtcTime
    last_used_at: UtcTime | None
    """To the hour; null: not used since the upgrade to the version that notes it. A session of the
    dashboard counts when it begins."""
    revoked_at: UtcTime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The permissions of a redeemed ticket."""

    application_id: UUID
    role: Role
    key_id: UUID | None
    """The key that the ticket stands for; None for the operator's key."""
    key_hash: bytes | None
    """The digest of that key; None for the operator's key."""
    session_hash: bytes | None
    """The session of the dashboard that the ticket stands for; None: it was issued to a key."""
    collection_ids: Sequence[UUID] | None
    """As of that key."""


def digest(secret: str) -> bytes:
    """The 32-byte digest under which a key or ticket is stored."""
    return hashlib.sha256(secret.encode()).digest()


async def find_key(conn: Connection, key: str) -> KnownKey | None:
    """Find the key, if it exists and is not revoked."""
    async with conn.cursor(row_factory=class_row(KnownKey)) as cur:
        await cur.execute(_SQL["find_key"], {"key_hash": digest(key)})
        return await cur.fetchone()


async def use_key(conn: Connection, key: str) -> KnownKey | None:
    """As `find_key`; notes the use, at most once an hour."""
    known = await find_key(conn, key)
    if known is not None and known.is_use_due:
        await conn.execute(_SQL["note_use"], {"id": known.id})
    return known


async def is_key_live(conn: Connection, id: UUID) -> bool:
    """Whether the key exists and is not revoked."""
    row = await (await conn.execute(_SQL["is_key_live"], {"id": id})).fetchone()
    return row is not None and bool(row[0])


async def name_of(conn: Connection, id: UUID) -> str | None:
    """The name of a key."""
    row = await (await conn.execute(_SQL["name_of"], {"id": id})).fetchone()
    return None if row is None else str(row[0])


def new_seed() -> str:
    """A seed for a new secret: 256 random bits."""
    return secrets.token_urlsafe(32)


def derived(operator_key: str, *, purpose: str, seed: str) -> bytes:
    """Derive 32 secret bytes from a seed, different for each purpose.

    The bytes can be derived again from the seed, but only with the operator's key. They reveal
    nothing about that key.
    """
    return hmac.digest(operator_key.encode(), f"{purpose}:{seed}".encode(), "sha256")


def derived_key(operator_key: str, seed: str) -> str:
    """The plaintext API key derived from a seed."""
    material = derived(operator_key, purpose="api-key", seed=seed)
    return f"rk_{base64.urlsafe_b64encode(material).decode().rstrip('=')}"


async def add_key(
    conn: Connection,
    *,
    application_id: UUID,
    name: str,
    role: Role,
    key: str,
    collection_ids: Collection[UUID] | None = None,
) -> ApiKey | None:
    """Activate the plaintext `key`; None if there is no such application.

    `collection_ids`: those that the key may see, which the caller holds; None: everything.
    """
    limit = None if collection_ids is None else sorted(set(collection_ids))
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
                "collection_ids": limit,
            },
        )
        added = await cur.fetchone()
    if added is not None and limit is not None:
        await conn.execute(
            _SQL["limit_key"],
            {"key_id": added.id, "application_id": application_id, "collection_ids": limit},
        )
    return added


async def list_keys(
    conn: Connection, *, application_id: UUID, limit: int, before: Position | None
) -> list[ApiKey]:
    """The keys of an application, newest first, including revoked ones."""
    async with conn.cursor(row_factory=class_row(ApiKey)) as cur:
        await cur.execute(
            _SQL["list_keys"],
            {"application_id": application_id, "limit": limit, **_page_position(before)},
        )
        return await cur.fetchall()


async def revoke_key(conn: Connection, *, application_id: UUID, id: UUID) -> bool:
    """Revoke a key at once; False if there is no such live key."""
    done = await conn.execute(_SQL["revoke_key"], {"application_id": application_id, "id": id})
    return done.rowcount == 1


async def add_ticket(
    conn: Connection,
    *,
    application_id: UUID,
    role: Role,
    key_id: UUID | None,
    session_hash: bytes | None = None,
) -> tuple[str, datetime]:
    """Issue a plaintext ticket for one use within `TICKET_LIFETIME`; returns it and its expiry.

    `key_id` is the key that the ticket stands for; None for the operator's key. `session_hash`: the
    session, if there is one.
    """
    ticket = secrets.token_urlsafe(32)
    cursor = await conn.execute(
        _SQL["add_ticket"],
        {
            "ticket_hash": digest(ticket),
            "application_id": application_id,
            "key_id": key_id,
            "session_hash": session_hash,
            "role": role,
            "lifetime": TICKET_LIFETIME,
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise RuntimeError("an insert returned no row")
    return ticket, row[0]


async def redeem_ticket(conn: Connection, ticket: str) -> Grant | None:
    """Consume a ticket; None if it is unknown, used or expired, or its key was revoked."""
    async with conn.cursor(row_factory=class_row(Grant)) as cur:
        await cur.execute(_SQL["redeem_ticket"], {"ticket_hash": digest(ticket)})
        return await cur.fetchone()


async def forget_tickets(conn: Connection) -> int:
    """Remove expired tickets; returns how many."""
    return (await conn.execute(_SQL["forget_tickets"])).rowcount


def _page_position(position: Position | None) -> dict[str, Any]:
    time, id = position or (None, None)
    return {"before_time": time, "before_id": id}
