"""Bulk actions on jobs: which rows they refuse, and what they do to the rest."""

from collections.abc import Sequence
from uuid import UUID

from ingest.postgres.database import Connection, load_queries
from ingest.store.bulk.bulk_requests import BulkRequest, filter_parameters
from ingest.store.sources import source_control

_SQL = load_queries("bulk/bulk_jobs.sql")


async def refusals(conn: Connection, request: BulkRequest) -> list[tuple[UUID, str | None]]:
    """Matching jobs of `ids`, and why the action leaves each alone, if it does."""
    values = {**filter_parameters(request), "action": request.payload.action}
    cursor = await conn.execute(_SQL["refusals"], values, prepare=False)
    return await cursor.fetchall()


async def change(conn: Connection, request: BulkRequest, ids: Sequence[UUID]) -> None:
    """Cancel, retry or delete jobs that were not refused."""
    application_id = request.application_id
    match request.payload.action:
        case "cancel":
            await source_control.cancel(conn, application_id=application_id, job_ids=ids)
        case "retry":
            await source_control.retry(
                conn,
                application_id=application_id,
                job_ids=ids,
                statuses=("failed", "cancelled"),
            )
        case "delete":
            await conn.execute(_SQL["delete"], {"application_id": application_id, "ids": list(ids)})
        case action:
            raise AssertionError(f"{action} is no action on jobs")
