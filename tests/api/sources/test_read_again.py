"""Stored sources are read again over HTTP, one by one and as a bulk action."""

from uuid import UUID

import httpx

from ingest.postgres.database import Connection, Pool
from tests.api.helpers import finish_file_job, upload
from tests.api.sources.test_sources import SOURCES
from tests.support.bulk_runs import run_bulk


async def test_a_stored_file_is_read_again(
    editor: httpx.AsyncClient,
    viewer: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    conn: Connection,
) -> None:
    file = (await upload(editor, {"a.txt": b"a"})).json()["files"][0]
    path = f"{SOURCES}/{file['knowledgeSourceId']}"

    early = await editor.post(f"{path}/read-again")
    await finish_file_job(conn, UUID(file["jobId"]))
    forbidden = await viewer.post(f"{path}/read-again")
    unknown = await stranger.post(f"{path}/read-again")
    started = await editor.post(f"{path}/read-again")
    after = (await viewer.get(path)).json()

    assert (early.status_code, early.json()["code"]) == (409, "not_readable")
    assert (forbidden.status_code, unknown.status_code, started.status_code) == (403, 404, 202)
    assert (after["status"], after["jobId"]) == ("pending", started.json()["jobId"])


async def test_stored_files_are_read_again(
    editor: httpx.AsyncClient, conn: Connection, pool: Pool
) -> None:
    body = (await upload(editor, {f"{n}.txt": b"%d" % n for n in range(3)})).json()
    for file in body["files"][:2]:
        await finish_file_job(conn, UUID(file["jobId"]))

    await editor.post(f"{SOURCES}/bulk", json={"action": "read_again", "filter": {"type": "file"}})
    row = await run_bulk(pool, conn)

    jobs = (await editor.get("/api/jobs", params={"status": "pending", "type": "file"})).json()
    assert (row["result"]["changed"], row["result"]["skipped"]) == (2, {"not_readable": 1})
    assert sorted(job["priority"] for job in jobs["items"]) == [-10, -10, 0]
