"""What runs of pages and sites did, as people see it."""

from typing import Any
from uuid import UUID, uuid4

import httpx

from ingest.postgres.database import Connection
from ingest.store.crawl import crawls
from ingest.store.crawl.runs import StartedRun
from tests.support.crawl.crawl_sources import (
    SITE,
    add_child,
    add_page,
    crawl_row,
    end,
    start,
)

WEEKLY = {"cron": "30 4 * * 1", "timezone": "Europe/Berlin"}


def path(run: StartedRun, rest: str = "") -> str:
    return f"/api/knowledge-sources/{run.source_id}{rest}"


# ---------------------------------------------------------------- what runs did


async def test_runs_are_listed_with_their_digests_newest_first(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    first = await start(conn, application_id)
    await add_page(conn, first, SITE, status="new")
    await crawls.write_digest(conn, first.crawl_id, removed=2, held=0)
    await end(conn, first)
    second = (await editor.post(path(first, "/rescrape"))).json()

    page = (await viewer.get(path(first, "/crawls"), params={"limit": 1})).json()
    rest = (await viewer.get(path(first, "/crawls"), params={"cursor": page["nextCursor"]})).json()

    assert [item["id"] for item in page["items"]] == [second["crawlId"]]
    assert page["items"][0]["digest"] is None
    [old] = rest["items"]
    assert (old["id"], old["status"], rest["nextCursor"]) == (
        str(first.crawl_id),
        "completed",
        None,
    )
    assert old["digest"] | {"new": 1, "removed": 2, "removalsHeld": 0} == old["digest"]


async def pages_of(
    client: httpx.AsyncClient, run: StartedRun, **params: Any
) -> list[dict[str, Any]]:
    answer = await client.get(path(run, "/pages"), params=params)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def test_crawl_pages_show_their_outcome(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await add_page(conn, run, SITE, status="new", http_status=200)
    await add_page(conn, run, SITE + "gone", status="failed", http_status=404)
    open_job = await add_child(conn, application_id, run)
    await add_page(conn, run, SITE + "open", status="queued", job_id=open_job)

    everything = await pages_of(viewer, run)
    failed = await pages_of(viewer, run, status="failed")

    assert [(page["uri"], page["status"], page["httpStatus"]) for page in everything] == [
        (SITE, "new", 200),
        (SITE + "gone", "failed", 404),
        (SITE + "open", "queued", None),
    ]
    assert [page["uri"] for page in failed] == [SITE + "gone"]


async def test_pages_are_those_of_the_latest_run_unless_one_is_named(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await add_page(conn, run, SITE)
    await end(conn, run)
    await editor.post(path(run, "/rescrape"))

    assert await pages_of(viewer, run) == []
    assert len(await pages_of(viewer, run, crawlId=run.crawl_id)) == 1
    assert await pages_of(viewer, run, crawlId=uuid4()) == []


async def test_crawl_pages_are_paginated(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    added = [SITE + str(n) for n in range(5)]
    for uri in added:
        await add_page(conn, run, uri)

    seen: list[str] = []
    cursor: dict[str, str] = {}
    while not seen or cursor:
        part = (await viewer.get(path(run, "/pages"), params={"limit": 2, **cursor})).json()
        seen += [page["uri"] for page in part["items"]]
        cursor = {"cursor": part["nextCursor"]} if part["nextCursor"] else {}

    # In the order of their ids, which were made in the same millisecond.
    assert sorted(seen) == added


async def test_runs_of_another_application_return_404(
    stranger: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await add_page(conn, run, SITE)
    mine = await start(conn, application_id, "https://mine.example/")
    answers = [
        await stranger.get(path(run, "/crawls")),
        await stranger.get(path(run, "/pages"), params={"crawlId": str(run.crawl_id)}),
        await stranger.post(path(run, "/rescrape")),
        await stranger.patch(path(run), json={"rescrape": WEEKLY}),
        await stranger.delete(path(run)),
        await stranger.post(path(run, "/cancel")),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert (await crawl_row(conn, run.crawl_id))["status"] == "pending"
    assert (await crawl_row(conn, mine.crawl_id))["status"] == "pending"
