"""The section around a chunk: wider context for when the chunk alone is too little."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.view import View

_SQL = load_queries("documents/sections.sql")

LONGEST_SECTION: Final = 20_000
"""Characters; of a longer section, a window around the chunk is returned."""


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
    """Markdown; if the section has more characters than asked for, those around the chunk."""
    is_truncated: bool


async def section_around(
    conn: Connection,
    *,
    application_id: UUID,
    chunk_id: UUID,
    longest: int = LONGEST_SECTION,
    neighbours: int | None = None,
) -> Section | None:
    """The section of a chunk; None if there is no such chunk. Call it in a transaction.

    `longest`: most characters. `neighbours`: chunks to each side instead of the section.
    """
    async with conn.cursor(row_factory=class_row(_ChunkPosition)) as cur:
        await cur.execute(
            _SQL["chunk_position"], {"application_id": application_id, "chunk_id": chunk_id}
        )
        place = await cur.fetchone()
    if place is None:
        return None
    whole = place.section_start, place.section_end
    if neighbours is not None:
        cursor = await conn.execute(_SQL["neighbours"], {"chunk_id": chunk_id, "count": neighbours})
        whole = await cursor.fetchone() or whole
    start, end = _window(place, whole, longest)
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
        is_truncated=end - start < whole[1] - whole[0],
    )


def _window(place: _ChunkPosition, whole: tuple[int, int], longest: int) -> tuple[int, int]:
    """The whole range, or if it is too long, a window of it that is centred on the chunk."""
    first, end = whole
    if end - first <= longest:
        return first, end
    middle = (place.char_start + place.char_end) // 2
    start = min(max(middle - longest // 2, first), end - longest)
    return start, start + longest
