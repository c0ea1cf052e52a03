"""What came out of a file or page: the document, its chunks, their vectors."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from ingest.db import Connection, load_queries, new_id
from ingest.model import Chunk, Document, Vectors

_SQL = load_queries("documents.sql")

_CHUNK_TYPES = (
    "uuid",
    "uuid",
    "uuid",
    "uuid",
    "int4",
    "text",
    "bytea",
    "int4",
    "text[]",
    "int4",
    "int4",
    "int4",
    "text",
)
_EMBEDDING_TYPES = ("uuid", "int2", "uuid", "vector")


def text_hash(text: str) -> bytes:
    """Digest under which a text's vector is found again; 32 bytes."""
    return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """One document with its chunks, ready to be stored."""

    application_id: UUID
    source_id: UUID
    uri: str
    content_hash: bytes
    document: Document
    chunks: Sequence[Chunk]
    keywords: Sequence[str | None]
    """Per chunk: text for the keyword index where it differs from the chunk's own."""
    vectors: Vectors
    embedded: NDArray[np.bool_]
    """Per chunk: False for a text that the provider refused; it is found by keyword only."""
    model_id: int
    is_partial: bool
    error_code: str | None = None


async def replace(conn: Connection, new: NewDocument) -> UUID:
    """Swap a document's chunks and vectors for new ones, in the caller's transaction."""
    document_id, is_new = await _upsert(conn, new)
    if not is_new:
        await conn.execute(_SQL["delete_chunks"], {"document_id": document_id})
    chunk_ids = [new_id() for _ in new.chunks]
    async with conn.cursor() as cur, cur.copy(_SQL["copy_chunks"]) as copy:
        copy.set_types(_CHUNK_TYPES)
        for chunk_id, chunk, keywords in zip(chunk_ids, new.chunks, new.keywords, strict=True):
            await copy.write_row(
                (
                    chunk_id,
                    new.application_id,
                    new.source_id,
                    document_id,
                    chunk.ordinal,
                    chunk.text,
                    text_hash(chunk.text),
                    chunk.token_count,
                    list(chunk.headings),
                    chunk.page,
                    chunk.start,
                    chunk.end,
                    keywords,
                )
            )
    rows = zip(chunk_ids, new.vectors, new.embedded, strict=True)
    async with conn.cursor() as cur, cur.copy(_SQL["copy_embeddings"]) as copy:
        copy.set_types(_EMBEDDING_TYPES)
        for chunk_id, vector, is_embedded in rows:
            if is_embedded:
                await copy.write_row((chunk_id, new.model_id, new.application_id, vector))
    return document_id


async def _upsert(conn: Connection, new: NewDocument) -> tuple[UUID, bool]:
    document = new.document
    cursor = await conn.execute(
        _SQL["upsert"],
        {
            "id": new_id(),
            "application_id": new.application_id,
            "source_id": new.source_id,
            "uri": new.uri,
            "title": document.title,
            "media_type": document.media_type,
            "status": "partial" if new.is_partial else "completed",
            "error_code": new.error_code,
            "content_hash": new.content_hash,
            "text": document.text,
            "extractor": document.extractor,
            "encoding": Jsonb(asdict(document.encoding)) if document.encoding else None,
            "coverage": Jsonb(asdict(document.coverage)),
            "metadata": Jsonb(document.metadata),
            "warnings": list(document.warnings),
            "chunk_count": len(new.chunks),
            "token_count": sum(chunk.token_count for chunk in new.chunks),
        },
    )
    row = await cursor.fetchone()
    if row is None:
        raise RuntimeError("an upsert always returns its row")
    return row[0], row[1]


async def known_vectors(
    conn: Connection, *, application_id: UUID, model_id: int, hashes: Sequence[bytes]
) -> dict[bytes, NDArray[np.float32]]:
    """Vectors that need not be computed again, by text hash. Never those of another application."""
    cursor = await conn.execute(
        _SQL["known_vectors"],
        {"application_id": application_id, "model_id": model_id, "hashes": list(set(hashes))},
    )
    return {digest: _float32(vector) for digest, vector in await cursor.fetchall()}


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
    """Keep vectors that a job has paid for until it completes."""
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
    """Forget cached vectors that are stored with chunks now."""
    await conn.execute(
        _SQL["drop_cached"],
        {"application_id": application_id, "model_id": model_id, "hashes": list(hashes)},
    )


async def expire_cache(conn: Connection) -> int:
    """Remove cached vectors of jobs that never completed; how many."""
    return (await conn.execute(_SQL["expire_cache"])).rowcount
