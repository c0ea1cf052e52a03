"""Who makes a request: by an API key, the operator key, a ticket or a session of the dashboard."""

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from uuid import UUID

import psycopg
import structlog
from fastapi.requests import HTTPConnection
from fastapi.security.utils import get_authorization_scheme_param

from api.middleware.failed_keys import failed_keys_of
from api.middleware.rate_limits import request_limits_of
from api.problems import FieldRejected, Unauthorized
from api.session_cookie import check_use, session_of
from ingest.errors import NotFound
from ingest.model import Role
from ingest.postgres.database import Connection, Pool, transaction
from ingest.runtime import Runtime
from ingest.settings.operator_key import OperatorKey
from ingest.store.sources import collections
from ingest.store.tenants import api_keys, applications, sessions
from ingest.store.tenants.sessions import Session

log = structlog.get_logger()

APPLICATION_HEADER: Final = "X-Application-Id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The caller: an application, a role in it, and whether it is the operator."""

    application_id: UUID
    role: Role
    is_operator: bool
    id: UUID | None = None
    """Id of the API key, also when a ticket stands for it; None for the operator key."""
    collection_ids: Sequence[UUID] | None = None
    """The collections that it may see; None: everything."""
    operator_key: OperatorKey | None = None
    """The operator key, if the caller came with it or with a ticket that it has issued."""
    session_hash: bytes | None = None
    """The session of the dashboard, if the caller came with its cookie or a ticket of it."""


def runtime_of(connection: HTTPConnection) -> Runtime:
    """The runtime that the application's lifespan opened."""
    return cast(Runtime, connection.app.state.runtime)


async def authenticate(
    connection: HTTPConnection, *, allow_ticket: bool = False, allow_session: bool = True
) -> Key:
    """Identify the caller by the bearer key, with `allow_ticket` by `?ticket=`, or, with
    `allow_session`, by the cookie of the dashboard.

    Raises Unauthorized, Forbidden for a cookie that another site makes a browser send, and
    RateLimited when a key sends too many requests or an address guesses too often. A ticket is
    consumed by this.
    """
    runtime = runtime_of(connection)
    scheme, key = get_authorization_scheme_param(connection.headers.get("authorization"))
    if scheme.lower() == "bearer" and key:
        return await by_key(connection, key)
    ticket = connection.query_params.get("ticket") if allow_ticket else None
    if ticket:
        return await _by_ticket(connection, runtime, ticket)
    session = session_of(connection) if allow_session else None
    if session:
        return await _by_session(connection, runtime, session)
    raise Unauthorized("send an API key as `Authorization: Bearer <key>`")


async def by_key(connection: HTTPConnection, key: str) -> Key:
    """Identify the caller by an API key or the operator's.

    Raises Unauthorized, RateLimited, and NotFound for an application that is not the key's.
    """
    runtime = runtime_of(connection)
    named = _named_application(connection)
    if runtime.operator_key.accepts(key):
        return await operator(runtime, named)
    key_hash, failed = api_keys.digest(key), failed_keys_of(connection.app)
    known = None
    if not failed.is_blocked(key_hash):
        async with transaction(runtime.pool) as conn:
            known = await api_keys.use_key(conn, key)
    if known is None:
        raise failed.record(connection, key_hash, "the API key is not valid")
    request_limits_of(connection.app).count(key_hash)
    if named not in (None, known.application_id):
        raise NotFound("application")
    return Key(
        application_id=known.application_id,
        role=known.role,
        is_operator=False,
        id=known.id,
        collection_ids=known.collection_ids,
    )


def _named_application(connection: HTTPConnection) -> UUID | None:
    named = connection.headers.get(APPLICATION_HEADER)
    if named is None:
        return None
    try:
        return UUID(named)
    except ValueError:
        raise FieldRejected("not a UUID", loc=("header", APPLICATION_HEADER)) from None


