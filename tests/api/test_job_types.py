"""Job types: limits that are edited while workers run."""

from typing import Any

import httpx
import pytest

TYPES = "/api/job-types"


async def shown(client: httpx.AsyncClient, type: str) -> dict[str, Any]:
    items = (await client.get(TYPES)).json()["items"]
    found: dict[str, Any] = next(item for item in items if item["type"] == type)
    return found


async def test_a_job_type_can_be_paused_and_tuned(admin: httpx.AsyncClient) -> None:
    before = await shown(admin, "file")
    change = {
        "isPaused": True,
        "maxAttempts": 7,
        "backoffBaseSeconds": 1.5,
        "stageTimeoutSeconds": 30,
        "maxConcurrent": 3,
        "ratePerMinute": 60,
    }
    changed = await admin.patch(f"{TYPES}/file", json=change)
    original = {name: before[name] for name in change}
    restored = await admin.patch(f"{TYPES}/file", json=original)

    assert changed.json() == {**before, **change}
    assert restored.json() == before == await shown(admin, "file")


async def test_a_limit_that_is_left_out_stays_and_null_lifts_it(admin: httpx.AsyncClient) -> None:
    await admin.patch(f"{TYPES}/file", json={"maxConcurrent": 3, "ratePerMinute": 60})

    left_out = (await admin.patch(f"{TYPES}/file", json={"isPaused": False})).json()
    lifted = (await admin.patch(f"{TYPES}/file", json={"maxConcurrent": None})).json()

    assert (left_out["maxConcurrent"], left_out["ratePerMinute"]) == (3, 60)
    assert (lifted["maxConcurrent"], lifted["ratePerMinute"]) == (None, 60)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"maxAttempts": 0}, "maxAttempts"),
        ({"timeoutSeconds": 0.99}, "timeoutSeconds"),
        ({"backoffBaseSeconds": 0.09}, "backoffBaseSeconds"),
        ({"backoffCapSeconds": 1e-9}, "backoffCapSeconds"),
        ({"stageTimeoutSeconds": 0}, "stageTimeoutSeconds"),
        ({"maxConcurrent": -1}, "maxConcurrent"),
        ({"maxConcurrent": 10_001}, "maxConcurrent"),
        ({"ratePerMinute": 0}, "ratePerMinute"),
        ({"ratePerMinute": 1_000_001}, "ratePerMinute"),
        ({"handler": "x"}, "handler"),
        ({"is_paused": True}, "is_paused"),
        ({"backoffCapSeconds": 1}, "backoffCapSeconds"),
        ({"backoffBaseSeconds": 3600}, "backoffBaseSeconds"),
        ({"stageTimeoutSeconds": 1801}, "stageTimeoutSeconds"),
        ({"timeoutSeconds": 60}, "timeoutSeconds"),
    ],
)
async def test_a_wrong_limit_is_a_422_that_names_the_field(
    admin: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    before = await shown(admin, "file")

    answer = await admin.patch(f"{TYPES}/file", json=body)

    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [f"body.{field}"]
    assert await shown(admin, "file") == before


async def test_an_unknown_job_type_is_a_404(admin: httpx.AsyncClient) -> None:
    assert (await admin.patch(f"{TYPES}/nothing", json={})).status_code == 404
