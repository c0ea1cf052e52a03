"""What SQL reads of payloads, and what becomes of a job with a wrong payload."""

from typing import Any
from uuid import UUID

import pytest
from psycopg.rows import dict_row

from ingest.handlers.crawl.url import ingest_url
from ingest.payloads import PAYLOADS, ArchivePayload, FilePayload, Payload, StoredMember
from ingest.postgres.database import Connection, Pool
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob
from tests.support.running_worker import running_worker, until_status

FILE: dict[str, Any] = {"blob_key": "app/1", "content_hash": b"\x00\xff", "size_bytes": 2**40}
COLUMNS = ("blob_key", "content_hash", "size_bytes", "document_uri", "may_hold_files")
NOTHING = [None, None, None, None, False]


async def _columns(conn: Connection, application_id: UUID, type: str, payload: Any) -> list[Any]:
    new = NewJob(application_id=application_id, type=type, payload=payload)
    [id] = await jobs.enqueue(conn, [new])
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.job_files where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return [row[name] for name in COLUMNS]


async def test_each_built_in_job_type_has_a_payload(conn: Connection) -> None:
    cursor = await conn.execute("select type from rag.job_types where is_built_in")

    assert {type for (type,) in await cursor.fetchall()} == PAYLOADS.keys()


@pytest.mark.parametrize(
    ("type", "payload", "columns"),
    [
        ("file", FilePayload(**FILE), ["app/1", b"\x00\xff", 2**40, None, False]),
        (
            "member",
            StoredMember(**FILE, uri="a.zip/b.mbox", depth=1, may_hold_files=True),
            ["app/1", None, 2**40, "a.zip/b.mbox", True],
        ),
        (
            "archive",
            ArchivePayload(**FILE, uri="a.zip", depth=0),
            ["app/1", None, None, "a.zip", False],
        ),
        ("purge", {}, NOTHING),
    ],
)
async def test_statements_find_in_columns_what_a_payload_says(
    conn: Connection, application_id: UUID, type: str, payload: Payload, columns: list[Any]
) -> None:
    assert await _columns(conn, application_id, type, payload) == columns


async def test_a_payload_that_people_send_names_no_file(
    conn: Connection, application_id: UUID
) -> None:
    await conn.execute("insert into rag.job_types (type, handler) values ('greet', 'greet')")
    names = {"blobKey": "other/1", "contentHash": "no hash", "sizeBytes": "many", "uri": "b"}

    assert await _columns(conn, application_id, "greet", names) == NOTHING


@pytest.mark.parametrize("payload", [{}, {"crawlId": "1"}, {"pageId": "1"}])
async def test_a_job_with_a_wrong_payload_fails_at_its_first_attempt(
    conn: Connection, dsn: str, pool: Pool, application_id: UUID, payload: dict[str, Any]
) -> None:
    [id] = await jobs.enqueue(
        conn, [NewJob(application_id=application_id, type="url", payload=payload)]
    )

    async with running_worker(dsn, pool, {"url": ingest_url}):
        row = await until_status(conn, id, "failed")

    assert (row["last_error_code"], row["attempts"]) == ("invalid_payload", 1)
    assert "crawlId" in row["last_error_message"]
