"""Management: applications and their keys, the workers' switches."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import Field

from api import pages
from api.deps import Admin, Key, Operator, PoolDep
from api.pages import Cursor, Limit, Page
from api.wire import Body, Text, UtcTime, View
from ingest.db import transaction
from ingest.errors import NotFound
from ingest.model import Role
from ingest.store import access, worker_config

router = APIRouter(prefix="/api", tags=["management"])

Name = Annotated[Text, Field(min_length=1, max_length=200)]


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
