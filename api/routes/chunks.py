"""The context of a chunk that was found."""

from uuid import UUID

from fastapi import APIRouter

from api.authenticated_route import AuthenticatedRoute
from api.dependencies import PoolDep, Reader
from ingest.errors import NotFound
from ingest.postgres.database import transaction
from ingest.store.documents import sections
from ingest.store.documents.sections import Section

router = APIRouter(route_class=AuthenticatedRoute, prefix="/api/chunks", tags=["search"])


@router.get("/{id}/section")
async def get_section(id: UUID, pool: PoolDep, key: Reader) -> Section:
    """The section of the document that contains the chunk, up to the next heading."""
    async with transaction(pool) as conn:
        section = await sections.section_around(
            conn, application_id=key.application_id, chunk_id=id
        )
    if section is None:
        raise NotFound("chunk")
    return section
