"""Runs of pages and sites as people start them; their schedules; reviews."""

from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from ingest.store.crawl.runs import StartedRun
from tests.api.helpers import count, upload
from tests.support.crawl.crawl_sources import (
    SITE,
    add_child,
    crawl_row,
    end,
    hold_removals,
    start,
)
from tests.support.queue_builders import job_row

WEEKLY = {"cron": "30 4 * * 1", "timezone": "Europe/Berlin"}


def path(run: StartedRun, rest: str = "") -> str:
    return f"/api/knowledge-sources/{run.source_id}{rest}"


async def file_id(editor: httpx.AsyncClient) -> str:
    answer = await upload(editor, {"a.txt": b"text"})
    id: str = answer.json()["knowledgeSourceIds"][0]
    return id


# ---------------------------------------------------------------- another run, now


async def test_rescrape_request_starts_a_run(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await end(conn, run)

    answer = await editor.post(path(run, "/rescrape"))

    assert answer.status_code == 202
    body = answer.json()
    assert body["knowledgeSourceId"] == str(run.source_id)
    assert (await job_row(conn, body["jobId"]))["type"] == "rescrape"
    settings = (await crawl_row(conn, body["crawlId"]))["settings"]
    assert settings["accept_losses"] is False


async def test_accept_removals_applies_to_one_run(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    settings = []
    for body in ({"acceptLosses": True}, {}):
        await end(conn, run)
        answer = (await editor.post(path(run, "/rescrape"), json=body)).json()
        run = StartedRun(
            source_id=run.source_id,
            job_id=UUID(answer["jobId"]),
            crawl_id=UUID(answer["crawlId"]),
        )
        settings.append((await crawl_row(conn, run.crawl_id))["settings"]["accept_losses"])

    assert settings == [True, False]


async def test_rescrape_joins_an_open_run(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)

    answer = await editor.post(path(run, "/rescrape"))

    assert answer.json() == {
        "knowledgeSourceId": str(run.source_id),
        "jobId": str(run.job_id),
        "crawlId": str(run.crawl_id),
    }
    assert await count(conn, "rag.crawls") == 1


async def test_a_file_cannot_be_fetched_again(editor: httpx.AsyncClient) -> None:
    id = await file_id(editor)
    again = await editor.post(f"/api/knowledge-sources/{id}/rescrape")
    plan = await editor.patch(f"/api/knowledge-sources/{id}", json={"rescrape": WEEKLY})

    assert (again.status_code, again.json()["code"]) == (409, "not_rescrapable")
    assert (plan.status_code, plan.json()["code"]) == (409, "not_rescrapable")


# ---------------------------------------------------------------- schedules


async def test_schedule_can_be_set_kept_and_removed(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    answers = [
        (await editor.patch(path(run), json=body)).json()
        for body in ({"rescrape": WEEKLY}, {"name": "new"}, {"rescrape": None})
    ]

    assert [answer["rescrape"] for answer in answers] == [WEEKLY, WEEKLY, None]
    assert [answer["nextRescrapeAt"] is None for answer in answers] == [False, False, True]
    assert answers[2]["name"] == "new"


async def test_a_schedule_is_in_utc_unless_it_names_a_zone(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)

    answer = await editor.patch(path(run), json={"rescrape": {"cron": "0 5 * * *"}})

    assert answer.json()["rescrape"] == {"cron": "0 5 * * *", "timezone": "UTC"}


async def test_invalid_schedule_names_the_field_and_changes_nothing(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    wrong: dict[str, dict[str, str]] = {
        "body.rescrape.cron": {"cron": "0 25 * * *"},
        "body.rescrape.timezone": {"cron": "0 5 * * *", "timezone": "../etc/passwd"},
        "body.rescrape.zone": {"cron": "0 5 * * *", "zone": "UTC"},
    }
    answers = [
        await editor.patch(path(run), json={"rescrape": schedule, "name": "new"})
        for schedule in wrong.values()
    ]

    assert {answer.status_code for answer in answers} == {422}
    assert [answer.json()["errors"][0]["field"] for answer in answers] == list(wrong)
    source = (await editor.get(path(run))).json()
    assert (source["name"], source["rescrape"]) == ("site.example/", None)


# ---------------------------------------------------------------- reviews


async def test_an_approved_job_is_completed_and_the_removals_done(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[SITE], lost=[SITE + "old"])

    answer = await editor.post(f"/api/jobs/{run.job_id}/approve")

    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    documents = (await editor.get(path(run, "/documents"))).json()["items"]
    assert [item["deletedAt"] is None for item in documents] == [True, False]
    assert (await editor.get(path(run))).json()["status"] == "completed"


async def test_a_rejected_job_is_cancelled_and_nothing_removed(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    await hold_removals(conn, application_id, run, found=[SITE], lost=[SITE + "old"])

    answer = await editor.post(f"/api/jobs/{run.job_id}/reject")

    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "cancelled")
    assert body["lastErrorCode"] == "rejected"
    documents = (await editor.get(path(run, "/documents"))).json()["items"]
    assert [item["deletedAt"] for item in documents] == [None, None]


async def test_only_a_job_that_waits_for_a_review_has_one(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    answers = [
        await editor.post(f"/api/jobs/{run.job_id}/{decision}")
        for decision in ("approve", "reject")
    ]

    assert {answer.status_code for answer in answers} == {409}
    assert {answer.json()["code"] for answer in answers} == {"not_reviewable"}


async def test_cancelling_a_crawl_cancels_its_pages(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    run = await start(conn, application_id)
    child = await add_child(conn, application_id, run)

    answer = await editor.post(f"/api/jobs/{run.job_id}/cancel")

    assert answer.json()["status"] == "cancelled"
    assert (await job_row(conn, child))["status"] == "cancelled"
    assert (await crawl_row(conn, run.crawl_id))["status"] == "cancelled"
