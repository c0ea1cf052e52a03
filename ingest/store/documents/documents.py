"""Store documents extracted from files and pages, with their chunks and vectors."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from ingest.analysis.chunk_terms import has_terms, indexed_terms
from ingest.analysis.subject import Subject
from ingest.model import Chunk, ChunkSettings, Coverage, Document, Vectors
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.store.documents.chunking_json import chunking_json
from ingest.store.documents.integer_arrays import end_to_end
from ingest.store.embeddings import fresh_vectors
from ingest.store.pages import page_words

_SQL = load_queries("documents/documents.sql")

_CHUNK_COLUMNS = (
    *("id", "application_id", "source_id", "document_id", "ordinal", "content", "embedded_hash"),
    *("token_count", "headings", "page", "page_end", "char_start", "char_end"),
    *("section_start", "section_end", "sections", "words", "grams"),
)


def text_hash(text: str) -> bytes:
    """SHA-256 digest (32 bytes): the key for reusing a text's vector."""
    return hashlib.sha256(text.encode()).digest()


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """JSON of a coverage, for the database and the API."""
    return {
        "pages": coverage.pages,
        "withText": coverage.with_text,
        "byOcr": coverage.by_ocr,
        "empty": coverage.empty,
        "unread": coverage.unread,
        "failed": coverage.failed,
        "lost": list(coverage.lost),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class FromWeb:
    """What the next fetch of this page compares with."""

    etag: str | None = None
    last_modified: str | None = None
    text_hash: bytes
    links: Sequence[str] = ()
    url_pattern: str | None = None
    """URL pattern shared by generated pages of one kind; None for a page without siblings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChunks:
    """Chunks to store for a document whose row exists."""

    application_id: UUID
    source_id: UUID
    document_id: UUID
    subject: Subject
    chunks: Sequence[Chunk]
    hashes: Sequence[bytes]
    """As in NewDocument."""
    vectors: Vectors
    embedded: NDArray[np.bool_]
    model_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to store with its chunks."""

    application_id: UUID
    source_id: UUID
    uri: str
    source_name: str | None = None
    """As in analysis/subject.py."""
    content_hash: bytes
    document: Document
    chunks: Sequence[Chunk]
    hashes: Sequence[bytes]
    """Per chunk: text_hash of the text that was embedded."""
    vectors: Vectors
    embedded: NDArray[np.bool_]
    """Per chunk: False if the provider refused the text; keyword search still finds it."""
    model_id: int
    chunking: ChunkSettings
    """The settings used."""
    is_partial: bool
    error_code: str | None = None
    web: FromWeb | None = None
    held_by_job_id: UUID | None = None
    """The job awaiting review; the document is hidden until then (held_documents.py)."""
    last_seen_job_id: UUID | None = None
    """Root job of the run; set for a file inside an archive or message."""
    id: UUID = field(default_factory=new_id)
    """Used only on insert; an existing document keeps its id."""


async def replace(
    conn: Connection, documents: Sequence[NewDocument]
) -> dict[tuple[UUID, str], UUID]:
    """Upsert documents and replace their chunks and vectors, in the caller's transaction.

    No document may occur twice. Returns the document ids by source and uri.
    """
    if not documents:
        return {}
    ids = await _upsert(conn, documents)
    await page_words.insert(conn, {ids[new.source_id, new.uri]: new for new in documents})
    await _insert_chunks(conn, [_chunks_of(new, ids[new.source_id, new.uri]) for new in documents])
    return ids


async def swap_chunks(conn: Connection, new: DocumentChunks) -> None:
    """Replace the chunks and vectors of a document; leave its row unchanged."""
    await conn.execute(_SQL["delete_chunks"], {"document_ids": [new.document_id]})
    await _insert_chunks(conn, [new])


def _chunks_of(new: NewDocument, document_id: UUID) -> DocumentChunks:
    return DocumentChunks(
        application_id=new.application_id,
        source_id=new.source_id,
        document_id=document_id,
        chunks=new.chunks,
        hashes=new.hashes,
        subject=Subject.of(new.document, new.uri),
        vectors=new.vectors,
        embedded=new.embedded,
        model_id=new.model_id,
    )


async def _insert_chunks(conn: Connection, documents: Sequence[DocumentChunks]) -> None:
    chunk_ids = [[new_id() for _ in new.chunks] for new in documents]
    rows = [
        row
        for new, own_ids in zip(documents, chunk_ids, strict=True)
        for row in _chunk_rows(new, own_ids)
    ]
    if not rows:
        return
    columns: dict[str, Any] = dict(
        zip(_CHUNK_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)
    )
    for name in ("words", "grams"):
        terms = end_to_end(columns[name])
        columns[name] = terms.array
        columns |= {f"{name}_start": terms.starts, f"{name}_end": terms.ends}
    await conn.execute(_SQL["insert_chunks"], columns)
    await fresh_vectors.store(
        conn,
        [
            (id, new.model_id, new.application_id, vector)
            for new, own_ids in zip(documents, chunk_ids, strict=True)
            for id, vector, is_embedded in zip(own_ids, new.vectors, new.embedded, strict=True)
            if is_embedded
        ],
    )


def _chunk_rows(new: DocumentChunks, ids: Sequence[UUID]) -> Iterator[tuple[Any, ...]]:
    terms = indexed_terms(new.subject, new.chunks, application_id=new.application_id)
    for id, chunk, hash, own in zip(ids, new.chunks, new.hashes, terms, strict=True):
        yield (
            id,
            new.application_id,
            new.source_id,
            new.document_id,
            chunk.ordinal,
            chunk.text,
            hash,
            chunk.token_count,
            Jsonb(list(chunk.headings)),
            chunk.page,
            chunk.page_end,
            chunk.start,
            chunk.end,
            *chunk.section,
            Jsonb(chunk.sections),
            own.words,
            own.grams,
        )


async def _upsert(
    conn: Connection, documents: Sequence[NewDocument]
) -> dict[tuple[UUID, str], UUID]:
    """Upsert the rows and delete the chunks of earlier versions; returns ids by source and uri."""
    rows = [_document_row(new) for new in documents]
    cursor = await conn.execute(
        _SQL["upsert"], {name: [row[name] for row in rows] for name in rows[0]}
    )
    written = await cursor.fetchall()
    replaced = [id for id, _, _, is_new in written if not is_new]
    if replaced:
        await conn.execute(_SQL["delete_chunks"], {"document_ids": replaced})
        await page_words.drop(conn, replaced)
    return {(source_id, uri): id for id, source_id, uri, _ in written}


def _document_row(new: NewDocument) -> dict[str, Any]:
    document = new.document
    return {
        "id": new.id,
        "application_id": new.application_id,
        "source_id": new.source_id,
        "uri": new.uri,
        "title": document.title,
        "language": document.language,
        "terms_indexed": has_terms(new.chunks),
        "media_type": document.media_type,
        "status": "partial" if new.is_partial else "completed",
        "error_code": new.error_code,
        "content_hash": new.content_hash,
        "text": document.text,
        "extractor": document.extractor,
        "encoding": Jsonb(asdict(document.encoding)) if document.encoding else None,
        "coverage": Jsonb(coverage_json(document.coverage)),
        "metadata": Jsonb(document.metadata),
        "warnings": Jsonb(list(document.warnings)),
        "chunk_count": len(new.chunks),
        "token_count": sum(chunk.token_count for chunk in new.chunks),
        "etag": new.web.etag if new.web else None,
        "last_modified": new.web.last_modified if new.web else None,
        "text_hash": new.web.text_hash if new.web else None,
        "embedding_model_id": new.model_id,
        "links": Jsonb(list(new.web.links) if new.web else []),
        "url_pattern": new.web.url_pattern if new.web else None,
        "held_by_job_id": new.held_by_job_id,
        "pages": Jsonb([[page.number, page.start, page.end] for page in document.pages]),
        "furniture": Jsonb(document.left_out),
        "chunking": Jsonb(chunking_json(new.chunking)),
        "last_seen_job_id": new.last_seen_job_id,
    }


async def known_vectors(
    conn: Connection, wanted: Collection[tuple[UUID, bytes]], *, model_id: int
) -> dict[tuple[UUID, bytes], NDArray[np.float32]]:
    """Vectors that can be reused, by application and text hash.

    Never shares vectors between applications.
    """
    cursor = await conn.execute(
        _SQL["known_vectors"],
        {
            "application_ids": [application_id for application_id, _ in wanted],
            "hashes": [digest for _, digest in wanted],
            "model_id": model_id,
        },
    )
    rows = await cursor.fetchall()
    return {(owner, digest): _float32(vector) for owner, digest, vector in rows}


def _float32(vector: Any) -> NDArray[np.float32]:
    values = vector.to_numpy() if hasattr(vector, "to_numpy") else vector
    return np.asarray(values, dtype=np.float32)


async def cache_vectors(
    conn: Connection,
    *,
    application_id: UUID,
    model_id: int,
    hashes: Sequence[bytes],
    vectors: Vectors,
) -> None:
    """Cache vectors that a job has paid for until it stores them."""
    await conn.execute(
        _SQL["cache_vectors"],
        {
            "application_id": application_id,
            "model_id": model_id,
            "hashes": list(hashes),
            "vectors": list(vectors),
        },
    )


async def drop_cached(
    conn: Connection, *, application_id: UUID, model_id: int, hashes: Sequence[bytes]
) -> None:
    """Delete cached vectors once they are stored with chunks."""
    await conn.execute(
        _SQL["drop_cached"],
        {"application_id": application_id, "model_id": model_id, "hashes": list(hashes)},
    )
