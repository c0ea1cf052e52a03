"""Bulk actions on sources: which rows they refuse, and what they do to the rest."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.payloads import BulkPayload
from ingest.postgres.database import Connection, load_queries
from ingest.scheduling.recurrence import Recurrence
from ingest.store.bulk.bulk_requests import BulkRequest, filter_parameters
from ingest.store.crawl import rescrapes, runs
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingDefaults, ChunkingOverrides
from ingest.store.lists.source_lists import Position
from ingest.store.sources import collections, events, source_control
from ingest.store.tenants import applications

_SQL = load_queries("bulk/bulk_sources.sql")

# As of metadata in requests (api/schema/json_model.py).
_LONGEST_METADATA: Final = 64 * 1024


async def refusals(
    conn: Connection, request: BulkRequest, *, limit: int, oldest: Position | None
) -> list[tuple[UUID, str | None]]:
    """Matching sources, and why the action leaves each alone, if it does.

    `oldest`: only sources from this position on.
    """
    oldest_time, oldest_id = oldest or (None, None)
    cursor = await conn.execute(
        _SQL["refusals"],
        {
            "action": request.payload.action,
            **filter_parameters(request),
            **_metadata(request.payload),
            "target_id": request.payload.collection_id,
            "new_chunking": Jsonb(_overrides(request.payload).to_json()),
            "longest_metadata": _LONGEST_METADATA,
            "oldest_time": oldest_time,
            "oldest_id": oldest_id,
            "limit": limit,
        },
        prepare=False,
    )
    return await cursor.fetchall()


async def change(
    conn: Connection, request: BulkRequest, ids: Sequence[UUID], defaults: ChunkingDefaults
) -> None:
    """Do the action to sources that were not refused. The caller holds the application's lock."""
    application_id, payload = request.application_id, request.payload
    match payload.action:
        case "delete":
            await source_control.delete(conn, application_id=application_id, ids=ids)
        case "cancel":
            await source_control.cancel(conn, application_id=application_id, source_ids=ids)
        case "retry":
            await retry(conn, application_id=application_id, ids=ids)
        case "fetch_again":
            for id in ids:
                await runs.rescrape(
                    conn,
                    application_id=application_id,
                    source_id=id,
                    priority=runs.RESCRAPE_PRIORITY,
                )
        case "read_again":
            await source_control.read_again(conn, application_id=application_id, ids=ids)
        case "add_to_collection" | "remove_from_collection":
            await _set_membership(conn, request, ids)
        case _:
            await _set(conn, request, ids, defaults)


async def _set(
    conn: Connection, request: BulkRequest, ids: Sequence[UUID], defaults: ChunkingDefaults
) -> None:
    application_id, payload = request.application_id, request.payload
    match payload.action:
        case "set_metadata":
            await _set_metadata(conn, request, ids)
        case "set_chunking":
            await chunking.set_for_sources(
                conn,
                application_id=application_id,
                source_ids=ids,
                own=_overrides(payload),
                application=(await applications.settings_of(conn, application_id)).chunking,
                defaults=defaults,
            )
        case "set_schedule":
            schedule = _schedule(payload)
            for id in ids:
                await rescrapes.set_schedule(
                    conn, application_id=application_id, source_id=id, schedule=schedule
                )


async def retry(conn: Connection, *, application_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """Queue the failed and cancelled jobs of the sources' current runs again; returns the jobs.

    The root job, or, if it completed, the files in the file that failed. Takes the application's
    lock.
    """
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["retryable"], {"application_id": application_id, "ids": list(ids)})
        job_ids = await cur.fetchall()
    return await source_control.retry(
        conn, application_id=application_id, job_ids=job_ids, statuses=("failed", "cancelled")
    )


async def _set_metadata(conn: Connection, request: BulkRequest, ids: Sequence[UUID]) -> None:
    owned = {"application_id": request.application_id, "ids": list(ids)}
    cursor = await conn.execute(_SQL["set_metadata"], {**owned, **_metadata(request.payload)})
    await events.emit(
        conn,
        [
            events.NewEvent(source_id=id, type="source", data={"status": status})
            for id, status in await cursor.fetchall()
        ],
    )


async def _set_membership(conn: Connection, request: BulkRequest, ids: Sequence[UUID]) -> None:
    """The caller holds the collection."""
    collection_id = request.payload.collection_id
    assert collection_id is not None  # the API requires it  # noqa: S101
    joining = request.payload.action == "add_to_collection"
    write = collections.add_sources if joining else collections.remove_sources
    await write(conn, application_id=request.application_id, id=collection_id, source_ids=ids)


def _metadata(payload: BulkPayload) -> dict[str, Any]:
    given = payload.metadata or {}
    return {
        "new_metadata": Jsonb({key: value for key, value in given.items() if value is not None}),
        "removed_keys": [key for key, value in given.items() if value is None],
    }


def _overrides(payload: BulkPayload) -> ChunkingOverrides:
    return ChunkingOverrides.from_json(payload.chunking)


def _schedule(payload: BulkPayload) -> Recurrence | None:
    if payload.cron is None or payload.timezone is None:
        return None
    return Recurrence(cron=payload.cron, timezone=payload.timezone)
