"""The limit: extract, chunk, embed and COPY in one loop, with nothing around it."""

import asyncio
import io
import time
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from ingest.config import Settings
from ingest.db import new_id
from ingest.model import Chunk, Document
from ingest.pipeline.chunk import chunk
from ingest.pipeline.extract.registry import extract
from ingest.pipeline.tokenizers import load_tokenizer
from ingest.providers.embedders.factory import build_embedder, chunk_settings

_TABLES = """
drop schema if exists bare cascade;
create schema bare;
create table bare.documents (id uuid primary key, path text, content text);
create table bare.chunks (
    id uuid primary key, document_id uuid, content text, embedding vector({dimension}),
    tsv tsvector generated always as (to_tsvector('english', content)) stored);
create index on bare.chunks using hnsw (embedding vector_cosine_ops);
create index on bare.chunks using gin (tsv);
"""
_PER_COMMIT = 40


class BareScript:
    """Works on tables of its own in the same database, with the same chunks and vectors."""

    def __init__(self, dsn: str) -> None:
        settings = Settings(embedder="static")
        self._embedder = asyncio.run(build_embedder(settings))
        self._chunking = chunk_settings(settings, self._embedder.model)
        self._tokenizer = load_tokenizer(self._chunking.tokenizer)
        self._conn: psycopg.Connection[Any] = psycopg.connect(dsn)
        register_vector(self._conn)
        tables = _TABLES.format(dimension=self._embedder.model.dimension)
        self._conn.execute(tables.encode())
        self._conn.commit()
        self.files = self.chunks = 0

    def run(self, files: list[tuple[str, bytes]]) -> float:
        """Seconds for all files."""
        started = time.perf_counter()
        for start in range(0, len(files), _PER_COMMIT):
            self._store(files[start : start + _PER_COMMIT])
        return time.perf_counter() - started

    def _store(self, files: list[tuple[str, bytes]]) -> None:
        documents: list[tuple[UUID, str, str]] = []
        chunks: list[tuple[UUID, UUID, str]] = []
        for path, content in files:
            document = extract(io.BytesIO(content), name=path)
            document_id = new_id()
            documents.append((document_id, path, document.text))
            chunks += [(new_id(), document_id, piece.text) for piece in self._cut(document)]
        self.files += len(documents)
        self.chunks += len(chunks)
        vectors = asyncio.run(self._embed([text for _, _, text in chunks]))
        with self._conn.cursor() as cur:
            with cur.copy("copy bare.documents from stdin (format binary)") as copy:
                copy.set_types(["uuid", "text", "text"])
                for document_row in documents:
                    copy.write_row(document_row)
            with cur.copy(
                "copy bare.chunks (id, document_id, content, embedding) from stdin (format binary)"
            ) as copy:
                copy.set_types(["uuid", "uuid", "text", "vector"])
                for row, vector in zip(chunks, vectors, strict=True):
                    copy.write_row((*row, vector))
        self._conn.commit()

    def _cut(self, document: Document) -> list[Chunk]:
        return chunk(
            document,
            tokenizer=self._tokenizer,
            size=self._chunking.size,
            overlap=self._chunking.overlap,
        )

    async def _embed(self, texts: list[str]) -> Any:
        step = self._embedder.max_items
        return np.concatenate(
            [await self._embedder.embed(texts[at : at + step]) for at in range(0, len(texts), step)]
        )
