"""Applications (the tenants of an installation), their settings and their keys."""

from functools import partial
from typing import Annotated, Final, Self
from uuid import UUID

from fastapi import Path
from fastapi.responses import JSONResponse
from pydantic import BeforeValidator, Field, model_validator

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import Admin, Operator, PoolDep, RuntimeDep
from api.idempotency import IdempotentDep, Secret
from api.problems import Forbidden
from api.schema import chunking, pagination
from api.schema.chunking import Chunking
from api.schema.json_model import Body, Text, Whole
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import NotFound
from ingest.model import ReviewReason, Role
from ingest.postgres.database import Connection, Pool, transaction
from ingest.quotas import LARGEST, Quota
from ingest.runtime import Runtime
from ingest.store.documents import chunking as stored_chunking
from ingest.store.limits import token_budgets
from ingest.store.sources import collections
from ingest.store.sources.source_views import ChunkingView
from ingest.store.tenants import api_keys, applications
from ingest.store.tenants.api_keys import ApiKey
from ingest.store.tenants.applications import LARGEST_WEIGHT
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/applications", tags=["management"])

Name = Annotated[Text, Field(min_length=1, max_length=200)]

# Shares of common resources: a tenant cannot increase its own.
_OPERATORS: Final = frozenset({"weight", "tokens_per_day", "quotas"})


class NewApplication(Body):
    name: Name


Amount = Annotated[Whole, Field(ge=0, le=LARGEST)]


class OwnQuotas(Body):
    """Quotas of the application; null or left out: those of the installation."""

    stored_bytes: Amount | None = None
    staged_bytes: Amount | None = None
    sources: Amount | None = None
    pending_jobs: Amount | None = None
    uploads: Amount | None = None
    sockets: Amount | None = None


class SettingsPatch(Body):
    weight: Annotated[Whole, Field(ge=1, le=LARGEST_WEIGHT)] = 1
    """The application's share of the workers, relative to other applications."""
    tokens_per_day: Annotated[Whole, Field(ge=1, le=10**15)] | None = None
    """Tokens for embedding providers in a UTC day; null: no budget."""
    reviews: set[ReviewReason] = Field(default_factory=set)
    """Changes that need a review by a person."""
    chunking: Chunking | None = None
    """Replaced as a whole; stored documents are chunked again, without reading files."""
    quotas: OwnQuotas = OwnQuotas()
    """Replaced as a whole. What exceeds a lower quota stays; `GET /api/usage` shows the result."""


class ApplicationPatch(Body):
    """Fields that are left out stay unchanged."""

    name: Name | None = None
    settings: SettingsPatch = SettingsPatch()


class ApplicationSettings(View):
    weight: int
    tokens_per_day: int | None
    reviews: Annotated[list[ReviewReason], BeforeValidator(sorted)]
    chunking: ChunkingView
    quotas: dict[Quota, int]
    """Its own; those of the installation apply for the rest."""


class Application(View):
    id: UUID
    name: str
    settings: ApplicationSettings
    is_default: bool
    created_at: UtcTime


class NewKey(Body):
    name: Name
    role: Role
    collection_ids: Annotated[list[UUID], Field(min_length=1, max_length=100)] | None = None
    """The collections that the key may see, with the role `viewer`; null: everything."""

    @model_validator(mode="after")
    def limited_keys_only_read(self) -> Self:
        if self.collection_ids is not None and self.role != "viewer":
            raise ValueError("a key that is limited to collections has the role viewer")
        return self


class CreatedKey(ApiKey):
    key: str
    """The key itself: only its digest is stored."""


@router.post("", status_code=201, response_model=Application)
async def add_application(
    body: NewApplication, pool: PoolDep, key: Operator, idempotent: IdempotentDep
) -> JSONResponse:
    """Create a tenant."""

    async def work(conn: Connection) -> Application:
        return Application.model_validate(await applications.add(conn, name=body.name))

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=201)


@router.get("")
async def list_applications(
    pool: PoolDep, key: Operator, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Application]:
    """All tenants, newest first."""
    async with transaction(pool) as conn:
        rows = await applications.list_applications(
            conn, limit=limit + 1, before=pagination.time_and_id(cursor)
        )
    views = [Application.model_validate(row) for row in rows]
    return pagination.page(views, limit, key=lambda row: (row.created_at, row.id))


