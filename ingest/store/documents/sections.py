"""The section around a chunk: wider context for when the chunk alone is too little."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.view import View

_SQL = load_queries("documents/sections.sql")

LONGEST_SECTION: Final = 20_000
"""Characters; a longer section is cut to this window around the chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChunkPosition:
    chunk_id: UUID
    document_id: UUID
    knowledge_source_id: UUID
    title: str
    uri: str
    headings: list[str]
    char_start: int
    char_end: int
    section_start: int
    section_end: int


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


async def section_around(
    conn: Connection, *, application_id: UUID, chunk_id: UUID
) -> Section | None:
    """The section of a chunk; None if there is no such chunk. Call it in a transaction."""
    async with conn.cursor(row_factory=class_row(_ChunkPosition)) as cur:
        await cur.execute(
            _SQL["chunk_position"], {"application_id": application_id, "chunk_id": chunk_id}
        )
        place = await cur.fetchone()
    if place is None:
        return None
    start, end = _window(place)
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["content"],
            {"document_id": place.document_id, "start": start, "length": end - start},
        )
        content = str(await cur.fetchone() or "")
    return Section(
        chunk_id=place.chunk_id,
        document_id=place.document_id,
        knowledge_source_id=place.knowledge_source_id,
        title=place.title,
        uri=place.uri,
        headings=place.headings,
        start=start,
        end=start + len(content),
        content=content,
        is_truncated=end - start < place.section_end - place.section_start,
    )


def _window(place: _ChunkPosition) -> tuple[int, int]:
    """Start and end of the section, or of a window centred on the chunk if it is too long."""
    length = place.section_end - place.section_start
    if length <= LONGEST_SECTION:
        return place.section_start, place.section_end
    middle = (place.char_start + place.char_end) // 2
    first = place.section_start
    last = place.section_end - LONGEST_SECTION
    start = min(max(middle - LONGEST_SECTION // 2, first), last)
    return start, start + LONGEST_SECTION
