"""The context of a chunk that was found."""

from uuid import UUID

from fastapi import APIRouter

from api.dependencies import PoolDep, Viewer
from api.keyed_route import KeyedRoute
from api.schema.json_model import View
from ingest.errors import NotFound
from ingest.postgres.database import transaction
from ingest.store.documents import sections

router = APIRouter(route_class=KeyedRoute, prefix="/api/chunks", tags=["search"])


class Section(View):
    chunk_id: UUID
    document_id: UUID
    knowledge_source_id: UUID
    title: str
    uri: str
    headings: list[str]
    """Above the chunk, outermost first."""
    start: int
    """Offset of `content` in the text of the document, in characters, like `end`."""
    end: int
    content: str
    """Markdown; if the section has more than 20,000 characters, those around the chunk."""
    is_truncated: bool


@router.get("/{id}/section")
async def get_section(id: UUID, pool: PoolDep, key: Viewer) -> Section:
    """The section of the document that contains the chunk, up to the next heading."""
    async with transaction(pool) as conn:
        section = await sections.section_around(
            conn, application_id=key.application_id, chunk_id=id
        )
    if section is None:
        raise NotFound("chunk")
    return Section.model_validate(section)
