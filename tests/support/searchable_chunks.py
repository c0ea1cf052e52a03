"""Searchable chunks with vectors, stored as the pipeline stores them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.chunk_terms import with_terms
from ingest.model import Chunk, ChunkSettings, Document, EmbeddingModel
from ingest.postgres.database import Connection, show
from ingest.search.keyword_ranking import WordQuestion, by_words
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.documents import documents
from ingest.store.documents.documents import NewDocument
from ingest.store.embeddings import embedding_models
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery
from ingest.store.sources import sources
from tests.support.live_sources import add_source


@asynccontextmanager
async def searching(conn: Connection, application_id: UUID) -> AsyncIterator[None]:
    """A transaction that sees the rows of this application, as a search needs."""
    async with conn.transaction():
        await show(conn, application_id)
        yield


@dataclass(frozen=True, kw_only=True)
class Space:
    """A registered embedding model."""

    id: int
    dimension: int
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def clustered(self, count: int) -> NDArray[np.float32]:
        """Random vectors around 40 centres, like those of texts on 40 subjects."""
        centres = np.random.default_rng(1).standard_normal((40, self.dimension))
        near = self.rng.standard_normal((count, self.dimension)) * 0.6
        return (centres[self.rng.integers(0, 40, count)] + near).astype(np.float32)


async def add_space(conn: Connection, *, name: str = "a model", dimension: int = 8) -> Space:
    model = EmbeddingModel(
        provider="static", name=name, dimension=dimension, max_tokens=512, tokenizer="cl100k_base"
    )
    return Space(id=await embedding_models.register(conn, model), dimension=dimension)


async def add_document(
    conn: Connection,
    application_id: UUID,
    space: Space,
    texts: Sequence[str],
    *,
    vectors: NDArray[np.float32] | None = None,
    metadata: str = "{}",
    title: str | None = None,
    sender: str | None = None,
    chunks: Sequence[Chunk] | None = None,
) -> UUID:
    """Add a completed source with one document of these chunks; returns the source id."""
    source = await add_source(conn, application_id, status="completed", metadata=metadata)
    await replace_chunks(
        conn,
        application_id,
        space,
        source,
        texts,
        vectors=vectors,
        title=title,
        sender=sender,
        chunks=chunks,
    )
    return source


async def replace_chunks(
    conn: Connection,
    application_id: UUID,
    space: Space,
    source: UUID,
    texts: Sequence[str],
    *,
    vectors: NDArray[np.float32] | None = None,
    title: str | None = None,
    sender: str | None = None,
    chunks: Sequence[Chunk] | None = None,
) -> None:
    """Store the document of a source, as a later run of it would."""
    await conn.execute(
        "update rag.knowledge_sources set chunk_count = %s where id = %s", [len(texts), source]
    )
    chunks = chunks or [
        Chunk(
            ordinal=n,
            text=text,
            token_count=1,
            start=0,
            end=len(text),
            section=(0, len(text)),
            headings=("A",),
            page=1,
            page_end=1,
        )
        for n, text in enumerate(texts)
    ]
    document, chunks = with_terms(
        Document(
            text="\n".join(texts),
            media_type="text/plain",
            extractor="text",
            title=title,
            metadata={"from": sender} if sender else {},
        ),
        chunks,
    )
    async with conn.transaction():
        await sources.lock(conn, [source])
        await documents.replace(
            conn,
            [
                NewDocument(
                    application_id=application_id,
                    source_id=source,
                    uri="folder/file.txt",
                    content_hash=b"hash",
                    document=document,
                    chunks=chunks,
                    hashes=[documents.text_hash(text) for text in texts],
                    vectors=space.clustered(len(texts)) if vectors is None else vectors,
                    embedded=np.ones(len(texts), dtype=np.bool_),
                    model_id=space.id,
                    chunking=ChunkSettings(tokenizer="minilm", size=256, overlap=32),
                    is_partial=False,
                )
            ],
        )


async def nearest(
    conn: Connection,
    scope: SearchScope,
    space: Space,
    vector: NDArray[np.float32],
    limit: int = 10,
    statistics: SearchStatistics | None = None,
) -> list[UUID]:
    async with conn.transaction():
        query = VectorQuery(scope=scope, model_id=space.id, vector=vector, limit=limit)
        found = await by_meaning(conn, query, statistics or SearchStatistics())
    return [hit.id for hit in found]


async def found_by_words(
    conn: Connection,
    scope: SearchScope,
    query: str,
    *,
    most: int = 1000,
) -> list[Ranked]:
    async with searching(conn, scope.application_id):
        asked = WordQuestion.of(
            query, await SearchStatistics().of_words(conn, scope.application_id)
        )
        return (await by_words(conn, scope, asked, most=most)).best(most)


async def texts(conn: Connection, ids: Sequence[UUID]) -> list[str]:
    cursor = await conn.execute("select id, content from rag.chunks where id = any(%s)", [ids])
    contents = dict(await cursor.fetchall())
    return [contents[id] for id in ids]
