"""Rechunk stored documents: find the outdated ones, read them, swap their chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from ingest.analysis.chunk_terms import has_terms
from ingest.analysis.subject import Subject
from ingest.model import Chunk, ChunkSettings, Page, Vectors
from ingest.payloads import Payload
from ingest.postgres.database import Connection, load_queries
from ingest.store.documents import chunking, documents
from ingest.store.documents.chunking import AppliedChunking, ChunkingDefaults
from ingest.store.documents.chunking_json import chunking_json
from ingest.store.documents.documents import DocumentChunks

_SQL = load_queries("documents/rechunks.sql")

Swapped = Literal["swapped", "changed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RechunkCounts:
    """How many documents a source has, and how many are left to rechunk."""

    documents: int
    open: int
    """Documents with outdated chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document as it was read; `swap` checks that it has not changed since."""

    id: UUID
    application_id: UUID
    source_id: UUID
    uri: str
    title: str | None
    source_name: str | None
    author: str | None
    """Both as in analysis/subject.py."""
    text: str
    furniture: list[tuple[int, str]]
    """As in the column: parts left out of `text`."""
    media_type: str
    chunking: dict[str, Any]
    """The settings it was chunked with."""
    pages: list[list[int]]
    """Number, start and end of each."""
    coverage: dict[str, Any]
    error_code: str | None
    """Why it is `partial`."""
    updated_at: datetime
    is_held: bool
    """Whether it awaits review; its source does not count it yet."""

    def subject(self, language: str | None) -> Subject:
        return Subject(
            title=self.title,
            uri=self.uri,
            name=self.source_name,
            author=self.author,
            language=language,
        )

    def is_cut_by(self, settings: ChunkSettings) -> bool:
        """Whether it was chunked with these settings, apart from the furniture of its site."""
        return _without_furniture(self.chunking) == _without_furniture(chunking_json(settings))

    def page_ranges(self) -> tuple[Page, ...]:
        return tuple(Page(number=number, start=start, end=end) for number, start, end in self.pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunks:
    """New chunks of a document, and the settings used."""

    settings: ChunkSettings
    text: str
    """What was chunked: the document's text without `left_out`."""
    left_out: Sequence[tuple[int, str]]
    chunks: Sequence[Chunk]
    language: str | None
    hashes: Sequence[bytes]
    vectors: Vectors
    embedded: NDArray[np.bool_]
    model_id: int
    error_code: str | None
    """Why the document is `partial`; None: it is complete."""


def _without_furniture(chunking: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in chunking.items() if name != "furniture"}


async def count_outdated(
    conn: Connection, source_id: UUID, settings: ChunkSettings
) -> RechunkCounts:
    async with conn.cursor(row_factory=class_row(RechunkCounts)) as cur:
        await cur.execute(
            _SQL["count_outdated"],
            {"source_id": source_id, "chunking": Jsonb(chunking_json(settings))},
        )
        return await cur.fetchone() or RechunkCounts(documents=0, open=0)


async def next_document(
    conn: Connection, source_id: UUID, settings: ChunkSettings, *, after: UUID | None
) -> StoredDocument | None:
    """The next document with outdated chunks, by id; None: no more, or the source is gone."""
    async with conn.cursor(row_factory=class_row(StoredDocument)) as cur:
        await cur.execute(
            _SQL["next"],
            {
                "source_id": source_id,
                "chunking": Jsonb(chunking_json(settings)),
                "after": after,
            },
        )
        return await cur.fetchone()


async def swap(
    conn: Connection, document: StoredDocument, new: NewChunks, defaults: ChunkingDefaults
) -> Swapped:
    """Replace the chunks and vectors of a document, in the caller's transaction.

    Writes nothing and returns `changed` if the document or the settings changed since the chunks
    were made, or `gone` if the source was deleted.
    """
    before = await _lock(conn, document, new.settings, defaults)
    if isinstance(before, str):
        return before
    await documents.swap_chunks(
        conn,
        DocumentChunks(
            application_id=document.application_id,
            source_id=document.source_id,
            document_id=document.id,
            chunks=new.chunks,
            hashes=new.hashes,
            subject=document.subject(new.language),
            vectors=new.vectors,
            embedded=new.embedded,
            model_id=new.model_id,
        ),
    )
    await _count(conn, document, new, before)
    return "swapped"


async def mark(
    conn: Connection, document: StoredDocument, settings: ChunkSettings, defaults: ChunkingDefaults
) -> Swapped:
    """Note that the chunks of a document are as the settings say; returns as swap()."""
    before = await _lock(conn, document, settings, defaults)
    if isinstance(before, str):
        return before
    values = {"id": document.id, "chunking": Jsonb(chunking_json(settings))}
    await conn.execute(_SQL["mark"], values)
    return "swapped"


async def _lock(
    conn: Connection, document: StoredDocument, settings: ChunkSettings, defaults: ChunkingDefaults
) -> dict[str, Any] | Literal["changed", "gone"]:
    """Lock a document and return its counts, unless it or its settings are not as they were."""
    if await _one(conn, "lock_source", id=document.source_id) is None:
        return "gone"
    applied = AppliedChunking(
        application_id=document.application_id, source_id=document.source_id, used=settings
    )
    if await chunking.outdated(conn, [applied], defaults):
        return "changed"
    before = await _one(conn, "lock_document", id=document.id, updated_at=document.updated_at)
    return "changed" if before is None else before


async def _count(
    conn: Connection, document: StoredDocument, new: NewChunks, before: Mapping[str, Any]
) -> None:
    chunks, tokens = len(new.chunks), sum(chunk.token_count for chunk in new.chunks)
    await conn.execute(
        _SQL["update_document"],
        {
            "id": document.id,
            "chunking": Jsonb(chunking_json(new.settings)),
            "text": new.text,
            "furniture": Jsonb(list(new.left_out)),
            "chunks": chunks,
            "tokens": tokens,
            "model_id": new.model_id,
            "language": new.language,
            "terms_indexed": has_terms(new.chunks),
            "status": "completed" if new.error_code is None else "partial",
            "error_code": new.error_code,
        },
    )
    if not before["is_held"]:
        await conn.execute(
            _SQL["add_counts"],
            {
                "source_id": document.source_id,
                "chunks": chunks - before["chunk_count"],
                "tokens": tokens - before["token_count"],
            },
        )


async def save_progress(conn: Connection, job_id: UUID, payload: Payload) -> None:
    """Save a job's progress in its payload for the next attempt. The caller holds the job."""
    await conn.execute(_SQL["save_progress"], {"job_id": job_id, "payload": payload.to_json()})


async def _one(conn: Connection, query: str, **values: Any) -> dict[str, Any] | None:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL[query], values)
        return await cur.fetchone()
