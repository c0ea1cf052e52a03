"""Fill databases with chunks in seconds, without ingesting: rows by COPY, then the indexes.

The columns that searches read and filter by have the values that the service writes.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb

from benchmarks.core.postgres import drop_slow_indexes
from benchmarks.search.texts import Chunks
from harness.pools import pool_across_applications
from ingest.analysis.chunk_terms import terms_of_texts
from ingest.analysis.subject import Subject
from ingest.model import EmbeddingModel
from ingest.postgres.database import new_id
from ingest.store.embeddings import embedding_models

PER_SOURCE: Final = 10
SHARES: Final = (2, 10, 100)
"""Metadata keys: each value is shared by a half, a tenth or a hundredth of the sources."""

_TOKENS: Final = 150
"""Approximate tokens of a chunk."""

_TABLES: Final[dict[LiteralString, tuple[str, ...]]] = {
    "copy rag.knowledge_sources (id, application_id, type, name, uri, status, metadata, "
    "chunk_count, token_count) from stdin (format binary)": (
        *("uuid", "uuid", "text", "text", "text", "text", "jsonb", "int4", "int8"),
    ),
    "copy rag.documents (id, application_id, source_id, uri, title, media_type, status, "
    "content_hash, text, extractor, coverage, chunk_count, token_count, chunking, "
    "embedding_model_id, language, terms_indexed) from stdin (format binary)": (
        *("uuid", "uuid", "uuid", "text", "text", "text", "text"),
        *("bytea", "text", "text", "jsonb", "int4", "int8", "jsonb", "int2", "text", "bool"),
    ),
    "copy rag.chunks (id, application_id, source_id, document_id, ordinal, content, embedded_hash, "
    "token_count, char_start, char_end, section_start, section_end, words, grams) "
    "from stdin (format binary)": (
        *("uuid", "uuid", "uuid", "uuid", "int4", "text", "bytea", "int4"),
        *("int4", "int4", "int4", "int4", "int4[]", "int4[]"),
    ),
    "copy rag.embeddings (chunk_id, model_id, application_id, embedding) "
    "from stdin (format binary)": ("uuid", "int2", "uuid", "vector"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The contents of a filled database."""

    dsn: str
    model_id: int
    applications: Sequence[UUID]
    """Largest first."""
    sources: Sequence[tuple[UUID, UUID]]
    """Application id and source id."""
    owners: Sequence[UUID]
    """The application of each chunk."""
    ids: Sequence[UUID]
    """The id of each chunk."""


@dataclass(frozen=True, slots=True)
class _Source:
    id: UUID
    application: UUID
    document: UUID
    number: int
    chunks: range


def fill(dsn: str, chunks: Chunks, *, model: EmbeddingModel, applications: int) -> Filled:
    """Store the chunks in a migrated database, ten per source.

    The sizes of the applications follow Zipf's law: the second has half as many chunks as the
    first, and so on.
    """
    model_id = asyncio.run(_register(dsn, model))
    ids = [new_id() for _ in chunks.texts]
    with psycopg.connect(dsn) as conn:
        register_vector(conn)
        owners = _applications(conn, applications)
        sources = _sources(owners, chunks=len(ids))
        slow = drop_slow_indexes(conn)
        # The references are correct by construction; checking them all would double the time.
        conn.execute("set local session_replication_role = replica")
        rows = (
            _source_rows(sources),
            _document_rows(sources, chunks, model_id),
            _chunk_rows(sources, ids, chunks),
            _vector_rows(sources, ids, chunks, model_id),
        )
        for (statement, types), table in zip(_TABLES.items(), rows, strict=True):
            _copy(conn, statement, types, table)
        for definition in slow:
            conn.execute(definition)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("vacuum analyze")
    return Filled(
        dsn=dsn,
        model_id=model_id,
        applications=owners,
        sources=[(source.application, source.id) for source in sources],
        owners=[source.application for source in sources for _ in source.chunks],
        ids=ids,
    )


async def _register(dsn: str, model: EmbeddingModel) -> int:
    async with (
        pool_across_applications(dsn, size=1, application_name="benchmark") as pool,
        pool.session() as conn,
        conn.transaction(),
    ):
        return await embedding_models.register(conn, model)


def _applications(conn: psycopg.Connection[Any], count: int) -> list[UUID]:
    conn.execute(
        "insert into app.applications (name) select 'application ' || n "
        "from generate_series(2, %s) as n",
        [count],
    )
    rows = conn.execute("select id from app.applications order by not is_default, id").fetchall()
    assert len(rows) == count
    return [id for (id,) in rows]


def _sources(owners: Sequence[UUID], *, chunks: int) -> list[_Source]:
    """The sources; each application has at least one, if there are enough."""
    total = chunks // PER_SOURCE
    weights = [1 / rank for rank in range(1, len(owners) + 1)]
    wanted = [max(1, round(total * weight / sum(weights))) for weight in weights]
    wanted[0] += total - sum(wanted)
    owned = [owner for owner, count in zip(owners, wanted, strict=True) for _ in range(count)]
    return [
        _Source(
            id=new_id(),
            application=owner,
            document=new_id(),
            number=number,
            chunks=range(number * PER_SOURCE, (number + 1) * PER_SOURCE),
        )
        for number, owner in enumerate(owned)
    ]


def metadata(number: int, *shares: int) -> dict[str, int]:
    """Metadata of a source: for each of `shares`, a key whose value one in so many sources has."""
    return {f"of{share}": number % share for share in shares}


def _source_rows(sources: Sequence[_Source]) -> Iterable[tuple[Any, ...]]:
    for source in sources:
        name = f"notes/{source.number}.md"
        about = Jsonb(metadata(source.number, *SHARES))
        tokens = _TOKENS * PER_SOURCE
        yield (
            *(source.id, source.application, "file", name, name, "completed"),
            *(about, PER_SOURCE, tokens),
        )


def _document_rows(
    sources: Sequence[_Source], chunks: Chunks, model_id: int
) -> Iterable[tuple[Any, ...]]:
    for source in sources:
        text = "\n\n".join(chunks.texts[n] for n in source.chunks)
        name = f"notes/{source.number}.md"
        yield (
            *(source.document, source.application, source.id, name, name, "text/markdown"),
            *("completed", _hash(text), text, "text", "{}", PER_SOURCE, _TOKENS * PER_SOURCE),
            *("{}", model_id, "en", True),
        )


def _chunk_rows(
    sources: Sequence[_Source], ids: Sequence[UUID], chunks: Chunks
) -> Iterable[tuple[Any, ...]]:
    for source in sources:
        start = 0
        for ordinal, n in enumerate(source.chunks):
            text = chunks.texts[n]
            end = start + len(text)
            subject = Subject(title=None, uri=f"notes/{source.number}.md", language="en")
            [terms] = terms_of_texts(subject, [(text, ())], application_id=source.application)
            yield (
                *(ids[n], source.application, source.id, source.document, ordinal, text),
                *(_hash(text), len(text) // 4, start, end, start, end),
                *(terms.words.tolist(), terms.grams.tolist()),
            )
            start = end + 2


def _vector_rows(
    sources: Sequence[_Source], ids: Sequence[UUID], chunks: Chunks, model_id: int
) -> Iterable[tuple[Any, ...]]:
    for source in sources:
        for n in source.chunks:
            yield ids[n], model_id, source.application, chunks.vectors[n]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _copy(
    conn: psycopg.Connection[Any],
    statement: LiteralString,
    types: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
) -> None:
    with conn.cursor().copy(statement) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)
