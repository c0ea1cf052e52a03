"""GET /api/activity: ended attempts of one application over time."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.overview import activity
from ingest.store.overview.activity import ActivityOutcome, Amounts, Kind

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def _add(
    conn: Connection,
    application_id: UUID,
    start: datetime,
    *,
    type: str = "file",
    outcome: ActivityOutcome = "completed",
) -> None:
    totals = {start: {Kind(application_id, type, outcome): Amounts(n=1, tokens=10, bytes=100)}}
    await activity.store(conn, worker_id=uuid4(), totals=totals)


async def _activity(client: httpx.AsyncClient, **params: Any) -> dict[str, Any]:
    answer = await client.get("/api/activity", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_attempts_by_step_and_outcome(
    conn: Connection, application_id: UUID, other_application: UUID, viewer: httpx.AsyncClient
) -> None:
    await _add(conn, application_id, NOON)
    await _add(conn, application_id, NOON + timedelta(minutes=4), type="crawl_page")
    await _add(conn, application_id, NOON + timedelta(minutes=4), type="purge")
    await _add(conn, application_id, NOON, outcome="failed")
    await _add(conn, application_id, NOON + timedelta(minutes=5))
    await _add(conn, other_application, NOON)

    found = await _activity(
        viewer, **{"from": "2026-03-01T13:02:00+01:00", "to": "2026-03-01T12:30:00Z", "step": 300}
    )

    sums = {"tokens": 10, "bytes": 100}
    assert found == {
        "from": "2026-03-01T12:00:00Z",
        "to": "2026-03-01T12:30:00Z",
        "stepSeconds": 300,
        "items": [
            {
                "start": "2026-03-01T12:00:00Z", "outcome": "completed", "jobs": 3, "files": 1,
                "pages": 1, "tokens": 30, "bytes": 300,
            },
            {
                "start": "2026-03-01T12:00:00Z", "outcome": "failed", "jobs": 1, "files": 1,
                "pages": 0, **sums,
            },
            {
                "start": "2026-03-01T12:05:00Z", "outcome": "completed", "jobs": 1, "files": 1,
                "pages": 0, **sums,
            },
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "step"), [(1, 60), (24, 900), (24 * 7, 3 * 3600), (24 * 90, 86400)]
)
async def test_the_usual_step_makes_at_most_a_hundred(
    viewer: httpx.AsyncClient, hours: int, step: int
) -> None:
    start = (NOON - timedelta(hours=hours)).isoformat()

    assert (await _activity(viewer, **{"from": start, "to": NOON.isoformat()}))[
        "stepSeconds"
    ] == step


async def test_by_default_it_is_the_last_hour(
    conn: Connection, application_id: UUID, viewer: httpx.AsyncClient
) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    await _add(conn, application_id, now - timedelta(minutes=30))
    await _add(conn, application_id, now - timedelta(minutes=90))

    found = await _activity(viewer)

    assert [item["jobs"] for item in found["items"]] == [1]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"from": "2026-03-01T12:00:00Z", "to": "2026-03-01T12:00:00Z"}, "from"),
        ({"from": "2024-03-01T12:00:00Z", "to": "2026-03-01T12:00:00Z"}, "from"),
        ({"from": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"to": "9999-12-31T23:59:59-14:00"}, "to"),
        ({"from": "2026-03-01T12:00:00"}, "from"),
        ({"from": "2026-01-01T12:00:00Z", "to": "2026-03-01T12:00:00Z", "step": 60}, "step"),
        ({"step": 90}, "step"),
    ],
)
async def test_what_is_refused(
    viewer: httpx.AsyncClient, params: dict[str, Any], field: str
) -> None:
    answer = await viewer.get("/api/activity", params=params)

    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [f"query.{field}"]
