"""What a search shows of the chunks it found."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.search.scope import Ranked
from ingest.store.view import View

_SQL = load_queries("search/hits.sql")


class SearchHit(View):
    chunk_id: UUID
    knowledge_source_id: UUID
    document_id: UUID
    title: str
    uri: str
    page: int | None
    page_end: int | None
    headings: list[str]
    content: str
    score: float


async def load(
    conn: Connection, ranked: Sequence[Ranked], *, application_id: UUID
) -> list[SearchHit]:
    """Load the chunks in the same order; leave out those deleted meanwhile."""
    async with conn.cursor(row_factory=class_row(SearchHit)) as cur:
        await cur.execute(
            _SQL["load"],
            {
                "ids": [found.id for found in ranked],
                "scores": [found.score for found in ranked],
                "application_id": application_id,
            },
        )
        return await cur.fetchall()
