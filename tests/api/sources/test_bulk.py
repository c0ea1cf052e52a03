"""Bulk actions on sources and jobs: counted first, then done to exactly the rows that matched."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection, Pool
from tests.api.helpers import count, finish_file_job, upload
from tests.api.sources.test_sources import SOURCES
from tests.support.bulk_runs import run_bulk

BULK = f"{SOURCES}/bulk"
Act = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def act(editor: httpx.AsyncClient, pool: Pool, conn: Connection) -> Act:
    """Asks for an action and does it; the job's row."""

    async def act(url: str = BULK, **body: Any) -> dict[str, Any]:
        answer = await editor.post(url, json=body)
        assert answer.status_code == 202, answer.text
        row = await run_bulk(pool, conn)
        assert (str(row["id"]), row["status"]) == (answer.json()["jobId"], "completed")
        assert row["result"]["rows"] == answer.json()["rowCount"]
        return row

    return act


async def dry_run(client: httpx.AsyncClient, url: str = BULK, **body: Any) -> dict[str, Any]:
    answer = await client.post(url, json={**body, "dryRun": True})
    assert answer.status_code == 200, answer.text
    plan: dict[str, Any] = answer.json()
    return plan


async def sources(client: httpx.AsyncClient) -> dict[str, Any]:
    items = (await client.get(SOURCES, params={"limit": 200})).json()["items"]
    return {item["uri"]: item for item in items}


async def fail_jobs(conn: Connection, *uris: str) -> None:
    await conn.execute(
        "update rag.processing_jobs as job set status = 'failed', attempts = 5, "
        "completed_at = now(), last_error_code = 'corrupt' from rag.knowledge_sources as source "
        "where source.id = job.knowledge_source_id and source.uri = any(%s)",
        [list(uris)],
    )
    await conn.execute(
        "update rag.knowledge_sources set status = 'failed', error_code = 'corrupt' "
        "where uri = any(%s)",
        [list(uris)],
    )


async def test_a_filter_is_deleted_and_nothing_else(
    editor: httpx.AsyncClient, conn: Connection, act: Act
) -> None:
    await upload(editor, {f"{n}.txt": b"%d" % n for n in range(5)})
    await fail_jobs(conn, "1.txt", "3.txt")

    plan = await dry_run(editor, action="delete", filter={"status": "failed"})
    before = await sources(editor)
    row = await act(action="delete", filter={"status": "failed"})

    assert plan == {"matched": 2, "isExact": True, "eligible": 2, "notEligible": []}
    assert len(before) == 5
    assert sorted(await sources(editor)) == ["0.txt", "2.txt", "4.txt"]
    assert row["result"] == {"action": "delete", "rows": 2, "changed": 2, "skipped": {}}
    assert await count(conn, "rag.processing_jobs where type = 'purge'") == 2


async def test_rows_that_join_or_leave_the_filter_after_the_request_are_left_alone(
    editor: httpx.AsyncClient, conn: Connection, pool: Pool
) -> None:
    await upload(editor, {f"{n}.txt": b"%d" % n for n in range(4)})
    await fail_jobs(conn, "0.txt", "1.txt")
    await editor.post(BULK, json={"action": "delete", "filter": {"status": "failed"}})

    await fail_jobs(conn, "2.txt")  # joins
    retried = (await sources(editor))["0.txt"]["id"]
    await editor.post(f"{SOURCES}/{retried}/retry")  # leaves
    row = await run_bulk(pool, conn)

    assert sorted(await sources(editor)) == ["0.txt", "2.txt", "3.txt"]
    assert (row["result"]["changed"], row["result"]["skipped"]) == (1, {"no_longer_matches": 1})


