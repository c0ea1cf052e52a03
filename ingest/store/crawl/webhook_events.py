"""The webhook inbox: stores incoming events unchanged; each is processed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("crawl/webhook_events.sql")

_MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWebhookEvent:
    """A delivery. A large body is in the blob store instead of `body`."""

    provider: str
    dedupe_key: bytes
    """Idempotency key: deliveries with the same key are the same event."""
    size_bytes: int
    body: bytes | None = None
    blob_key: str | None = None
    headers: Mapping[str, str] | None = None
    """Without signatures and other secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookEvent:
    id: int
    body: bytes | None
    blob_key: str | None
    attempts: int


async def add(conn: Connection, event: NewWebhookEvent) -> int | None:
    """Store a delivery and notify the inbox processor; None if it is a duplicate."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["add"],
            {
                "provider": event.provider,
                "dedupe_key": event.dedupe_key,
                "headers": Jsonb(dict(event.headers or {})),
                "body": event.body,
                "blob_key": event.blob_key,
                "size_bytes": event.size_bytes,
            },
        )
        id: int | None = await cur.fetchone()
    if id is not None:
        await conn.execute(_SQL["wake"])
    return id


async def list_waiting(conn: Connection, *, limit: int) -> list[WebhookEvent]:
    """Unprocessed events, oldest first. Another process may hold them: see hold()."""
    async with conn.cursor(row_factory=class_row(WebhookEvent)) as cur:
        await cur.execute(_SQL["list_waiting"], {"limit": limit})
        return await cur.fetchall()


async def hold(conn: Connection, id: int) -> bool:
    """Lock an event until the transaction ends; False if another process holds or finished it."""
    return (await conn.execute(_SQL["hold"], {"id": id})).rowcount == 1


async def mark_processed(
    conn: Connection,
    id: int,
    *,
    type: str | None,
    provider_crawl_id: str | None,
    crawl_id: UUID | None,
    error: str | None = None,
) -> None:
    """Mark an event as processed, in the transaction that applied it."""
    await conn.execute(
        _SQL["mark_processed"],
        {
            "id": id,
            "type": type,
            "provider_crawl_id": provider_crawl_id,
            "crawl_id": crawl_id,
            "error": error,
        },
    )


async def mark_failed(conn: Connection, id: int, *, error: str, delay: timedelta) -> None:
    """Record a failed attempt; retry after `delay`, up to five attempts in total."""
    await conn.execute(
        _SQL["mark_failed"],
        {"id": id, "error": error, "delay": delay, "max_attempts": _MAX_ATTEMPTS},
    )


async def content(conn: Connection, id: int) -> tuple[bytes | None, str | None] | None:
    """Body or blob key of an event; None if it was deleted."""
    row = await (await conn.execute(_SQL["content"], {"id": id})).fetchone()
    return None if row is None else (row[0], row[1])


async def blobs(conn: Connection, keys: Sequence[str]) -> set[str]:
    """The keys among `keys` that an event refers to."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["blobs"], {"keys": list(keys)})
        return set(await cur.fetchall())


async def requeue_for_crawl(conn: Connection, provider_crawl_id: str) -> None:
    """Reprocess events that arrived before we knew which run has this provider id."""
    done = await conn.execute(_SQL["requeue_for_crawl"], {"provider_crawl_id": provider_crawl_id})
    if done.rowcount:
        await conn.execute(_SQL["wake"])


async def forget(conn: Connection) -> list[str | None]:
    """Delete up to 1,000 events processed over a week ago; return the blob key of each, if any."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["forget"])
        return await cur.fetchall()
