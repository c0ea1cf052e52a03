"""Change of an application's embedding model.

    fill      vectors of the new model beside the old ones; `documents.embedding_model_id` is
              still the old model, by which searches find the document
    switch    once all documents are filled, one commit names the new model in all of them
    drop      vectors of other models, in the background

A document that is uploaded meanwhile is searched by the new model from the start, so an application
may have documents of two models: `in_use` tells which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from psycopg.rows import class_row, scalar_row

from ingest.analysis.subject import Subject
from ingest.model import Chunk, EmbeddingModel
from ingest.payloads import ReembedPayload
from ingest.postgres.database import Connection, load_queries
from ingest.store.embeddings import fresh_vectors
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob

_SQL = load_queries("embeddings/model_changes.sql")

PRIORITY: Final = -10
"""Background work, as nightly fetches: the old vectors are searched meanwhile."""
_FIRST: Final = (UUID(int=0), -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """A registered model."""

    id: int
    provider: str
    name: str
    dimension: int
    config: Mapping[str, Any]
    """The settings that build its embedder; empty: not known."""

    def is_space_of(self, model: EmbeddingModel) -> bool:
        """Whether vectors of `model` can be compared with those stored."""
        own = (self.provider, self.name, self.dimension)
        return own == (model.provider, model.name, model.dimension)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCounts:
    documents: int
    open: int
    """Documents that are searched by another model."""
    ready: int
    """Those of `open` that have vectors of the new model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document as it was read; it is skipped if it has changed since."""

    id: UUID
    source_id: UUID
    updated_at: datetime
    chunk_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    id: UUID
    document_id: UUID
    ordinal: int
    content: str
    token_count: int
    headings: list[str]
    title: str | None
    uri: str
    source_name: str | None
    language: str | None

    def subject(self) -> Subject:
        return Subject(
            title=self.title, uri=self.uri, name=self.source_name, language=self.language
        )

    def chunk(self) -> Chunk:
        """What the embed stage needs to know of it; its place in the document is left out."""
        return Chunk(
            ordinal=self.ordinal,
            text=self.content,
            token_count=self.token_count,
            start=0,
            end=len(self.content),
            headings=tuple(self.headings),
            section=(0, len(self.content)),
        )


async def in_use(conn: Connection, application_id: UUID, *, current: int) -> list[StoredModel]:
    """The models that the application's documents are searched by, the current one last."""
    async with conn.cursor(row_factory=class_row(StoredModel)) as cur:
        await cur.execute(_SQL["in_use"], {"application_id": application_id, "last": current})
        return await cur.fetchall()


async def count(conn: Connection, application_id: UUID, model_id: int) -> ChangeCounts:
    async with conn.cursor(row_factory=class_row(ChangeCounts)) as cur:
        await cur.execute(_SQL["count"], {"application_id": application_id, "model_id": model_id})
        return await cur.fetchone() or ChangeCounts(documents=0, open=0, ready=0)


