"""Collections: named sets of knowledge sources, to search in and to limit keys to."""

from typing import Annotated, Final, Self
from uuid import UUID

from fastapi.responses import JSONResponse
from pydantic import Field, model_validator

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, Reader
from api.idempotency import IdempotentDep
from api.schema import pagination
from api.schema.json_model import Body, Metadata, Text
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from ingest.postgres.database import Connection, transaction
from ingest.store.sources import collections
from ingest.store.sources.collections import Collection

router = KeyedRouter(prefix="/api/collections", tags=["knowledge sources"])

_MAX_SOURCES: Final = 1000

Name = Annotated[Text, Field(min_length=1, max_length=200)]
Description = Annotated[Text, Field(max_length=2000)]
SourceIds = Annotated[list[UUID], Field(max_length=_MAX_SOURCES)]


class NewCollection(Body):
    name: Name
    description: Description = ""
    metadata: Metadata = Field(default_factory=dict)


class CollectionPatch(Body):
    """Fields that are left out stay unchanged; `metadata` is replaced as a whole."""

    name: Name | None = None
    description: Description | None = None
    metadata: Metadata | None = None


class MembersChange(Body):
    """The sources to add and to remove; at least one."""

    add: SourceIds = Field(default_factory=list)
    remove: SourceIds = Field(default_factory=list)

    @model_validator(mode="after")
    def names_each_source_once(self) -> Self:
        if not self.add and not self.remove:
            raise ValueError("name at least one source")
        if set(self.add) & set(self.remove):
            raise ValueError("a source is both added and removed")
        return self


@router.post("", status_code=201, response_model=Collection, responses=problems(409))
async def add_collection(
    body: NewCollection, pool: PoolDep, key: Editor, idempotent: IdempotentDep
) -> JSONResponse:
    """Create an empty collection."""

    async def work(conn: Connection) -> Collection:
        return await collections.add(
            conn,
            application_id=key.application_id,
            name=body.name,
            description=body.description,
            metadata=body.metadata,
        )

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=201)


@router.get("")
async def list_collections(
    pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[Collection]:
    """The collections that the key may see, newest first."""
    async with transaction(pool) as conn:
        rows = await collections.list_collections(
            conn,
            application_id=key.application_id,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.get("/{id}")
async def get_collection(id: UUID, pool: PoolDep, key: Reader) -> Collection:
    """One collection; `GET /api/knowledge-sources?collectionId=` lists its sources."""
    async with transaction(pool) as conn:
        return await collections.get(conn, application_id=key.application_id, id=id)


@router.patch("/{id}", responses=problems(409))
async def edit_collection(
    id: UUID, body: CollectionPatch, pool: PoolDep, key: Editor
) -> Collection:
    """Rename or describe a collection, or replace its metadata."""
    async with transaction(pool) as conn:
        await collections.edit(
            conn,
            application_id=key.application_id,
            id=id,
            name=body.name,
            description=body.description,
            metadata=body.metadata,
        )
        return await collections.get(conn, application_id=key.application_id, id=id)


@router.post("/{id}/knowledge-sources")
async def change_members(id: UUID, body: MembersChange, pool: PoolDep, key: Editor) -> Collection:
    """Add sources to a collection and remove others, all or none. Repeating it is harmless."""
    owner = key.application_id
    async with transaction(pool) as conn:
        await collections.hold(conn, application_id=owner, ids=[id])
        await collections.add_sources(conn, application_id=owner, id=id, source_ids=body.add)
        await collections.remove_sources(conn, application_id=owner, id=id, source_ids=body.remove)
        return await collections.get(conn, application_id=owner, id=id)


@router.delete("/{id}", status_code=204)
async def delete_collection(id: UUID, pool: PoolDep, key: Editor) -> None:
    """Delete a collection. Its sources stay; keys that may see no other collection see nothing."""
    async with transaction(pool) as conn:
        await collections.delete(conn, application_id=key.application_id, id=id)
