"""A chunk, and the text around it."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, Reader
from ingest.errors import NotFound
from ingest.postgres.database import transaction
from ingest.store.documents import sections
from ingest.store.documents.sections import LONGEST_SECTION, Section
from ingest.store.search import hits
from ingest.store.search.hits import ChunkView

router = KeyedRouter(prefix="/api/chunks", tags=["search"])


@router.get("/{id}")
async def get_chunk(id: UUID, pool: PoolDep, key: Reader) -> ChunkView:
    """A chunk with what its document and source say, as in a search hit."""
    async with transaction(pool) as conn:
        found = await hits.load(conn, [id], application_id=key.application_id)
    if not found:
        raise NotFound("chunk")
    return ChunkView.model_validate(found[0])


@router.get("/{id}/section")
async def get_section(
    id: UUID,
    pool: PoolDep,
    key: Reader,
    *,
    size: Annotated[int, Query(ge=1, le=LONGEST_SECTION)] = LONGEST_SECTION,
    neighbours: Annotated[int | None, Query(ge=0, le=20)] = None,
) -> Section:
    """The section of the document that contains the chunk, up to the next heading.

    `neighbours`: instead, the chunk with so many chunks before and after it, of whatever section.
    `size`: at most so many characters, with the chunk in the middle.
    """
    async with transaction(pool) as conn:
        section = await sections.section_around(
            conn,
            application_id=key.application_id,
            chunk_id=id,
            longest=size,
            neighbours=neighbours,
        )
    if section is None:
        raise NotFound("chunk")
    return section