async def next_documents(
    conn: Connection, application_id: UUID, model_id: int, *, after: UUID | None, limit: int
) -> list[OpenDocument]:
    """Documents that lack vectors of the model, by id."""
    async with conn.cursor(row_factory=class_row(OpenDocument)) as cur:
        await cur.execute(
            _SQL["next"],
            {
                "application_id": application_id,
                "model_id": model_id,
                "after": after,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def missing_chunks(
    conn: Connection,
    documents: Sequence[OpenDocument],
    model_id: int,
    *,
    after: StoredChunk | None,
    limit: int,
) -> list[StoredChunk]:
    """Chunks without a vector of the model, by document and ordinal."""
    document_id, ordinal = _FIRST if after is None else (after.document_id, after.ordinal)
    async with conn.cursor(row_factory=class_row(StoredChunk)) as cur:
        await cur.execute(
            _SQL["missing_chunks"],
            {
                "document_ids": [document.id for document in documents],
                "model_id": model_id,
                "after_document": document_id,
                "after_ordinal": ordinal,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def lock_unchanged(conn: Connection, documents: Sequence[OpenDocument]) -> list[OpenDocument]:
    """Lock the sources of documents; returns the documents that are still as they were read."""
    await conn.execute(_SQL["lock_sources"], {"ids": [one.source_id for one in documents]})
    # A separate statement: its snapshot includes what was committed before we got the locks.
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["unchanged"], _seen(documents))
        same = set(await cur.fetchall())
    return [document for document in documents if document.id in same]


async def add_vectors(
    conn: Connection,
    documents: Sequence[OpenDocument],
    vectors: Mapping[UUID, NDArray[np.float32]],
    hashes: Mapping[UUID, bytes],
    *,
    application_id: UUID,
    model_id: int,
) -> int:
    """Store vectors of chunks that lack one, and the hashes of what was embedded; returns how many.

    The caller has the documents from lock_unchanged in this transaction.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["lacking"],
            {
                "chunk_ids": list(vectors),
                "document_ids": [document.id for document in documents],
                "model_id": model_id,
            },
        )
        lacking = await cur.fetchall()
    rows = [(id, model_id, application_id, vectors[id]) for id in lacking]
    await fresh_vectors.store(conn, rows)
    values = {"ids": lacking, "hashes": [hashes[id] for id in lacking]}
    await conn.execute(_SQL["set_hashes"], values)
    return len(rows)


async def mark(
    conn: Connection, documents: Sequence[OpenDocument], *, application_id: UUID, model_id: int
) -> None:
    """Record that documents from lock_unchanged have all vectors that the provider makes."""
    values = {"application_id": application_id, "model_id": model_id}
    await conn.execute(_SQL["mark"], {**values, **_seen(documents)})


async def switch(conn: Connection, application_id: UUID, model_id: int) -> bool:
    """Search all documents by the new model from this commit on; False if one is not filled."""
    values = {"application_id": application_id, "model_id": model_id}
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["lock_sources_to_switch"], values)
        source_ids = await cur.fetchall()
    if await next_documents(conn, application_id, model_id, after=None, limit=1):
        return False
    await conn.execute(_SQL["switch"], values)
    await conn.execute(_SQL["switch_sources"], {"ids": source_ids, "model_id": model_id})
    await conn.execute(_SQL["forget_marks"], {"application_id": application_id})
    return True


async def drop_vectors(conn: Connection, application_id: UUID, model_id: int, *, limit: int) -> int:
    """Delete vectors of other models from documents of this one; returns how many."""
    values = {"application_id": application_id, "model_id": model_id, "limit": limit}
    return (await conn.execute(_SQL["drop_vectors"], values)).rowcount


async def oversized_sources(conn: Connection, application_id: UUID, *, most: int) -> list[UUID]:
    """Sources whose chunks may be longer than `most` tokens, which the model reads."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(
            _SQL["oversized_sources"], {"application_id": application_id, "most": most}
        )
        return await cur.fetchall()


async def request(conn: Connection, application_id: UUID, model_id: int) -> UUID:
    """Queue a `reembed` job, or give the waiting one this model; returns its id.

    The caller holds the application's lock (applications.lock_sources).
    """
    payload = ReembedPayload(model_id=model_id)
    waiting = await (
        await conn.execute(
            _SQL["waiting_job"],
            {"application_id": application_id, "payload": payload.to_json()},
        )
    ).fetchone()
    if waiting is not None:
        id: UUID = waiting[0]
        return id
    new = NewJob(application_id=application_id, type="reembed", payload=payload, priority=PRIORITY)
    [queued] = await jobs.enqueue(conn, [new])
    return queued


async def open_job(conn: Connection, application_id: UUID) -> UUID | None:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["open_job"], {"application_id": application_id})
        found: UUID | None = await cur.fetchone()
        return found


async def outdated_applications(conn: Connection, model_id: int) -> list[UUID]:
    """Applications with documents of another model, among those that the transaction sees."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["outdated_applications"], {"model_id": model_id})
        return await cur.fetchall()


def _seen(documents: Sequence[OpenDocument]) -> dict[str, Any]:
    return {
        "ids": [document.id for document in documents],
        "updated": [document.updated_at for document in documents],
    }
