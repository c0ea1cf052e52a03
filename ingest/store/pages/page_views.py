"""Pages of a document: their ranges of the text, their state, their chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, kwargs_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.sources.source_views import Chunk, chunk_view
from ingest.store.view import View

_SQL = load_queries("pages/page_views.sql")

PageState = Literal["text", "ocr", "empty", "unread", "failed", "lost"]
"""`lost`: unread or failed; the document has both, and does not say which page is which."""


class PageView(View):
    number: int
    """1-based."""
    start: int
    """Offset in the document's text, in characters, like `end`."""
    end: int
    state: PageState


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPages:
    """The pages of a document."""

    source_id: UUID
    media_type: str
    pages: list[list[int]]
    """Number, start, end of each."""
    coverage: dict[str, Any]
    characters: int
    with_words: list[int]
    """Numbers of pages read by OCR whose words have known places."""

    @property
    def count(self) -> int:
        """Pages of the file; 1 for a picture, or a text without pages."""
        return max(1, len(self.pages))

    @property
    def is_ocr(self) -> bool:
        """Whether all text was recognised."""
        return bool(self.coverage["byOcr"]) and self.coverage["byOcr"] == self.coverage["withText"]

    def range_of(self, number: int) -> tuple[int, int]:
        """Start and end of a page in the document's text; all of it if there are no pages."""
        if not self.pages:
            return 0, self.characters
        _, start, end = self.pages[number - 1]
        return start, end

    def views(self) -> list[PageView]:
        """The pages with their states; none for a document without pages."""
        return [
            PageView(number=number, start=start, end=end, state=self._state(number, start, end))
            for number, start, end in self.pages
        ]

    def _state(self, number: int, start: int, end: int) -> PageState:
        lost = self.coverage
        if number in lost["lost"]:
            if lost["unread"] and lost["failed"]:
                return "lost"
            return "failed" if lost["failed"] else "unread"
        if start == end:
            return "empty"
        return "ocr" if self.is_ocr or number in self.with_words else "text"


async def pages(
    conn: Connection, *, application_id: UUID, document_id: UUID
) -> DocumentPages | None:
    """None if there is no such document."""
    async with conn.cursor(row_factory=class_row(DocumentPages)) as cur:
        await cur.execute(
            _SQL["pages"], {"application_id": application_id, "document_id": document_id}
        )
        return await cur.fetchone()


async def words(conn: Connection, *, document_id: UUID, page: int) -> bytes | None:
    """The packed words of a page read by OCR; None if they were not kept."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["words"], {"document_id": document_id, "page": page})
        return await cur.fetchone()


async def chunks(
    conn: Connection,
    *,
    application_id: UUID,
    document_id: UUID,
    limit: int,
    after: int | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Sequence[Chunk]:
    """Chunks in reading order. after: an ordinal; start, end: with characters of this range."""
    async with conn.cursor(row_factory=kwargs_row(chunk_view)) as cur:
        await cur.execute(
            _SQL["chunks"],
            {
                "application_id": application_id,
                "document_id": document_id,
                "after": after,
                "start": start,
                "until": end,
                "limit": limit,
            },
            prepare=False,
        )
        return await cur.fetchall()