async def test_what_an_action_cannot_change_is_counted_by_reason(
    editor: httpx.AsyncClient, conn: Connection, act: Act
) -> None:
    body = (await upload(editor, {f"{n}.txt": b"%d" % n for n in range(3)})).json()
    await finish_file_job(conn, UUID(body["files"][0]["jobId"]))
    await fail_jobs(conn, "1.txt")
    site = {"url": "https://a.example", "crawlLinks": True}
    await editor.post("/upload/url", json=site)

    async def reasons(action: str, **more: Any) -> tuple[int, dict[str, int]]:
        plan = await dry_run(editor, action=action, filter={}, **more)
        refused = {item["reason"]: item["count"] for item in plan["notEligible"]}
        assert plan["matched"] == plan["eligible"] + sum(refused.values()) == 4
        return plan["eligible"], refused

    assert await reasons("cancel") == (2, {"not_cancellable": 2})
    assert await reasons("retry") == (1, {"not_retryable": 3})
    assert await reasons("fetch_again") == (1, {"not_rescrapable": 3})
    assert await reasons("read_again") == (1, {"not_readable": 3})
    schedule = {"cron": "0 6 * * 1", "timezone": "Europe/Berlin"}
    assert await reasons("set_schedule", schedule=schedule) == (1, {"not_rescrapable": 3})
    assert await reasons("set_metadata", metadata={"x": None}) == (0, {"unchanged": 4})
    assert await reasons("set_chunking", chunking=None) == (0, {"unchanged": 4})

    row = await act(action="retry", filter={})
    assert row["result"]["skipped"] == {"not_retryable": 3}
    assert (await sources(editor))["1.txt"]["status"] == "pending"
    await act(action="set_schedule", filter={}, schedule=schedule)
    site_row = next(row for uri, row in (await sources(editor)).items() if "example" in uri)
    assert site_row["rescrape"] == schedule
    assert site_row["nextRescrapeAt"] is not None
    await act(action="cancel", filter={})
    assert {row["status"] for row in (await sources(editor)).values()} == {
        "completed",
        "cancelled",
    }


async def test_metadata_chunking_and_collections_are_set(
    editor: httpx.AsyncClient, act: Act
) -> None:
    await upload(editor, {"a.txt": b"a"}, metadata='{"keep": 1, "drop": 2, "team": "x"}')
    await upload(editor, {"b.txt": b"b"})
    collection = (await editor.post("/api/collections", json={"name": "c"})).json()["id"]
    before = await sources(editor)

    await act(action="set_metadata", filter={}, metadata={"team": "y", "drop": None})
    await act(action="set_chunking", filter={"q": "a.txt"}, chunking={"size": 128})
    await act(action="add_to_collection", ids=[before["a.txt"]["id"]], collectionId=collection)
    after = await sources(editor)

    assert after["a.txt"]["metadata"] == {"keep": 1, "team": "y"}
    assert after["b.txt"]["metadata"] == {"team": "y"}
    assert (after["a.txt"]["chunking"]["size"], after["b.txt"]["chunking"]["size"]) == (128, None)
    assert [row["collectionIds"] for _, row in sorted(after.items())] == [[collection], []]
    assert after["a.txt"]["eventSeq"] > before["a.txt"]["eventSeq"]

    row = await act(action="add_to_collection", filter={}, collectionId=collection)
    assert row["result"]["skipped"] == {"unchanged": 1}
    await act(action="remove_from_collection", filter={"uri": "a.txt"}, collectionId=collection)
    assert (await sources(editor))["a.txt"]["collectionIds"] == []


async def test_a_collection_that_is_deleted_meanwhile_leaves_all_rows_alone(
    editor: httpx.AsyncClient, conn: Connection, pool: Pool
) -> None:
    await upload(editor, {"a.txt": b"a"})
    collection = (await editor.post("/api/collections", json={"name": "c"})).json()["id"]
    join = {"action": "add_to_collection", "filter": {}, "collectionId": collection}
    await editor.post(BULK, json=join)
    await editor.delete(f"/api/collections/{collection}")

    row = await run_bulk(pool, conn)

    assert (row["status"], row["result"]["skipped"]) == ("completed", {"not_found": 1})
    assert (await editor.post(BULK, json=join)).status_code == 404


