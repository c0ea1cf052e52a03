"""Job types: limits that are edited while workers run, and types that operators add."""

from typing import Any
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from ingest.store.queue import jobs
from tests.api.helpers import upload

TYPES = "/api/job-types"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


async def shown(client: httpx.AsyncClient, type: str) -> dict[str, Any]:
    items = (await client.get(TYPES)).json()["items"]
    found: dict[str, Any] = next(item for item in items if item["type"] == type)
    return found


async def test_a_job_type_can_be_paused_and_tuned(operator: httpx.AsyncClient) -> None:
    before = await shown(operator, "file")
    change = {
        "isPaused": True,
        "maxAttempts": 7,
        "backoffBaseSeconds": 1.5,
        "stageTimeoutSeconds": 30,
        "maxConcurrent": 3,
        "ratePerMinute": 60,
    }
    changed = await operator.patch(f"{TYPES}/file", json=change)
    original = {name: before[name] for name in change}
    restored = await operator.patch(f"{TYPES}/file", json=original)

    assert changed.json() == {**before, **change}
    assert restored.json() == before == await shown(operator, "file")


async def test_omitted_limit_is_kept_and_null_removes_it(
    operator: httpx.AsyncClient,
) -> None:
    await operator.patch(f"{TYPES}/file", json={"maxConcurrent": 3, "ratePerMinute": 60})

    left_out = (await operator.patch(f"{TYPES}/file", json={"isPaused": False})).json()
    lifted = (await operator.patch(f"{TYPES}/file", json={"maxConcurrent": None})).json()

    assert (left_out["maxConcurrent"], left_out["ratePerMinute"]) == (3, 60)
    assert (lifted["maxConcurrent"], lifted["ratePerMinute"]) == (None, 60)


