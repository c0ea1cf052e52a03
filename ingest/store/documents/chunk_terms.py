"""Read chunks whose terms are missing or outdated, and write their terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from ingest.analysis.chunk_terms import IndexedTerms
from ingest.analysis.language import READ
from ingest.analysis.terms import as_array
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("documents/chunk_terms.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnindexedDocument:
    id: UUID
    application_id: UUID
    uri: str
    title: str | None
    beginning: str
    """Of its text; enough to detect the language."""
    source_name: str | None
    author: str | None
    """Both as in analysis/subject.py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnindexedChunk:
    id: UUID
    content: str
    headings: list[str]


async def lock_next(conn: Connection) -> UnindexedDocument | None:
    """A document whose terms are to be made, under the lock of its source; None: there is none."""
    async with conn.cursor(row_factory=class_row(UnindexedDocument)) as cur:
        await cur.execute(_SQL["lock_next"], {"read": READ})
        return await cur.fetchone()


async def chunks(conn: Connection, document_id: UUID) -> list[UnindexedChunk]:
    async with conn.cursor(row_factory=class_row(UnindexedChunk)) as cur:
        await cur.execute(_SQL["chunks"], {"document_id": document_id})
        return await cur.fetchall()


async def give_up(conn: Connection, document_id: UUID) -> None:
    """Leave the terms of a document as they are; it counts as indexed then."""
    await conn.execute(_SQL["give_up"], {"document_id": document_id})


async def write(
    conn: Connection,
    document_id: UUID,
    *,
    language: str | None,
    ids: Sequence[UUID],
    terms: Sequence[IndexedTerms],
) -> None:
    """Store the terms of a document's chunks; it counts as indexed then."""
    values = {
        "ids": list(ids),
        "words": [as_array(own.words) for own in terms],
        "grams": [as_array(own.grams) for own in terms],
    }
    await conn.execute(_SQL["write"], values)
    await conn.execute(_SQL["finish"], {"document_id": document_id, "language": language})
