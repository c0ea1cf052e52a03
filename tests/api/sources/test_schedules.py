"""GET /api/schedules: what is fetched again, when, and how the last run ended."""

from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from ingest.settings.settings import Settings
from ingest.store.limits import schedules
from tests.support.crawl.crawl_sources import end, start

SCHEDULES = "/api/schedules"
DAILY = {"cron": "0 6 * * *", "timezone": "Europe/Berlin"}


async def test_sources_with_a_schedule_are_listed_the_next_one_first(
    editor: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
) -> None:
    runs = [await start(conn, application_id, f"https://site.example/{name}") for name in "abc"]
    for run, cron in zip(runs[:2], ("0 0 1 1 *", "*/5 * * * *"), strict=True):
        await editor.patch(
            f"/api/knowledge-sources/{run.source_id}", json={"rescrape": {"cron": cron}}
        )
    await end(conn, runs[1], job="failed", crawl="running")

    first = (await editor.get(SCHEDULES, params={"limit": 1})).json()
    second = (await editor.get(SCHEDULES, params={"cursor": first["nextCursor"]})).json()

    [soon], [late] = first["items"], second["items"]
    assert [soon["id"], late["id"]] == [str(runs[1].source_id), str(runs[0].source_id)]
    assert second["nextCursor"] is None
    assert soon["rescrape"] == {"cron": "*/5 * * * *", "timezone": "UTC"}
    assert soon["lastRun"]["status"] == "failed"
    assert late["lastRun"]["crawlId"] == str(runs[0].crawl_id)
    assert (await stranger.get(SCHEDULES)).json()["items"] == []


async def test_next_times_are_those_of_the_zone(viewer: httpx.AsyncClient) -> None:
    answer = await viewer.get(f"{SCHEDULES}/next", params=DAILY)

    times = answer.json()["next"]
    assert len(set(times)) == 3
    assert times == sorted(times)
    # 06:00 in Berlin is 04:00 or 05:00 in UTC.
    assert {time[10:] for time in times} <= {"T04:00:00Z", "T05:00:00Z"}


async def test_wrong_schedule_is_a_422_that_names_the_parameter(viewer: httpx.AsyncClient) -> None:
    often = await viewer.get(f"{SCHEDULES}/next", params={"cron": "* * * * *"})
    nowhere = await viewer.get(f"{SCHEDULES}/next", params={**DAILY, "timezone": "Mars/Base"})

    fields = [answer.json()["errors"][0]["field"] for answer in (often, nowhere)]
    assert fields == ["query.cron", "query.timezone"]


async def test_nightly_round_is_that_of_the_settings(
    viewer: httpx.AsyncClient, settings: Settings
) -> None:
    nightly = (await viewer.get(f"{SCHEDULES}/nightly")).json()

    assert nightly["schedule"] == {"cron": settings.rescrape, "timezone": "UTC"}
    assert {time[10:] for time in nightly["next"]} == {"T03:00:00Z"}


async def test_operator_sees_the_last_firing_of_each_tick(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    now = (await schedules.now(conn)).replace(microsecond=0)
    for name, year in (("prune", now.year - 1), ("prune", now.year), ("housekeeping", now.year)):
        await schedules.fire(conn, name=name, scheduled_for=now.replace(year=year, day=1))

    ticks = (await operator.get(f"{SCHEDULES}/ticks")).json()["items"]

    assert [tick["name"] for tick in ticks] == ["housekeeping", "prune"]
    assert {tick["scheduledFor"][:4] for tick in ticks} == {str(now.year)}
