"""What several tests of the API do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from psycopg.types.json import Jsonb

from ingest.analysis.chunk_terms import terms_of_texts
from ingest.analysis.subject import Subject
from ingest.model import Coverage
from ingest.payloads import FilePayload
from ingest.postgres.database import Connection
from ingest.store.documents.documents import coverage_json
from ingest.store.sources import sources

Files = Mapping[str, bytes] | Sequence[tuple[str, bytes]]


async def upload(
    client: httpx.AsyncClient, files: Files, *, idempotency_key: str | None = None, **fields: str
) -> httpx.Response:
    """Post files by path, and fields after them."""
    named = files.items() if isinstance(files, Mapping) else files
    parts: list[tuple[str, Any]] = [("files", (path, data)) for path, data in named]
    parts += [(name, (None, text)) for name, text in fields.items()]
    headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
    return await client.post("/upload/documents", files=parts, headers=headers)


async def count(conn: Connection, table: str) -> int:
    """Rows of a table, which may bring a condition of its own."""
    row = await (await conn.execute(f"select count(*) from {table}".encode())).fetchone()
    assert row is not None
    return int(row[0])


async def finish_file_job(
    conn: Connection, job_id: UUID, *, chunks: Sequence[str] = ("x",)
) -> UUID:
    """Do to a file job what a worker would, without one; the id of its document."""
    async with conn.transaction():
        source_id = await _complete(conn, job_id, chunks)
        await sources.settle(conn, [source_id])
    row = await (
        await conn.execute("select id from rag.documents where source_id = %s", [source_id])
    ).fetchone()
    assert row is not None
    return UUID(str(row[0]))


async def _complete(conn: Connection, job_id: UUID, chunks: Sequence[str]) -> UUID:
    row = await (
        await conn.execute(
            "update rag.processing_jobs set status = 'completed', completed_at = now() "
            "where id = %s returning knowledge_source_id, payload, application_id",
            [job_id],
        )
    ).fetchone()
    assert row is not None
    source_id, payload, application_id = row
    file = FilePayload.model_validate(payload)
    await conn.execute(
        "update rag.knowledge_sources set content_hash = %s, blob_key = %s, size_bytes = %s, "
        "embedding_model_id = (select min(id) from rag.embedding_models), chunk_count = %s, "
        "token_count = %s, coverage = %s where id = %s",
        [
            file.content_hash,
            file.blob_key,
            file.size_bytes,
            len(chunks),
            len(chunks),
            Jsonb(coverage_json(Coverage(pages=1, with_text=1, empty=0))),
            source_id,
        ],
    )
    document = await (
        await conn.execute(
            "insert into rag.documents (id, application_id, source_id, uri, media_type, status, "
            "content_hash, text, extractor, coverage, chunk_count, token_count, chunking, "
            "embedding_model_id) "
            "select gen_random_uuid(), %s, id, uri, 'text/plain', 'completed', content_hash, %s, "
            "'text 1', coverage, chunk_count, token_count, '{}', 1 from rag.knowledge_sources "
            "where id = %s returning id",
            [application_id, "\n".join(chunks), source_id],
        )
    ).fetchone()
    assert document is not None
    about = Subject(title=None, uri="", language=None)
    texts = [(text, ()) for text in chunks]
    terms = terms_of_texts(about, texts, application_id=application_id)
    for ordinal, (text, own) in enumerate(zip(chunks, terms, strict=True)):
        await conn.execute(
            "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, "
            "content, embedded_hash, token_count, char_start, char_end, section_start, "
            "section_end, words, grams) "
            "values (gen_random_uuid(), %s, %s, %s, %s, %s, '', 1, 0, %s, 0, %s, %s, %s)",
            [
                *(application_id, source_id, document[0], ordinal, text, len(text), len(text)),
                *(own.words.tolist(), own.grams.tolist()),
            ],
        )
    return UUID(str(source_id))


def multipart(*parts: bytes, boundary: bytes = b"frontier") -> bytes:
    """A body of parts, each with its headers, written by hand."""
    return b"".join(b"--%b\r\n%b\r\n" % (boundary, part) for part in parts) + (
        b"--%b--\r\n" % boundary
    )


def stored(folder: Path) -> list[str]:
    """Keys of the committed blobs in a local store."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".staged" not in path.parts
    )


def staged(folder: Path) -> list[str]:
    """Names of files that are not committed."""
    return sorted(path.name for path in (folder / ".staged").rglob("*") if path.is_file())