async def operator(runtime: Runtime, named: UUID | None) -> Key:
    """The operator, for the application named or the default one. Raises NotFound."""
    async with transaction(runtime.pool) as conn:
        if named is None:
            application_id = await applications.default_id(conn)
        elif await applications.get(conn, named) is None:
            raise NotFound("application")
        else:
            application_id = named
    return Key(
        application_id=application_id,
        role="admin",
        is_operator=True,
        operator_key=runtime.operator_key,
    )


async def _by_ticket(connection: HTTPConnection, runtime: Runtime, ticket: str) -> Key:
    async with transaction(runtime.pool) as conn:
        grant = await api_keys.redeem_ticket(conn, ticket)
        if grant is not None and grant.key_hash is not None:
            # Inside the transaction: a refusal rolls back, and the ticket stays valid.
            request_limits_of(connection.app).count(grant.key_hash)
    if grant is None:
        why = "the ticket is not valid, was used, or has expired"
        raise failed_keys_of(connection.app).record(connection, api_keys.digest(ticket), why)
    return Key(
        application_id=grant.application_id,
        role=grant.role,
        is_operator=False,
        id=grant.key_id,
        collection_ids=grant.collection_ids,
        operator_key=runtime.operator_key if grant.key_id is None else None,
        session_hash=grant.session_hash,
    )


async def _by_session(connection: HTTPConnection, runtime: Runtime, secret: str) -> Key:
    check_use(connection)
    session_hash = api_keys.digest(secret)
    async with transaction(runtime.pool) as conn:
        session = await _live_session(conn, runtime.operator_key, session_hash)
        if session is not None and session.is_stale:
            await sessions.touch(conn, session_hash)
    if session is None:
        why = "the session has ended; sign in again"
        raise failed_keys_of(connection.app).record(connection, session_hash, why)
    named = _named_application(connection)
    if session.key_id is None:
        return replace(await operator(runtime, named), session_hash=session_hash)
    if session.key_hash is not None:
        request_limits_of(connection.app).count(session.key_hash)
    if named not in (None, session.application_id):
        raise NotFound("application")
    return Key(
        application_id=session.application_id,
        role=session.role,
        is_operator=False,
        id=session.key_id,
        collection_ids=session.collection_ids,
        session_hash=session_hash,
    )


async def _live_session(
    conn: Connection, operator_key: OperatorKey | None, session_hash: bytes
) -> Session | None:
    session = await sessions.find(conn, session_hash)
    if session is None or session.operator_seal is None:
        return session
    seal = session.operator_seal
    return session if operator_key and operator_key.has_sealed(session_hash, seal) else None


async def until_revoked(
    pool: Pool, key: Key, *, check_seconds: float, source_id: UUID | None = None
) -> None:
    """Return soon after the key is revoked or, the operator's, replaced, or, a limited one, may see
    the source no more, or its session has ended; run beside a long-lived connection."""
    opened = time.monotonic()
    while True:
        await asyncio.sleep(check_seconds)
        if key.operator_key is not None and key.operator_key.is_replaced_for(opened):
            return
        if key.id is None and key.session_hash is None:
            continue
        try:
            async with transaction(pool) as conn:
                if not await _is_live(conn, key):
                    return
            if source_id is not None and not await visible_sources(pool, key, [source_id]):
                return
        except psycopg.Error as error:
            # No reason to disconnect all clients: without a database there are no events either.
            log.warning("auth.revocation_not_checked", error=type(error).__name__)


async def _is_live(conn: Connection, key: Key) -> bool:
    if key.session_hash is not None:
        return await _live_session(conn, key.operator_key, key.session_hash) is not None
    return key.id is None or await api_keys.is_key_live(conn, key.id)


async def visible_sources(pool: Pool, key: Key, ids: Collection[UUID]) -> Collection[UUID]:
    """Those that a limited key may see now; all of them for other keys."""
    if key.collection_ids is None:
        return ids
    async with transaction(pool_of(pool, key)) as conn:
        return await collections.visible(conn, application_id=key.application_id, ids=ids)


def pool_of(pool: Pool, key: Key) -> Pool:
    """Transactions that see what the key may see."""
    own = pool.of(key.application_id)
    return own if key.collection_ids is None else own.limited_to(key.collection_ids)
