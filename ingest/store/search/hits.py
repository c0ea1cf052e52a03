"""What a search shows of the chunks it found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from ingest.model import section_paths
from ingest.postgres.database import Connection, Pool, load_queries
from ingest.store.view import UtcTime, View

_SQL = load_queries("search/hits.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk with what its document and source say."""

    chunk_id: UUID
    knowledge_source_id: UUID
    document_id: UUID
    title: str
    uri: str
    media_type: str
    metadata: dict[str, Any]
    document_metadata: dict[str, Any]
    published_at: str | None
    created_at: datetime
    updated_at: datetime
    ordinal: int
    page: int | None
    page_end: int | None
    char_start: int
    char_end: int
    headings: list[str]
    next_sections: list[tuple[int, int, str]] | None
    """As `sections` of model.Chunk; None: unknown, chunked by an earlier version."""
    content: str

    @property
    def sections(self) -> list[list[str]]:
        """The paths of headings of all sections that the chunk contains, in reading order."""
        return section_paths(self.headings, self.next_sections)

    def section_texts(self) -> Iterator[str]:
        """The text of each section, as far as it is in the chunk."""
        # A repeated table header precedes the text itself.
        first = len(self.content) - (self.char_end - self.char_start) - self.char_start
        starts = [first + start for start, _, _ in self.next_sections or ()]
        for start, end in pairwise([0, *starts, len(self.content)]):
            yield self.content[start:end]


class ChunkView(View):
    """A chunk that can be cited."""

    chunk_id: UUID
    knowledge_source_id: UUID
    document_id: UUID
    title: str
    uri: str
    """Path, path inside the uploaded file, or URL."""
    media_type: str
    metadata: dict[str, Any]
    """Of the source, as it was given with the upload."""
    document_metadata: dict[str, Any]
    """What the document says about itself: author, date, front matter …"""
    published_at: str | None
    """The date that the document states, in its own words."""
    created_at: UtcTime
    """When the source was added."""
    updated_at: UtcTime
    """When the document was processed last."""
    ordinal: int
    """Place in the document, from 0."""
    page: int | None
    page_end: int | None
    char_start: int
    """Place in the text of the document, in characters, like `charEnd`."""
    char_end: int
    headings: list[str]
    """Above the start of the chunk, outermost first."""
    sections: list[list[str]]
    """The same for every section that the chunk contains, in reading order."""
    content: str


class Duplicate(View):
    """A chunk that says the same as a hit."""

    chunk_id: UUID
    knowledge_source_id: UUID
    document_id: UUID
    title: str
    uri: str


class SearchHit(ChunkView):
    score: float
    """What the hits are ordered by, see the endpoint."""
    cosine: float | None
    """Cosine similarity to the query; null if the vectors did not find the chunk."""
    bm25: float | None
    """Keyword score, above 0; null if the words did not find the chunk."""
    rerank_score: float | None
    """As the reranker gave it."""
    vector_rank: int | None
    """Place among the chunks found by vectors, from 1."""
    keyword_rank: int | None
    section: list[str]
    """Headings above the part that matches best, outermost first; one of `sections`."""
    matched_terms: list[str]
    """Words of the query that the chunk contains, in some form."""
    duplicate_count: int
    """Chunks with (nearly) the same text that were left out."""
    duplicates: list[Duplicate]
    """These chunks, at most 100."""


async def load(conn: Connection, ids: Sequence[UUID], *, application_id: UUID) -> list[StoredChunk]:
    """Load the chunks in the same order; leave out those deleted meanwhile."""
    async with conn.cursor(row_factory=class_row(StoredChunk)) as cur:
        await cur.execute(_SQL["load"], {"ids": list(ids), "application_id": application_id})
        return await cur.fetchall()


async def load_alone(pool: Pool, ids: Sequence[UUID], *, application_id: UUID) -> list[StoredChunk]:
    """The same in a transaction of its own, in one round trip."""
    return await pool.run_alone(
        _SQL["load"],
        {"ids": list(ids), "application_id": application_id},
        row_factory=class_row(StoredChunk),
    )