async def test_jobs_of_a_filter_are_retried_cancelled_and_deleted(
    editor: httpx.AsyncClient, conn: Connection, act: Act
) -> None:
    await upload(editor, {f"{n}.txt": b"%d" % n for n in range(4)})
    await fail_jobs(conn, "0.txt", "1.txt")
    url = "/api/jobs/bulk"

    plan = await dry_run(editor, url, action="retry", filter={"type": "file"})
    await act(url, action="retry", filter={"errorCode": "corrupt", "q": "0.txt"})
    assert await count(conn, "rag.processing_jobs where status = 'failed'") == 1
    await act(url, action="cancel", filter={"status": "pending"})
    row = await act(url, action="delete", filter={})

    assert plan["eligible"] == 2
    assert plan["notEligible"] == [{"reason": "not_retryable", "count": 2}]
    assert row["result"]["changed"] == 4
    assert await count(conn, "rag.processing_jobs where type <> 'bulk'") == 0
    assert await count(conn, "rag.processing_jobs where type = 'bulk'") == 3


async def test_a_dry_run_counts_so_many_rows(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upload(editor, {f"{n}.txt": b"%d" % n for n in range(4)})
    monkeypatch.setattr("ingest.store.bulk.bulk_runs.MOST_COUNTED", 3)

    for url in (BULK, "/api/jobs/bulk"):
        plan = await dry_run(editor, url, action="cancel", filter={})
        assert (plan["matched"], plan["isExact"], plan["eligible"]) == (3, False, 3)
    # A rare text: so many rows are read, whatever they say.
    plan = await dry_run(editor, "/api/jobs/bulk", action="cancel", filter={"q": "3.txt"})
    assert (plan["matched"], plan["isExact"]) == (1, False)
    monkeypatch.setattr("ingest.store.bulk.bulk_runs.MOST_COUNTED", 100)
    monkeypatch.setattr("ingest.store.lists.source_lists.SCANNED", 2)
    plan = await dry_run(editor, action="cancel", filter={"q": ".txt"})
    assert (plan["matched"], plan["isExact"]) == (2, False)


@pytest.mark.parametrize(
    "body",
    [
        {"action": "delete"},
        {"action": "delete", "filter": {}, "ids": [str(uuid4())]},
        {"action": "delete", "ids": []},
        {"action": "delete", "filter": {"state": "failed"}},
        {"action": "delete", "filter": {}, "metadata": {}},
        {"action": "set_metadata", "filter": {}},
        {"action": "set_metadata", "filter": {}, "metadata": None},
        {"action": "add_to_collection", "filter": {}},
        {"action": "set_chunking", "filter": {}, "chunking": {"size": 100, "overlap": 90}},
        {"action": "set_schedule", "filter": {}, "schedule": {"cron": "x"}},
    ],
)
async def test_an_incomplete_request_changes_nothing(
    editor: httpx.AsyncClient, conn: Connection, body: dict[str, Any]
) -> None:
    answer = await editor.post(BULK, json=body)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert await count(conn, "rag.processing_jobs") == 0


async def test_a_repeated_request_starts_one_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await upload(editor, {"a.txt": b"a"})
    body, headers = {"action": "delete", "filter": {}}, {"Idempotency-Key": "once"}

    first = await editor.post(BULK, json=body, headers=headers)
    second = await editor.post(BULK, json=body, headers=headers)

    assert first.json() == second.json()
    assert await count(conn, "rag.processing_jobs where type = 'bulk'") == 1


async def test_ids_of_another_application_are_not_touched(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection, pool: Pool
) -> None:
    made = (await upload(editor, {"a.txt": b"a"})).json()
    ids = made["knowledgeSourceIds"]
    jobs = [made["files"][0]["jobId"]]

    for url, them in ((BULK, ids), ("/api/jobs/bulk", jobs)):
        plan = await dry_run(stranger, url, action="cancel", ids=them)
        assert plan["matched"] == 0
        answer = await stranger.post(url, json={"action": "delete", "ids": them})
        assert answer.json()["rowCount"] == 0
        await run_bulk(pool, conn)

    assert (await sources(editor))["a.txt"]["status"] == "pending"