async def test_counts_are_by_type_and_over_all_applications(
    operator: httpx.AsyncClient, editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    for client in (editor, stranger):
        await upload(client, {"a.txt": b"a", "b.txt": b"b"})

    counts = (await operator.get(f"{TYPES}/counts")).json()["items"]

    by_type = {item["type"]: item["ready"] for item in counts}
    assert (by_type["file"], by_type["url"]) == (4, 0)


WRONG_LIMITS: list[tuple[dict[str, Any], str]] = [
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
    ({"maxConcurrent": True}, "maxConcurrent"),
    ({"maxAttempts": "3"}, "maxAttempts"),
    ({"isPaused": "yes"}, "isPaused"),
]


async def test_a_wrong_limit_is_a_422_that_names_the_field(operator: httpx.AsyncClient) -> None:
    before = (await operator.get(TYPES)).json()
    answers = [await operator.patch(f"{TYPES}/file", json=body) for body, _ in WRONG_LIMITS]

    assert {answer.status_code for answer in answers} == {422}
    fields = [[error["field"] for error in answer.json()["errors"]] for answer in answers]
    assert fields == [[f"body.{field}"] for _, field in WRONG_LIMITS]
    assert (await operator.get(TYPES)).json() == before


async def test_an_operator_registers_a_type_and_removes_it_again(
    operator: httpx.AsyncClient, editor: httpx.AsyncClient
) -> None:
    body = {"type": "greet", "payloadSchema": SCHEMA, "timeoutSeconds": 60, "maxConcurrent": 2}
    made = await operator.post(TYPES, json=body)
    again = await operator.post(TYPES, json=body)
    listed = await shown(editor, "greet")
    removed = await operator.delete(f"{TYPES}/greet")

    assert (made.status_code, made.json()) == (201, listed)
    assert listed == {
        "type": "greet",
        "handler": "greet",
        "maxAttempts": 5,
        "backoffBaseSeconds": 2,
        "backoffCapSeconds": 600,
        "timeoutSeconds": 60,
        "stageTimeoutSeconds": 60,
        "maxConcurrent": 2,
        "ratePerMinute": None,
        "payloadSchema": SCHEMA,
        "isBuiltIn": False,
        "isEnabled": True,
        "isPaused": False,
    }
    assert (again.status_code, again.json()["code"]) == (409, "job_type_exists")
    assert removed.status_code == 204
    assert (await operator.delete(f"{TYPES}/greet")).status_code == 404


async def test_a_repeated_registration_gets_the_first_answer(operator: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k"}
    body = {"type": "greet", "payloadSchema": {}}
    first = await operator.post(TYPES, json=body, headers=headers)
    second = await operator.post(TYPES, json=body, headers=headers)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()


async def test_job_type_with_jobs_or_built_in_cannot_be_deleted(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    await operator.post(TYPES, json={"type": "greet", "payloadSchema": {}})
    await jobs.enqueue(conn, [jobs.NewJob(application_id=application_id, type="greet")])

    used = await operator.delete(f"{TYPES}/greet")
    built_in = await operator.delete(f"{TYPES}/file")

    assert (used.status_code, used.json()["code"]) == (409, "job_type_in_use")
    assert (built_in.status_code, built_in.json()["code"]) == (409, "built_in")


WRONG_TYPES: list[tuple[dict[str, Any], str]] = [
    ({"type": "Greet"}, "type"),
    ({"type": "1a"}, "type"),
    ({"type": "a" * 64}, "type"),
    ({"type": ""}, "type"),
    ({}, "type"),
    ({"type": "greet", "handler": "a.b"}, "handler"),
    ({"type": "mine", "handler": "file"}, "handler"),
    ({"type": "greet", "maxAttempts": 101}, "maxAttempts"),
    ({"type": "greet", "timeoutSeconds": 5, "stageTimeoutSeconds": 6}, "stageTimeoutSeconds"),
    ({"type": "greet", "payloadSchema": {"type": "nonsense"}}, "payloadSchema"),
    ({"type": "greet", "payloadSchema": {"$ref": "https://x.example/s"}}, "payloadSchema"),
    ({"type": "greet", "payloadSchema": {"$comment": "x" * 17_000}}, "payloadSchema"),
    ({"type": "greet", "payloadSchema": True}, "payloadSchema"),
    ({"type": "greet", "isBuiltIn": True}, "isBuiltIn"),
]


async def test_a_wrong_registration_is_a_422_that_names_the_field(
    operator: httpx.AsyncClient,
) -> None:
    before = (await operator.get(TYPES)).json()
    answers = [await operator.post(TYPES, json=body) for body, _ in WRONG_TYPES]

    assert {answer.status_code for answer in answers} == {422}
    fields = [[error["field"] for error in answer.json()["errors"]] for answer in answers]
    assert fields == [[f"body.{field}"] for _, field in WRONG_TYPES]
    assert (await operator.get(TYPES)).json() == before


async def test_built_in_job_type_accepts_no_payload_schema(
    operator: httpx.AsyncClient,
) -> None:
    answer = await operator.patch(f"{TYPES}/file", json={"payloadSchema": {}})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "not_enqueueable"


async def test_an_unknown_job_type_is_a_404(operator: httpx.AsyncClient) -> None:
    assert (await operator.patch(f"{TYPES}/nothing", json={})).status_code == 404


async def test_pages_of_job_types_follow_one_another(viewer: httpx.AsyncClient) -> None:
    everything = [item["type"] for item in (await viewer.get(TYPES)).json()["items"]]
    paged: list[str] = []
    query: dict[str, str] = {"limit": "3"}
    while True:
        answer = (await viewer.get(TYPES, params=query)).json()
        paged += [item["type"] for item in answer["items"]]
        assert len(answer["items"]) <= 3
        if answer["nextCursor"] is None:
            break
        query["cursor"] = answer["nextCursor"]

    assert paged == everything == sorted(everything)
    assert len(paged) > 6
    refused = [(await viewer.get(TYPES, params={"limit": n})).status_code for n in (0, 201)]
    refused.append((await viewer.get(TYPES, params={"cursor": "x"})).status_code)
    assert refused == [422] * 3
