"""What ticks sweep and prune, and what they keep."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from ingest.blobs.base import new_derived_key, new_key
from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import job_control
from ingest.ticks.cleanup import forget_webhook_events, prune_old, sweep_blobs
from tests.support.queue_builders import source_row, upload

_NOW = timedelta(0)


async def _blob(blobs: LocalBlobStore, application_id: UUID, *, is_derived: bool = False) -> str:
    staged = blobs.stage((new_derived_key if is_derived else new_key)(application_id))
    await staged.write(b"bytes")
    await blobs.commit([staged])
    return staged.key


async def _name_picture(conn: Connection, source_id: UUID, key: str) -> None:
    await conn.execute(
        "with document as (insert into rag.documents (id, application_id, source_id, uri, "
        "media_type, status, content_hash, text, extractor, coverage, chunk_count, token_count, "
        "chunking, embedding_model_id) select gen_random_uuid(), application_id, id, 'a', "
        "'text/plain', 'completed', '', 'text', 'text', '{}', 1, 1, '{}', 1 "
        "from rag.knowledge_sources where id = %s returning *) "
        "insert into rag.page_images (document_id, page, width, application_id, source_id, "
        "content_hash, blob_key, size_bytes) "
        "select id, 1, 640, application_id, source_id, '', %s, 5 from document",
        [source_id, key],
    )


async def _keys(blobs: LocalBlobStore) -> set[str]:
    return {key async for key in blobs.list_keys(older_than=_NOW)}


async def test_unreferenced_files_are_swept_and_the_others_kept(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    searchable, waiting, failed, superseded, orphan = [
        await _blob(blobs, application_id) for _ in range(5)
    ]
    sources = await upload(conn, application_id, "a", "b", "c", "d")
    for source, key in zip(sources, (searchable, waiting, failed, superseded), strict=True):
        await conn.execute(
            "update rag.processing_jobs set payload = jsonb_build_object('blobKey', %s::text) "
            "where knowledge_source_id = %s",
            [key, source],
        )
    await conn.execute(
        "update rag.knowledge_sources set blob_key = %s where id = %s", [searchable, sources[0]]
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'completed' where knowledge_source_id = %s",
        [sources[0]],
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'failed' where knowledge_source_id = %s",
        [sources[2]],
    )
    await upload(conn, application_id, "d", content="newer")
    picture, lost_picture = [await _blob(blobs, application_id, is_derived=True) for _ in range(2)]
    await _name_picture(conn, sources[0], picture)

    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 3

    assert await _keys(blobs) == {searchable, waiting, failed, picture}
    assert lost_picture.startswith("derived/")
    assert not await _keys(blobs) & {orphan, superseded}
    await blobs.close()


async def test_a_file_that_was_just_written_is_not_an_orphan_yet(
    pool: Pool, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    key = await _blob(blobs, application_id)

    assert await sweep_blobs(pool, blobs) == 0
    assert await _keys(blobs) == {key}
    await blobs.close()


async def test_pruning_removes_only_old_rows(pool: Pool, conn: Connection) -> None:
    for age in ("1 hour", "30 days"):
        await conn.execute(
            "insert into rag.schedules (name, scheduled_for) values ('x', now() - %s::interval)",
            [age],
        )
        await conn.execute(
            "insert into rag.workers (id, host, pid, heartbeat_at) "
            "values (gen_random_uuid(), 'h', 1, now() - %s::interval)",
            [age],
        )

    await prune_old(pool)

    cursor = await conn.execute(
        "select (select count(*) from rag.schedules), (select count(*) from rag.workers)"
    )
    assert await cursor.fetchone() == (1, 1)


@pytest.mark.parametrize("action", ["cancel", "retry"])
async def test_a_cancelled_upload_can_be_retried_because_its_file_is_kept(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path, action: str
) -> None:
    blobs = LocalBlobStore(tmp_path)
    key = await _blob(blobs, application_id)
    [source] = await upload(conn, application_id, "a")
    await conn.execute(
        "update rag.processing_jobs set payload = jsonb_build_object('blobKey', %s::text)", [key]
    )
    await job_control.cancel(conn, application_id=application_id, source_ids=[source])
    if action == "retry":
        job = (await source_row(conn, source))["current_job_id"]
        await job_control.retry(
            conn, application_id=application_id, job_ids=[job], statuses=["cancelled"]
        )

    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 0
    await blobs.close()


async def _add_event(
    conn: Connection, body: bytes | None, *, blob_key: str | None, processed: str | None
) -> None:
    await conn.execute(
        "insert into rag.webhook_events (provider, dedupe_key, body, blob_key, size_bytes, "
        "processed_at) values ('firecrawl', gen_random_uuid()::text::bytea, %s, %s, 5, "
        "now() - %s::interval)",
        [body, blob_key, processed],
    )


async def test_an_event_that_was_processed_long_ago_is_forgotten_with_its_large_body(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    old, recent, waiting = [await _blob(blobs, application_id) for _ in range(3)]
    await _add_event(conn, None, blob_key=old, processed="8 days")
    await _add_event(conn, None, blob_key=recent, processed="1 day")
    await _add_event(conn, None, blob_key=waiting, processed=None)
    await conn.execute("update rag.webhook_events set received_at = now() - interval '30 days'")

    assert await forget_webhook_events(pool, blobs) == 1

    assert await _keys(blobs) == {recent, waiting}
    assert await sweep_blobs(pool, blobs, older_than=_NOW) == 0
    await blobs.close()


async def test_all_old_events_are_forgotten_in_steps(
    pool: Pool, conn: Connection, tmp_path: Path
) -> None:
    blobs = LocalBlobStore(tmp_path)
    await conn.execute(
        "insert into rag.webhook_events (provider, dedupe_key, body, size_bytes, processed_at) "
        "select 'firecrawl', n::text::bytea, '', 0, now() - interval '8 days' "
        "from generate_series(1, 1001) as n"
    )

    assert await forget_webhook_events(pool, blobs) == 1001
    await blobs.close()
