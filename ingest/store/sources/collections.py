"""Collections: named sets of sources."""

from collections.abc import Collection as Ids
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.view import UtcTime, View

_SQL: Final = load_queries("sources/collections.sql")

_MOST: Final = 10_000

Position = tuple[datetime, UUID]


class Collection(View):
    id: UUID
    application_id: UUID
    name: str
    """Different from those of the application's other collections."""
    description: str
    metadata: dict[str, Any]
    source_count: int
    created_at: UtcTime
    updated_at: UtcTime


async def add(
    conn: Connection,
    *,
    application_id: UUID,
    name: str,
    description: str,
    metadata: Mapping[str, Any],
) -> Collection:
    """Add an empty collection. Raises Conflict if the name is taken or there are too many."""
    limit = {"application_id": application_id, "most": _MOST}
    [(are_many,)] = await (await conn.execute(_SQL["are_many"], limit)).fetchall()
    if are_many:
        raise Conflict(
            f"an application has at most {_MOST} collections", code="too_many_collections"
        )
    async with conn.cursor(row_factory=class_row(Collection)) as cur:
        await cur.execute(
            _SQL["add"],
            {
                "id": new_id(),
                "application_id": application_id,
                "name": name,
                "description": description,
                "metadata": Jsonb(metadata),
            },
        )
        added = await cur.fetchone()
    if added is None:
        raise _name_taken()
    return added


async def list_collections(
    conn: Connection, *, application_id: UUID, limit: int, before: Position | None
) -> list[Collection]:
    """The collections that the transaction can see, newest first."""
    time, last = before or (None, None)
    return await _list(conn, application_id, id=None, limit=limit, before_time=time, before_id=last)


async def get(conn: Connection, *, application_id: UUID, id: UUID) -> Collection:
    """Raises NotFound."""
    found = await _list(conn, application_id, id=id, limit=1, before_time=None, before_id=None)
    if not found:
        raise NotFound("collection")
    return found[0]


async def _list(conn: Connection, application_id: UUID, **where: Any) -> list[Collection]:
    async with conn.cursor(row_factory=class_row(Collection)) as cur:
        await cur.execute(_SQL["list"], {"application_id": application_id, **where})
        return await cur.fetchall()


async def edit(
    conn: Connection,
    *,
    application_id: UUID,
    id: UUID,
    name: str | None,
    description: str | None,
    metadata: Mapping[str, Any] | None,
) -> None:
    """Change what is not None. Raises NotFound, and Conflict if the name is taken."""
    try:
        done = await conn.execute(
            _SQL["edit"],
            {
                "application_id": application_id,
                "id": id,
                "name": name,
                "description": description,
                "metadata": None if metadata is None else Jsonb(metadata),
            },
        )
    except psycopg.errors.UniqueViolation:
        raise _name_taken() from None
    if done.rowcount == 0:
        raise NotFound("collection")


async def delete(conn: Connection, *, application_id: UUID, id: UUID) -> None:
    """Delete a collection; its sources stay. Raises NotFound."""
    done = await conn.execute(_SQL["delete"], {"application_id": application_id, "id": id})
    if done.rowcount == 0:
        raise NotFound("collection")


async def hold(conn: Connection, *, application_id: UUID, ids: Ids[UUID]) -> None:
    """Lock collections until the transaction ends, before any other lock. Raises NotFound."""
    cursor = await conn.execute(_SQL["hold"], {"application_id": application_id, "ids": list(ids)})
    if len(await cursor.fetchall()) < len(set(ids)):
        raise NotFound("collection")


async def add_sources(
    conn: Connection, *, application_id: UUID, id: UUID, source_ids: Ids[UUID]
) -> None:
    """Add live sources to a collection that the caller holds; members stay. Raises NotFound."""
    sources = {"application_id": application_id, "ids": list(source_ids)}
    cursor = await conn.execute(_SQL["hold_sources"], sources)
    if len(await cursor.fetchall()) < len(set(source_ids)):
        raise NotFound("knowledge source")
    await conn.execute(_SQL["add_sources"], _members(application_id, id, sorted(set(source_ids))))


async def remove_sources(
    conn: Connection, *, application_id: UUID, id: UUID, source_ids: Ids[UUID]
) -> None:
    """Remove sources from a collection that the caller holds; others are ignored."""
    await conn.execute(_SQL["remove_sources"], _members(application_id, id, source_ids))


async def missing(
    conn: Connection, *, application_id: UUID, id: UUID, source_ids: Ids[UUID]
) -> set[UUID]:
    """The sources that are not in the collection."""
    cursor = await conn.execute(_SQL["missing"], _members(application_id, id, source_ids))
    return {source_id for (source_id,) in await cursor.fetchall()}


async def visible(conn: Connection, *, application_id: UUID, ids: Ids[UUID]) -> set[UUID]:
    """The sources that exist and that the transaction can see."""
    parameters = {"application_id": application_id, "ids": list(ids)}
    cursor = await conn.execute(_SQL["visible"], parameters)
    return {id for (id,) in await cursor.fetchall()}


def _members(application_id: UUID, id: UUID, source_ids: Ids[UUID]) -> dict[str, Any]:
    return {
        "application_id": application_id,
        "collection_id": id,
        "source_ids": list(source_ids),
    }


def _name_taken() -> Conflict:
    return Conflict("another collection has this name", code="collection_exists")
