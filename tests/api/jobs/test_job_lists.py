"""Lists of jobs by text, metadata, collection and time."""

from typing import Any

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.lists import job_lists
from tests.api.helpers import upload


async def uris(client: httpx.AsyncClient, **params: Any) -> list[str]:
    answer = await client.get("/api/jobs", params=params)
    assert answer.status_code == 200, answer.text
    return [item["uri"] for item in answer.json()["items"]]


async def test_jobs_are_found_by_their_sources(editor: httpx.AsyncClient) -> None:
    await upload(editor, {"docs/a.txt": b"a"}, metadata='{"team": "x"}')
    await upload(editor, {"docs/b.txt": b"b", "c.txt": b"c"})

    assert await uris(editor, q="DOCS/") == ["docs/b.txt", "docs/a.txt"]
    assert await uris(editor, q="docs", metadata="team=x") == ["docs/a.txt"]
    assert await uris(editor, q="docs", status="failed") == []
    assert await uris(editor, q="docs", type="file") == ["docs/b.txt", "docs/a.txt"]
    assert await uris(editor, q="docs", errorCode="corrupt") == []


async def test_a_search_reads_so_many_jobs_and_says_where_to_read_on(
    editor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        name = f"{'needle' if number in (0, 5) else 'hay'}{number}.txt"
        await upload(editor, {name: b"%d" % number})
    monkeypatch.setattr(job_lists, "SCANNED", 3)

    pages: list[list[str]] = []
    cursor = None
    while True:
        params = {"q": "needle"} | ({} if cursor is None else {"cursor": cursor})
        page = (await editor.get("/api/jobs", params=params)).json()
        pages.append([item["uri"] for item in page["items"]])
        cursor = page["nextCursor"]
        if cursor is None:
            break

    assert pages == [["needle5.txt"], [], ["needle0.txt"]]


async def test_jobs_since_a_time_end_where_older_ones_begin(
    editor: httpx.AsyncClient, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        await upload(editor, {f"{number}.txt": b"%d" % number})
    await conn.execute(
        "update rag.processing_jobs set created_at = now() - interval '2 days' "
        "where position <= (select min(position) + 2 from rag.processing_jobs)"
    )
    # One of a long transaction: older than those queued before it.
    await conn.execute(
        "update rag.processing_jobs set created_at = now() - interval '30 minutes' "
        "where position = (select max(position) - 1 from rag.processing_jobs)"
    )
    [(since,)] = await (await conn.execute("select now() - interval '5 minutes'")).fetchall()

    first = (await editor.get("/api/jobs", params={"since": since.isoformat(), "limit": 2})).json()
    params = {"since": since.isoformat(), "limit": 2, "cursor": first["nextCursor"]}
    second = (await editor.get("/api/jobs", params=params)).json()

    assert [item["uri"] for item in first["items"]] == ["5.txt"]
    assert [item["uri"] for item in second["items"]] == ["3.txt"]
    assert second["nextCursor"] is None
    monkeypatch.setattr(job_lists, "SCANNED", 1)
    for _ in range(5):  # searches end there too
        params["q"] = "hay"
        page = (await editor.get("/api/jobs", params=params)).json()
        if page["nextCursor"] is None:
            break
        params["cursor"] = page["nextCursor"]
    else:
        pytest.fail("the search does not end")
