"""Pause and resume a single provider: /api/worker/provider."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.api.helpers import upload
from tests.support.provider_lanes import LANE
from tests.support.queue_builders import job_row

PROVIDERS = "/api/worker/provider"
PAUSE = f"{PROVIDERS}/pause"


def own(runtime: Runtime) -> str:
    return f"{runtime.model.provider}/{runtime.model.name}"


async def listed(client: httpx.AsyncClient) -> dict[str, Any]:
    return {each["name"]: each for each in (await client.get(PROVIDERS)).json()["items"]}


async def test_a_pause_is_shown_with_its_time_and_note_until_it_ends(
    operator: httpx.AsyncClient, viewer: httpx.AsyncClient, runtime: Runtime
) -> None:
    await runtime.governor.reserve(LANE)
    before = datetime.now(UTC)

    answer = await operator.post(PAUSE, json={"name": "acme/llm", "note": "Ada: too dear"})
    again = await operator.post(PAUSE, json={"name": "acme/llm", "note": "Bob"})
    [lane] = (await viewer.get("/api/overview")).json()["lanes"]
    during = await listed(operator)
    ended = await operator.delete(PAUSE, params={"name": "acme/llm"})

    assert answer.status_code == again.status_code == 200
    assert answer.json() == again.json() == during["acme/llm"]
    assert during["acme/llm"]["isPaused"] is True
    assert during["acme/llm"]["use"] is None
    assert (lane["lane"], lane["reason"], lane["note"]) == (
        "acme/llm",
        "provider_paused",
        "Ada: too dear",
    )
    assert abs((datetime.fromisoformat(lane["pausedSince"]) - before).total_seconds()) < 60
    assert ended.json() == {"lanes": ["acme/llm"], "jobCount": 0}
    assert (await viewer.get("/api/overview")).json()["lanes"] == []
    assert (await listed(operator))["acme/llm"]["isPaused"] is False


async def test_the_embedder_in_use_can_be_paused_before_it_was_asked(
    operator: httpx.AsyncClient, runtime: Runtime
) -> None:
    assert (await listed(operator))[own(runtime)]["use"] == "embedding"

    answer = await operator.post(PAUSE, json={"name": own(runtime)})

    assert (answer.status_code, answer.json()["isPaused"]) == (200, True)


async def test_resuming_wakes_the_jobs_that_waited_even_if_repeated(
    operator: httpx.AsyncClient, conn: Connection, runtime: Runtime
) -> None:
    await operator.post(PAUSE, json={"name": own(runtime)})
    files = (await upload(operator, {"a.txt": b"a", "b.txt": b"b"})).json()["files"]
    jobs = [UUID(file["jobId"]) for file in files]
    answers = []
    for job in jobs:
        await conn.execute(
            "update rag.processing_jobs set run_at = now() + interval '15 minutes',"
            " wait_reason = 'provider_paused' where id = %s",
            [job],
        )
        answers.append((await operator.delete(PAUSE, params={"name": own(runtime)})).json())

    assert answers == [{"lanes": [own(runtime)], "jobCount": 1}, {"lanes": [], "jobCount": 1}]
    assert [(await job_row(conn, job))["run_at"] for job in jobs] == [None, None]


async def test_try_now_does_not_end_a_pause_of_the_operator(
    operator: httpx.AsyncClient, runtime: Runtime
) -> None:
    await runtime.governor.reserve(LANE)
    await operator.post(PAUSE, json={"name": "acme/llm"})

    await operator.post(f"{PROVIDERS}/resume")

    assert await runtime.governor.reserve(LANE) is not None


async def test_an_unknown_name_is_refused(operator: httpx.AsyncClient) -> None:
    answer = await operator.post(PAUSE, json={"name": "acme/typo"})

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_only_the_operator_may(
    admin: httpx.AsyncClient, operator: httpx.AsyncClient, runtime: Runtime
) -> None:
    name = own(runtime)
    await operator.post(PAUSE, json={"name": name})

    answers = [
        await admin.get(PROVIDERS),
        await admin.post(PAUSE, json={"name": name}),
        await admin.delete(PAUSE, params={"name": name}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert (await listed(operator))[name]["isPaused"] is True