@router.get("/{id}")
async def get_application(id: UUID, runtime: RuntimeDep, key: Admin) -> Application:
    """A tenant and all its settings, including defaults."""
    pool = _pool_of(id, key, runtime)
    async with transaction(pool) as conn:
        application = await applications.get(conn, id)
    if application is None:
        raise NotFound("application")
    return Application.model_validate(application)


@router.patch("/{id}")
async def edit_application(
    id: UUID, body: ApplicationPatch, runtime: RuntimeDep, key: Admin
) -> Application:
    """Rename a tenant or change settings.

    `weight`, `tokensPerDay` and `quotas` need the operator key.
    """
    pool = _pool_of(id, key, runtime)
    given = body.settings.model_fields_set
    if not key.is_operator and given & _OPERATORS:
        raise Forbidden("weight, tokensPerDay and quotas need the operator key")
    changes = body.settings.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude={"chunking"}
    )
    if "quotas" in given:
        changes["quotas"] = body.settings.quotas.model_dump(by_alias=True, exclude_none=True)
    own = chunking.checked(
        body.settings.chunking, runtime.chunking, loc=("body", "settings", "chunking")
    )
    if "chunking" in given:
        changes["chunking"] = own.to_json()
    async with transaction(pool) as conn:
        if "chunking" in given:
            await applications.lock_sources(conn, id)
            await stored_chunking.lock_application(conn, id)
        application = await applications.edit(conn, id, name=body.name, settings=changes)
        if application is None:
            raise NotFound("application")
        if "tokensPerDay" in changes:
            # If the budget was reduced, the jobs find nothing left and keep waiting.
            await token_budgets.resume_waiting(conn, id)
        if "chunking" in given:
            await stored_chunking.rechunk_application(conn, id, own, runtime.chunking)
    return Application.model_validate(application)


@router.post("/{id}/keys", status_code=201, response_model=CreatedKey)
async def add_key(
    id: UUID,
    body: NewKey,
    runtime: RuntimeDep,
    key: Admin,
    idempotent: IdempotentDep,
) -> JSONResponse:
    """Create a key. Only this response and its idempotent replays contain the plaintext key."""
    pool = _pool_of(id, key, runtime)
    if body.collection_ids is not None:
        pool.limited_to(body.collection_ids)  # refused where nothing would limit the key
    derive = partial(api_keys.derived_key, runtime.operator_key.current)
    secret = Secret(member="key", derive=derive, is_valid=_is_live)

    async def work(conn: Connection) -> CreatedKey:
        if body.collection_ids is not None:
            await collections.hold(conn, application_id=id, ids=body.collection_ids)
        added = await api_keys.add_key(
            conn,
            application_id=id,
            name=body.name,
            role=body.role,
            key=secret.clear,
            collection_ids=body.collection_ids,
        )
        if added is None:
            raise NotFound("application")
        return CreatedKey(**dict(added), key=secret.clear)

    return await idempotent.run_once(pool, work, application_id=id, status=201, secret=secret)


async def _is_live(conn: Connection, key: str) -> bool:
    return await api_keys.find_key(conn, key) is not None


@router.get("/{id}/keys")
async def list_keys(
    id: UUID, runtime: RuntimeDep, key: Admin, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[ApiKey]:
    """The keys of an application, newest first, including revoked ones."""
    pool = _pool_of(id, key, runtime)
    async with transaction(pool) as conn:
        if await applications.get(conn, id) is None:
            raise NotFound("application")
        rows = await api_keys.list_keys(
            conn, application_id=id, limit=limit + 1, before=pagination.time_and_id(cursor)
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.delete("/{id}/keys/{keyId}", status_code=204)
async def revoke_key(
    id: UUID, key_id: Annotated[UUID, Path(alias="keyId")], runtime: RuntimeDep, key: Admin
) -> None:
    """Revoke a key. The next request with the key is refused."""
    pool = _pool_of(id, key, runtime)
    async with transaction(pool) as conn:
        if not await api_keys.revoke_key(conn, application_id=id, id=key_id):
            raise NotFound("key")


def _pool_of(application_id: UUID, key: Key, runtime: Runtime) -> Pool:
    """Transactions of this application; raises NotFound, as if it did not exist, to other keys."""
    if not key.is_operator and key.application_id != application_id:
        raise NotFound("application")
    return runtime.pool.of(application_id)
