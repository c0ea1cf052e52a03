"""Actions on all sources or jobs of a filter: counted first, then done by a job."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from fastapi.responses import JSONResponse
from pydantic import Field, model_validator

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.idempotency import IdempotentDep, IdempotentRequest, to_json
from api.schema import chunking, schedules
from api.schema.chunking import Chunking
from api.schema.filters import JobSelection, SourceSelection
from api.schema.json_model import Body, Flag, Metadata
from api.schema.schedules import Schedule
from ingest.payloads import BulkPayload
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.bulk import bulk_runs
from ingest.store.bulk.bulk_requests import BulkRequest
from ingest.store.bulk.bulk_runs import BulkPlan
from ingest.store.sources import collections
from ingest.store.tenants import applications
from ingest.store.view import View

router = KeyedRouter(prefix="/api")

SourceAction = Literal[
    "delete",
    "cancel",
    "retry",
    "fetch_again",
    "read_again",
    "set_metadata",
    "add_to_collection",
    "remove_from_collection",
    "set_chunking",
    "set_schedule",
]
_FIELD: Final = {
    "set_metadata": "metadata",
    "add_to_collection": "collection_id",
    "remove_from_collection": "collection_id",
    "set_chunking": "chunking",
    "set_schedule": "schedule",
}
"""The field that an action needs; no other action takes it."""

Ids = Annotated[list[UUID], Field(min_length=1, max_length=1000)]


class _Bulk(Body):
    ids: Ids | None = None
    """Instead of a filter: these, those that do not exist are ignored."""
    dry_run: Flag = False
    """Only count."""


class SourceBulk(_Bulk):
    """One of `filter` and `ids`, an action, and the field that the action needs."""

    action: SourceAction
    filter: SourceSelection | None = None
    metadata: Metadata | None = None
    """For `set_metadata`: keys to add or replace; null removes a key. Other keys stay."""
    collection_id: UUID | None = None
    """For `add_to_collection` and `remove_from_collection`."""
    chunking: Chunking | None = None
    """For `set_chunking`, replaced as a whole; null: the application's."""
    schedule: Schedule | None = None
    """For `set_schedule`; null: nightly."""

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        _one_selection(self.filter, self.ids)
        needed = _FIELD.get(self.action)
        given = {name for name in _FIELD.values() if name in self.model_fields_set}
        if needed is not None and needed not in given:
            raise ValueError(f"{self.action} needs {needed}")
        if needed in ("metadata", "collection_id") and getattr(self, needed) is None:
            raise ValueError(f"{self.action} needs {needed}")
        if given - {needed}:
            raise ValueError(f"{self.action} takes no {min(given - {needed})}")
        return self


class JobBulk(_Bulk):
    """One of `filter` and `ids`, and an action."""

    action: Literal["retry", "cancel", "delete"]
    filter: JobSelection | None = None

    @model_validator(mode="after")
    def selects_once(self) -> Self:
        _one_selection(self.filter, self.ids)
        return self


def _one_selection(filter: Body | None, ids: Sequence[UUID] | None) -> None:
    if (filter is None) == (ids is None):
        raise ValueError("give either filter or ids")


class BulkStarted(View):
    job_id: UUID
    """A job of the type `bulk`; its `result` says what was changed and what was left alone."""
    row_count: int
    """Rows that it goes through: those that match now, the newest million at most."""


_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "With `dryRun`: what the action would change", "model": BulkPlan},
    202: {"description": "A job was queued", "model": BulkStarted},
}


@router.post(
    "/knowledge-sources/bulk",
    status_code=202,
    response_model=BulkStarted,
    responses=_ANSWERS,
    tags=["knowledge sources"],
)
async def change_sources(
    body: SourceBulk, runtime: RuntimeDep, pool: PoolDep, key: Editor, idempotent: IdempotentDep
) -> JSONResponse:
    """Do something to all sources of a filter, in the background.

    Sources that match later are left alone, as are those that no longer match when their turn
    comes. Cancel the job to stop it; what is done stays.
    """
    schedule = schedules.checked(body.schedule, loc=("body", "schedule"))

    async def request(conn: Connection) -> BulkRequest:
        overrides = None
        if body.chunking is not None:
            application = (await applications.settings_of(conn, key.application_id)).chunking
            checked = chunking.checked(
                body.chunking, runtime.chunking, application, loc=("body", "chunking")
            )
            overrides = checked.to_json()
        if body.collection_id is not None:
            # Raises NotFound; the job holds it again.
            await collections.get(conn, application_id=key.application_id, id=body.collection_id)
        selection = body.filter or SourceSelection()
        return BulkRequest(
            application_id=key.application_id,
            where=selection.where(selection.metadata),
            ids=body.ids,
            payload=BulkPayload(
                target="sources",
                action=body.action,
                metadata=body.metadata,
                collection_id=body.collection_id,
                chunking=overrides,
                cron=schedule and schedule.cron,
                timezone=schedule and schedule.timezone,
            ),
        )

    return await _answer(body, request, pool, key.application_id, idempotent)


@router.post(
    "/jobs/bulk",
    status_code=202,
    response_model=BulkStarted,
    responses=_ANSWERS,
    tags=["jobs"],
)
async def change_jobs(
    body: JobBulk, pool: PoolDep, key: Editor, idempotent: IdempotentDep
) -> JSONResponse:
    """Retry, cancel or delete all jobs of a filter, in the background.

    Jobs that match later are left alone, as are those that no longer match when their turn comes,
    and jobs of the type `bulk`.
    """

    async def request(conn: Connection) -> BulkRequest:
        selection = body.filter or JobSelection()
        return BulkRequest(
            application_id=key.application_id,
            where=selection.where(selection.metadata),
            ids=body.ids,
            payload=BulkPayload(target="jobs", action=body.action),
        )

    return await _answer(body, request, pool, key.application_id, idempotent)


async def _answer(
    body: _Bulk,
    request: Callable[[Connection], Awaitable[BulkRequest]],
    pool: Pool,
    application_id: UUID,
    idempotent: IdempotentRequest,
) -> JSONResponse:
    if body.dry_run:
        async with transaction(pool) as conn:
            return JSONResponse(to_json(await bulk_runs.plan(conn, await request(conn))))

    async def work(conn: Connection) -> BulkStarted:
        started = await bulk_runs.start(conn, await request(conn))
        return BulkStarted(job_id=started.job_id, row_count=started.rows)

    return await idempotent.run_once(pool, work, application_id=application_id, status=202)
