"""Management: applications and their keys, job types, the workers' switches."""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field

from api import pages
from api.deps import Admin, Key, Operator, PoolDep, Viewer
from api.pages import Cursor, Limit, Page
from api.wire import Body, Text, UtcTime, View
from ingest.db import transaction
from ingest.errors import NotFound
from ingest.model import Role
from ingest.store import access, job_control, worker_config
from ingest.store.worker_config import JobTypeChange

router = APIRouter(prefix="/api", tags=["management"])

Name = Annotated[Text, Field(min_length=1, max_length=200)]
# Lower bounds, because a duration that the database rounds to zero would never wait, or never run.
Backoff = Annotated[float, Field(ge=0.1, le=7 * 86400, allow_inf_nan=False)]
Timeout = Annotated[float, Field(ge=1, le=7 * 86400, allow_inf_nan=False)]


class NewApplication(Body):
    name: Name


class Application(View):
    id: UUID
    name: str
    settings: dict[str, Any]
    is_default: bool
    created_at: UtcTime


class NewKey(Body):
    name: Name
    role: Role


class ApiKey(View):
    id: UUID
    application_id: UUID
    name: str
    role: Role
    prefix: str
    created_at: UtcTime
    revoked_at: UtcTime | None


class CreatedKey(ApiKey):
    key: str
    """In clear, this once: only its digest is kept."""


class JobType(View):
    type: str
    handler: str
    max_attempts: int
    backoff_base_seconds: float
    backoff_cap_seconds: float
    timeout_seconds: float
    is_enabled: bool
    is_paused: bool


class JobTypePatch(Body):
    """What is left out stays as it is."""

    is_enabled: bool | None = None
    is_paused: bool | None = None
    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    backoff_base_seconds: Backoff | None = None
    backoff_cap_seconds: Backoff | None = None
    timeout_seconds: Timeout | None = None


class WorkerConfig(View):
    paused: bool


class WorkerConfigPut(Body):
    paused: bool


@router.post("/applications", status_code=201)
async def add_application(body: NewApplication, pool: PoolDep, key: Operator) -> Application:
    """Create a tenant."""
    async with transaction(pool) as conn:
        return Application.model_validate(await access.add_application(conn, name=body.name))


@router.get("/applications")
async def list_applications(
    pool: PoolDep, key: Operator, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Application]:
    """All tenants, newest first."""
    async with transaction(pool) as conn:
        rows = await access.list_applications(
            conn, limit=limit + 1, before=pages.time_and_id(cursor)
        )
    return pages.page(rows, limit, view=Application, key=lambda row: (row.created_at, row.id))


@router.post("/applications/{id}/keys", status_code=201)
async def add_key(id: UUID, body: NewKey, pool: PoolDep, key: Admin) -> CreatedKey:
    """Create a key. The answer is the only one that holds it in clear."""
    _own(id, key)
    async with transaction(pool) as conn:
        added = await access.add_key(conn, application_id=id, name=body.name, role=body.role)
    if added is None:
        raise NotFound("application")
    row, clear = added
    return CreatedKey(**ApiKey.model_validate(row).model_dump(), key=clear)


@router.get("/applications/{id}/keys")
async def list_keys(
    id: UUID, pool: PoolDep, key: Admin, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[ApiKey]:
    """The keys of an application, newest first, revoked ones too."""
    _own(id, key)
    async with transaction(pool) as conn:
        if await access.get_application(conn, id) is None:
            raise NotFound("application")
        rows = await access.list_keys(
            conn, application_id=id, limit=limit + 1, before=pages.time_and_id(cursor)
        )
    return pages.page(rows, limit, view=ApiKey, key=lambda row: (row.created_at, row.id))


@router.delete("/applications/{id}/keys/{keyId}", status_code=204)
async def revoke_key(
    id: UUID, key_id: Annotated[UUID, Path(alias="keyId")], pool: PoolDep, key: Admin
) -> None:
    """Revoke a key: it is refused from the next request on."""
    _own(id, key)
    async with transaction(pool) as conn:
        if not await access.revoke_key(conn, application_id=id, id=key_id):
            raise NotFound("key")


@router.get("/job-types")
async def list_job_types(pool: PoolDep, key: Viewer) -> Page[JobType]:
    """How each type of job is run."""
    async with transaction(pool) as conn:
        rows = await job_control.job_types(conn)
    return Page(items=[_job_type(row) for row in rows], next_cursor=None)


@router.patch("/job-types/{type}")
async def edit_job_type(type: Text, body: JobTypePatch, pool: PoolDep, key: Admin) -> JobType:
    """Pause, disable or tune a type of job, for the whole installation."""
    change = JobTypeChange(
        is_enabled=body.is_enabled,
        is_paused=body.is_paused,
        max_attempts=body.max_attempts,
        backoff_base=_duration(body.backoff_base_seconds),
        backoff_cap=_duration(body.backoff_cap_seconds),
        timeout=_duration(body.timeout_seconds),
    )
    async with transaction(pool) as conn:
        changed = await worker_config.edit_job_type(conn, type, change)
    if changed is None:
        raise NotFound("job type")
    return _job_type(changed)


@router.get("/worker/config")
async def get_worker_config(pool: PoolDep, key: Admin) -> WorkerConfig:
    """The switches of all workers."""
    async with transaction(pool) as conn:
        return WorkerConfig(paused=await worker_config.is_paused(conn))


@router.put("/worker/config")
async def put_worker_config(body: WorkerConfigPut, pool: PoolDep, key: Admin) -> WorkerConfig:
    """Pause or resume all workers; jobs that are running go on to their end."""
    async with transaction(pool) as conn:
        await worker_config.set_paused(conn, body.paused)
    return WorkerConfig(paused=body.paused)


def _own(application_id: UUID, key: Key) -> None:
    """Another application's keys look like those of one that does not exist."""
    if not key.is_operator and key.application_id != application_id:
        raise NotFound("application")


def _job_type(row: job_control.JobType) -> JobType:
    return JobType(
        type=row.type,
        handler=row.handler,
        max_attempts=row.max_attempts,
        backoff_base_seconds=row.backoff_base.total_seconds(),
        backoff_cap_seconds=row.backoff_cap.total_seconds(),
        timeout_seconds=row.timeout.total_seconds(),
        is_enabled=row.is_enabled,
        is_paused=row.is_paused,
    )


def _duration(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
