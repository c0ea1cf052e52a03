"""GET /api/overview: the state of one application's work."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.limits import token_budgets
from ingest.store.overview import counts
from tests.support.queue_builders import add_application, add_worker, claim, enqueue


def _count(number: int, *, is_more: bool = False) -> dict[str, Any]:
    return {"count": number, "isMore": is_more}


async def _overview(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/api/overview")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def _set(conn: Connection, ids: list[UUID], assignments: str) -> None:
    await conn.execute(
        f"update rag.processing_jobs set {assignments} where id = any(%s)".encode(), [ids]
    )


async def _fail(conn: Connection, ids: list[UUID], code: str, *, hours: int = 1) -> None:
    done = f"completed_at = now() - interval '{hours} hours'"
    await _set(conn, ids, f"status = 'failed', last_error_code = '{code}', {done}")


async def test_an_idle_application(viewer: httpx.AsyncClient) -> None:
    found = await _overview(viewer)

    assert found["ready"] == found["running"] == found["failed"] == _count(0)
    assert found["reviewNeeded"] == _count(0)
    assert found["waiting"] == found["failures"] == found["lanes"] == found["pausedTypes"] == []
    assert found["oldestReadySeconds"] is None
    assert found["workers"] == {"alive": 0, "draining": 0, "silentSeconds": None}
    assert found["usage"]["sources"]["used"] == 0


async def test_jobs_are_counted_by_what_they_do(
    conn: Connection, application_id: UUID, viewer: httpx.AsyncClient
) -> None:
    await enqueue(conn, application_id, 3)
    await claim(conn, 2, worker=await add_worker(conn))
    waiting = await enqueue(conn, application_id, 6)
    await _set(conn, waiting[:3], "run_at = now() + interval '1 hour', wait_reason = 'retry'")
    await _set(conn, waiting[3:5], "run_at = now() + interval '1 hour', wait_reason = 'my own'")
    await _set(conn, waiting[5:], "run_at = now() + interval '1 hour'")
    reviews = await enqueue(conn, application_id, 1)
    await _set(conn, reviews, "status = 'review_needed'")
    failed = await enqueue(conn, application_id, 4)
    await _fail(conn, failed[:2], "corrupt")
    await _fail(conn, failed[2:3], "no_text")
    await _fail(conn, failed[3:], "encrypted", hours=25)

    found = await _overview(viewer)

    assert found["ready"] == _count(1)
    assert found["running"] == _count(2)
    assert found["waiting"] == [
        {"reason": "retry", **_count(3)},
        {"reason": "my own", **_count(2)},
        {"reason": "scheduled", **_count(1)},
    ]
    assert found["reviewNeeded"] == _count(1)
    assert found["failed"] == _count(3)
    assert found["failures"] == [
        {"code": "corrupt", **_count(2)},
        {"code": "no_text", **_count(1)},
    ]
    assert found["workers"]["alive"] == 1


async def test_nothing_of_another_application_is_counted(
    conn: Connection, viewer: httpx.AsyncClient
) -> None:
    other = await add_application(conn)
    await enqueue(conn, other, 2)
    await claim(conn, 1, worker=await add_worker(conn))
    await _set(
        conn, await enqueue(conn, other), "run_at = now() + interval '1 h', wait_reason = 'x'"
    )
    await _set(conn, await enqueue(conn, other), "status = 'review_needed'")
    await _fail(conn, await enqueue(conn, other), "corrupt")

    found = await _overview(viewer)

    assert found["ready"] == found["running"] == found["failed"] == _count(0)
    assert found["reviewNeeded"] == _count(0)
    assert found["waiting"] == found["failures"] == []
    assert found["oldestReadySeconds"] is None


async def test_counts_stop(
    conn: Connection,
    application_id: UUID,
    viewer: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counts, "LARGEST_COUNT", 5)
    await enqueue(conn, application_id, 7)
    await _fail(conn, await enqueue(conn, application_id, 7), "corrupt")
    waiting = await enqueue(conn, application_id, 7)
    await _set(conn, waiting, "run_at = now() + interval '1 hour', wait_reason = 'retry'")

    found = await _overview(viewer)

    assert found["ready"] == found["failed"] == _count(5, is_more=True)
    assert found["waiting"] == [{"reason": "retry", **_count(5, is_more=True)}]
    assert found["failures"][0]["isMore"]


async def test_the_oldest_ready_job_is_found_behind_newer_ones_of_any_priority(
    conn: Connection, application_id: UUID, viewer: httpx.AsyncClient
) -> None:
    for age, priority in ((1, 5), (9, 0), (2, 0), (3, -5)):
        ids = await enqueue(conn, application_id, priority=priority)
        await _set(conn, ids, f"created_at = now() - interval '{age} hours'")

    assert round(await _oldest_hours(viewer)) == 9
    await conn.execute("delete from rag.processing_jobs where priority = 0")
    assert round(await _oldest_hours(viewer)) == 3


async def _oldest_hours(client: httpx.AsyncClient) -> float:
    return float((await _overview(client))["oldestReadySeconds"]) / 3600


async def test_ready_jobs_of_a_paused_type_wait_for_it(
    conn: Connection,
    application_id: UUID,
    viewer: httpx.AsyncClient,
    operator: httpx.AsyncClient,
) -> None:
    await enqueue(conn, application_id, 2)
    await operator.patch("/api/job-types/file", json={"isPaused": True})
    await operator.patch("/api/job-types/purge", json={"isEnabled": False})

    found = await _overview(viewer)

    assert found["ready"] == _count(0)
    assert found["waiting"] == [{"reason": "paused", **_count(2)}]
    assert found["pausedTypes"] == [
        {"type": "file", "isEnabled": True},
        {"type": "purge", "isEnabled": False},
    ]
    assert found["oldestReadySeconds"] is None
    assert not found["isPaused"]

    await operator.put("/api/worker/config", json={"paused": True})
    assert (await _overview(viewer))["isPaused"]


async def test_paused_lanes_show_their_keys_to_the_operator_only(
    conn: Connection, viewer: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await conn.execute(
        "insert into rag.lanes (lane, paused_until, pause_reason, failing_since, error_code) "
        "values "
        "('openai/small#ab12@llm.example', now() + interval '1 hour', 'provider_unavailable', "
        " now(), 'embedding_unavailable'), ('openai/fine', null, null, null, null), "
        "('openai/replaced', now() - interval '1 hour', 'x', now() - interval '1 day', 'x'), "
        "('type:file', now() + interval '1 hour', 'rate_limited', null, null)"
    )

    [lane] = (await _overview(viewer))["lanes"]
    [shown] = (await _overview(operator))["lanes"]

    assert lane["lane"] == "openai/small"
    assert (lane["reason"], lane["errorCode"]) == ("provider_unavailable", "embedding_unavailable")
    assert shown["lane"] == "openai/small#ab12@llm.example"


@pytest.mark.usefixtures("same_day")
async def test_usage_names_the_tokens_of_today_and_their_budget(
    conn: Connection, application_id: UUID, viewer: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await token_budgets.reserve(conn, application_id=application_id, tokens=5)
    unlimited = (await viewer.get("/api/usage")).json()["tokens"]
    await operator.patch(
        f"/api/applications/{application_id}", json={"settings": {"tokensPerDay": 1000}}
    )
    limited = (await _overview(viewer))["usage"]["tokens"]

    assert (unlimited["used"], unlimited["perDay"]) == (5, None)
    assert unlimited["usedThisMonth"] == 5
    assert (limited["used"], limited["perDay"]) == (5, 1000)
    assert limited["renewsAt"].endswith("T00:00:00Z")
