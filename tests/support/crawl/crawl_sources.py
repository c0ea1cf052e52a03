"""Pages and sites as sources, with runs in states that handlers could have left."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from ingest.model import Coverage
from ingest.postgres.database import Connection, new_id
from ingest.store.crawl import crawls, runs
from ingest.store.crawl.runs import CrawlSettings, NewRun, StartedRun
from ingest.store.documents.documents import coverage_json
from ingest.store.queue import jobs

SITE = "https://site.example/"
_COVERAGE = Jsonb(coverage_json(Coverage(pages=1, with_text=1, empty=0)))


async def start(
    conn: Connection,
    application_id: UUID,
    uri: str = SITE,
    *,
    type: Literal["url", "site"] = "site",
    settings: CrawlSettings | None = None,
) -> StartedRun:
    """Create a source and queue its first run."""
    new = NewRun(
        application_id=application_id,
        type=type,
        uri=uri,
        name=uri.removeprefix("https://"),
        settings=settings or CrawlSettings(),
    )
    async with conn.transaction():
        return await runs.start(conn, new)


async def end(
    conn: Connection, run: StartedRun, *, job: str = "completed", crawl: str = "completed"
) -> None:
    """Mark a run as ended."""
    await conn.execute(
        "update rag.processing_jobs set status = %s, completed_at = now() where id = %s",
        [job, run.job_id],
    )
    await conn.execute(
        "update rag.crawls set status = %s, ended_at = now() where id = %s", [crawl, run.crawl_id]
    )
    await conn.execute(
        "update rag.knowledge_sources set status = 'completed', coverage = %s, "
        "chunk_count = greatest(chunk_count, 1) where id = %s",
        [_COVERAGE, run.source_id],
    )


async def add_child(
    conn: Connection, application_id: UUID, run: StartedRun, *, status: str = "pending"
) -> UUID:
    """Add a job for a page of the run."""
    [id] = await jobs.enqueue(
        conn,
        [
            jobs.NewJob(
                application_id=application_id,
                type="crawl_page",
                source_id=run.source_id,
                parent_job_id=run.job_id,
            )
        ],
    )
    await conn.execute("update rag.processing_jobs set status = %s where id = %s", [status, id])
    return id


async def add_document(
    conn: Connection, application_id: UUID, source_id: UUID, uri: str, *, title: str | None = None
) -> UUID:
    """Add a searchable page with one chunk."""
    id = new_id()
    await conn.execute(
        "insert into rag.documents (id, application_id, source_id, uri, title, media_type, status, "
        "content_hash, text, text_hash, extractor, coverage, chunk_count, token_count, chunking, "
        "embedding_model_id) values (%s, %s, %s, %s, %s, 'text/html', 'completed', '', 'words', "
        "'', 'html 1', %s, 1, 1, '{}', 1)",
        [id, application_id, source_id, uri, title, _COVERAGE],
    )
    await conn.execute(
        "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
        "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
        "values (%s, %s, %s, %s, 0, 'words', '', 1, 0, 5, 0, 5)",
        [new_id(), application_id, source_id, id],
    )
    await conn.execute(
        "update rag.knowledge_sources set chunk_count = chunk_count + 1, "
        "token_count = token_count + 1 where id = %s",
        [source_id],
    )
    return id


async def add_page(
    conn: Connection, run: StartedRun, uri: str, *, status: str = "unchanged", **columns: Any
) -> UUID:
    """Add a page of the run with its outcome; `columns`: further columns of rag.crawl_pages.

    Lists return pages in the order in which they were added.
    """
    await asyncio.sleep(0.002)  # ids made within the same millisecond have random order
    id = new_id()
    await conn.execute(
        "insert into rag.crawl_pages (id, crawl_id, source_id, uri, fetch_url, url_pattern, "
        "status, http_status, error_code, job_id) "
        "values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        [
            id,
            run.crawl_id,
            run.source_id,
            uri,
            uri,
            uri,
            status,
            columns.get("http_status"),
            columns.get("error_code"),
            columns.get("job_id"),
        ],
    )
    return id


async def hold_removals(
    conn: Connection,
    application_id: UUID,
    run: StartedRun,
    *,
    found: Sequence[str],
    lost: Sequence[str],
) -> dict[str, UUID]:
    """Put a run into review because pages were not found; returns document ids by address."""
    documents = {
        uri: await add_document(conn, application_id, run.source_id, uri) for uri in (*found, *lost)
    }
    for uri in found:
        await add_page(conn, run, uri)
        await add_child(conn, application_id, run, status="completed")
    await end(conn, run, job="review_needed")
    await conn.execute(
        "update rag.knowledge_sources set status = 'review_needed' where id = %s", [run.source_id]
    )
    await crawls.write_digest(conn, run.crawl_id, removed=0, held=len(lost))
    return documents


async def crawl_row(conn: Connection, id: UUID) -> dict[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.crawls where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return row
