"""Members of a source, its chunks, and batches, as lists."""

from uuid import UUID

import httpx
import pytest
from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection
from tests.api.helpers import finish_file_job, upload
from tests.api.sources.test_sources import SOURCES, add, all_pages


async def fail(conn: Connection, uri: str, code: str) -> None:
    await conn.execute(
        "update rag.knowledge_sources set status = 'failed', error_code = %s where uri = %s",
        [code, uri],
    )


async def test_members_of_a_run_are_counted_by_state_and_listed_with_their_paths(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor, "mail.eml")
    for uri, status in (("mail.eml/a.pdf", "failed"), ("mail.eml/b.pdf", "completed")):
        await conn.execute(
            "insert into rag.processing_jobs (id, application_id, knowledge_source_id, "
            "parent_job_id, type, status, max_attempts, payload) "
            "select gen_random_uuid(), application_id, knowledge_source_id, id, 'member', %s, 5, "
            "%s from rag.processing_jobs where id = %s",
            [status, Jsonb({"uri": uri, "depth": 1}), file["jobId"]],
        )

    source = f"{SOURCES}/{file['knowledgeSourceId']}"
    answer = await editor.get(f"{source}/children")
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    jobs = (await editor.get("/api/jobs", params={"parentJobId": file["jobId"]})).json()["items"]
    found = (await editor.get("/api/jobs", params={"q": "A.PDF"})).json()["items"]

    assert {item["status"]: item["count"] for item in items if item["count"]} == {
        "failed": 1,
        "completed": 1,
    }
    assert {(job["uri"], job["sourceName"]) for job in jobs} == {
        ("mail.eml/a.pdf", "mail.eml"),
        ("mail.eml/b.pdf", "mail.eml"),
    }
    assert [job["uri"] for job in found] == ["mail.eml/a.pdf"]


async def test_a_source_is_retried_by_its_root_or_by_its_failed_files(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor, "a.zip")
    source = f"{SOURCES}/{file['knowledgeSourceId']}"

    still_open = await editor.post(f"{source}/retry")
    await conn.execute(
        "update rag.processing_jobs set status = 'failed', attempts = 5, completed_at = now()"
    )
    await fail(conn, "a.zip", "corrupt")
    root = await editor.post(f"{source}/retry")
    await conn.execute("update rag.processing_jobs set status = 'completed'")
    await conn.execute(
        "insert into rag.processing_jobs (id, application_id, knowledge_source_id, parent_job_id, "
        "type, status, max_attempts, payload, completed_at) "
        "select %s, application_id, knowledge_source_id, id, 'member', 'failed', 5, "
        '\'{"uri": "a.zip/x"}\', now() from rag.processing_jobs',
        [UUID(int=5)],
    )
    member = await editor.post(f"{source}/retry")

    assert (still_open.status_code, still_open.json()["code"]) == (409, "not_retryable")
    assert root.json()["jobIds"] == [file["jobId"]]
    assert member.json()["jobIds"] == [str(UUID(int=5))]
    assert (await editor.get(source)).json()["status"] == "processing"


async def test_chunks_of_one_document_are_listed_in_pages(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await add(editor, "a.txt")
    other = await add(editor, "b.txt", b"b")
    document = await finish_file_job(conn, UUID(file["jobId"]), chunks=["one", "two", "three"])
    await finish_file_job(conn, UUID(other["jobId"]), chunks=["four"])

    items = await all_pages(editor, f"/api/documents/{document}/chunks")

    assert [item["content"] for item in items] == ["one", "two", "three"]


async def test_batches_are_listed_newest_first_with_states_that_add_up(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = (await upload(editor, {"a.txt": b"a", "b.txt": b"b", "c.txt": b""})).json()
    second = (await upload(editor, {"a.txt": b"a", "d.txt": b"d"})).json()
    await finish_file_job(conn, UUID(first["files"][0]["jobId"]))

    items = await all_pages(editor, "/api/batches", limit="1")

    assert [item["id"] for item in items] == [second["batchId"], first["batchId"]]
    assert items[1]["states"] == {"completed": 1, "pending": 1}
    assert (items[1]["total"], items[1]["accepted"], items[1]["rejected"]) == (3, 2, 1)
    monkeypatch.setattr("ingest.store.sources.batch_views._MOST_COUNTED", 1)
    large = (await editor.get("/api/batches")).json()["items"]
    assert [item["states"] is None for item in large] == [False, True]
