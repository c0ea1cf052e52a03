"""The limit: cut all texts, pack them into the fewest requests the provider accepts, and COPY.

It knows all texts before the first request, which a service never does. It sends as many requests
concurrently as the service, and stores finished vectors while others are in progress.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from pgvector.psycopg import register_vector_async

from benchmarks.provider.server import DIMENSION
from benchmarks.provider.work import MODEL, OVERLAP, TOKENS
from ingest.chunking.chunk import chunk
from ingest.embedding.caller_state import group
from ingest.formats.registry import extract
from ingest.model import Chunk, EmbeddingModel
from ingest.postgres.database import Connection, new_id
from ingest.providers.embedders.openai import OpenAIEmbedder
from ingest.tokens.tokenizers import load_tokenizer

_TABLES = f"""
create table documents (id uuid primary key, path text, content text);
create table chunks (
    id uuid primary key, document_id uuid, content text, embedding vector({DIMENSION}));
create index on chunks using hnsw (embedding vector_cosine_ops);
"""
_COPY = b"copy chunks (id, document_id, content, embedding) from stdin (format binary)"

Row = tuple[Any, Any, Chunk]
"""Chunk id, document id, chunk."""


async def run(files: Sequence[Path], *, dsn: str, base_url: str) -> tuple[float, int]:
    """Seconds for all files, and the number of stored chunks."""
    tokenizer = load_tokenizer("cl100k_base")
    embedder = _embedder(base_url)
    async with await psycopg.AsyncConnection.connect(dsn) as conn:
        await register_vector_async(conn)
        await conn.execute(_TABLES.encode())
        await conn.commit()
        started = time.perf_counter()
        documents, rows = _cut(files, tokenizer)
        async with conn.cursor().copy("copy documents from stdin (format binary)") as copy:
            copy.set_types(["uuid", "text", "text"])
            for document in documents:
                await copy.write_row(document)
        runs = group(
            [piece.token_count for _, _, piece in rows],
            max_items=embedder.max_items,
            max_tokens=embedder.max_request_tokens,
        )
        slots, turn = asyncio.Semaphore(embedder.concurrency), asyncio.Lock()

        async def embed_and_store(part: Sequence[Row]) -> None:
            async with slots:
                vectors = await embedder.embed([piece.text for _, _, piece in part])
            async with turn:
                await _store(conn, part, vectors)

        async with asyncio.TaskGroup() as tasks:
            for part in runs:
                tasks.create_task(embed_and_store(rows[part.start : part.stop]))
        seconds = time.perf_counter() - started
    await embedder.close()
    return seconds, len(rows)


def _embedder(base_url: str) -> OpenAIEmbedder:
    model = EmbeddingModel(
        provider="openai",
        name=MODEL,
        dimension=DIMENSION,
        max_tokens=8192,
        tokenizer="cl100k_base",
    )
    return OpenAIEmbedder(model, api_key="sk-bench", base_url=base_url, dimensions=DIMENSION)


def _cut(files: Sequence[Path], tokenizer: Any) -> tuple[list[tuple[Any, str, str]], list[Row]]:
    documents, rows = [], []
    for file in files:
        with file.open("rb") as content:
            document = extract(content, name=file.name)
        id = new_id()
        documents.append((id, file.name, document.text))
        pieces = chunk(document, tokenizer=tokenizer, size=TOKENS, overlap=OVERLAP)
        rows += [(new_id(), id, piece) for piece in pieces]
    return documents, rows


async def _store(conn: Connection, part: Sequence[Row], vectors: Any) -> None:
    async with conn.cursor().copy(_COPY) as copy:
        copy.set_types(["uuid", "uuid", "text", "vector"])
        for (id, document_id, piece), vector in zip(part, vectors, strict=True):
            await copy.write_row((id, document_id, piece.text, vector))
    await conn.commit()
