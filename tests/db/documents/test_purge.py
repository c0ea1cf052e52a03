"""The purge of a deleted source: everything goes, of that source only."""

from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest

from ingest.blobs.base import new_derived_key
from ingest.blobs.local import LocalBlobStore
from ingest.handlers.context import Context, Progress
from ingest.handlers.purge import purge_source
from ingest.postgres.database import Connection, Pool, new_id
from ingest.store.queue import jobs
from ingest.store.queue.jobs import Ended, NewJob
from ingest.store.sources import sources
from ingest.worker.commit import Finished, commit
from tests.support.queue_builders import claim, upload

_NOW = timedelta(0)


class _Context:
    def __init__(self, pool: Pool, blobs: LocalBlobStore) -> None:
        self.pool, self.blobs = pool, blobs


async def _count(conn: Connection, table: str) -> int:
    cursor = await conn.execute(cast(Any, f"select count(*) from {table}"))
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def _add_chunk(conn: Connection, application_id: UUID, source: UUID) -> None:
    await conn.execute(
        "with document as (insert into rag.documents (id, application_id, source_id, uri, "
        "media_type, status, content_hash, text, extractor, coverage, chunk_count, token_count, "
        "chunking, embedding_model_id) "
        "values (gen_random_uuid(), %(application)s, %(source)s, 'a', 'text/plain', 'completed', "
        "'', 'text', 'text', '{}', 1, 1, '{}', 1) returning id) "
        "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
        "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
        "select gen_random_uuid(), %(application)s, %(source)s, id, 0, 'text', '', 1, 0, 4, 0, 4 "
        "from document",
        {"application": application_id, "source": source},
    )


@pytest.mark.parametrize("is_deleted", [True, False])
async def test_only_a_deleted_source_is_purged_with_its_chunks_and_files(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path, *, is_deleted: bool
) -> None:
    blobs = LocalBlobStore(tmp_path)
    [doomed, kept] = await upload(conn, application_id, "doomed.txt", "kept.txt")
    staged = blobs.stage(f"{application_id}/{new_id()}")
    await staged.write(b"x")
    await blobs.commit([staged])
    await conn.execute(
        "update rag.knowledge_sources set blob_key = %s where id = %s", [staged.key, doomed]
    )
    for source in (doomed, kept):
        await _add_chunk(conn, application_id, source)
    picture = blobs.stage(new_derived_key(application_id))
    await picture.write(b"of a page")
    await blobs.commit([picture])
    await conn.execute(
        "insert into rag.page_images (document_id, page, width, application_id, source_id, "
        "content_hash, blob_key, size_bytes) select id, 1, 640, application_id, source_id, "
        "content_hash, %s, 9 from rag.documents where source_id = %s",
        [picture.key, doomed],
    )
    if is_deleted:
        async with conn.transaction():
            await sources.tombstone(conn, application_id=application_id, ids=[doomed])
    await conn.execute("delete from rag.processing_jobs")
    await jobs.enqueue(
        conn, [NewJob(application_id=application_id, type="purge", source_id=doomed)]
    )
    [job] = await claim(conn)

    outcome = await purge_source(job, cast(Context, _Context(pool, blobs)), Progress(job))
    await commit(pool, [Finished(ended=Ended(job=job, status="completed"), write=outcome.write)])

    left = await conn.execute("select id from rag.knowledge_sources order by id")
    expected = {kept} if is_deleted else {doomed, kept}
    assert {id for (id,) in await left.fetchall()} == expected
    assert {key async for key in blobs.list_keys(older_than=_NOW)} == (
        set() if is_deleted else {staged.key, picture.key}
    )
    chunks = await conn.execute("select source_id from rag.chunks")
    assert {id for (id,) in await chunks.fetchall()} == expected
    assert await _count(conn, "rag.processing_jobs where status = 'completed'") == 1
    await blobs.close()
