"""Jobs of registered types by API: what is queued, what is found instead, what is refused."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from ingest.postgres.database import Connection
from tests.api.helpers import count, upload
from tests.support.queue_builders import job_row

JOBS = "/api/jobs"
QUEUED = "rag.processing_jobs where type = 'greet'"


@pytest.fixture(autouse=True)
async def greet(operator: httpx.AsyncClient) -> None:
    """A registered type."""
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 5}, "parts": {"type": "array"}},
        "additionalProperties": False,
    }
    await operator.post("/api/job-types", json={"type": "greet", "payloadSchema": schema})


async def post(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post(JOBS, json={"type": "greet", **body})


async def add_source(client: httpx.AsyncClient) -> str:
    body = (await upload(client, {"a.txt": b"a"})).json()
    return str(body["knowledgeSourceIds"][0])


async def test_a_job_is_queued_with_what_was_asked_for(
    editor: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> None:
    source_id = await add_source(editor)

    answer = await post(
        editor, payload={"name": "Ada"}, priority=7, knowledgeSourceId=source_id, delaySeconds=60
    )

    shown = answer.json()
    row = await job_row(conn, shown["id"])
    assert answer.status_code == 202
    assert (shown["type"], shown["status"], shown["priority"]) == ("greet", "pending", 7)
    assert (shown["knowledgeSourceId"], shown["waitReason"]) == (source_id, "scheduled")
    assert "payload" not in shown
    assert (row["application_id"], row["payload"]) == (application_id, {"name": "Ada"})
    assert row["run_at"] - row["created_at"] == timedelta(minutes=1)


async def test_job_waits_for_run_at_and_past_run_at_means_now(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    time = datetime(2100, 1, 2, 3, tzinfo=UTC)
    later = (await post(editor, runAt="2100-01-02T05:00:00+02:00")).json()
    now = (await post(editor, runAt="2000-01-01T00:00:00Z")).json()

    assert (await job_row(conn, later["id"]))["run_at"] == time
    assert (now["runAt"], now["waitReason"]) == (None, None)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "nothing"}, "body.type", "unknown_type"),
    ({"type": "file", "payload": {"blobKey": "b"}}, "body.type", "not_enqueueable"),
    ({"type": "purge"}, "body.type", "not_enqueueable"),
    ({"payload": {"name": 1}}, "body.payload.name", "schema"),
    ({"payload": {"name": "too long"}}, "body.payload.name", "schema"),
    ({"payload": {"other": 1}}, "body.payload", "schema"),
    ({"payload": {"parts": ["x" * 17_000]}}, "body.payload", "value_error"),
    ({"payload": []}, "body.payload", "dict_type"),
    ({"priority": 101}, "body.priority", "less_than_equal"),
    ({"priority": -101}, "body.priority", "greater_than_equal"),
    ({"delaySeconds": -1}, "body.delaySeconds", "greater_than_equal"),
    ({"runAt": "2100-01-01T00:00:00"}, "body.runAt", "timezone_aware"),
    ({"runAt": "9999-12-31T23:59:59-12:00"}, "body.runAt", "less_than"),
    ({"runAt": "2100-01-01T00:00:00Z", "delaySeconds": 1}, "body", "value_error"),
    ({"idempotencyKey": ""}, "body.idempotencyKey", "too_short"),
    ({"idempotencyKey": "k" * 256}, "body.idempotencyKey", "too_long"),
    ({"knowledgeSourceId": "x"}, "body.knowledgeSourceId", "uuid_parsing"),
    ({"knowledge_source_id": None}, "body.knowledge_source_id", "extra_forbidden"),
]


async def test_a_wrong_request_is_a_422_that_names_the_field_and_queues_nothing(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answers = [await post(editor, **body) for body, _, _ in WRONG]

    assert {answer.status_code for answer in answers} == {422}
    errors = [[(e["field"], e["code"]) for e in answer.json()["errors"]] for answer in answers]
    assert errors == [[(field, code)] for _, field, code in WRONG]
    assert await count(conn, "rag.processing_jobs") == 0


async def test_schema_violation_does_not_quote_the_value(editor: httpx.AsyncClient) -> None:
    answer = await post(editor, payload={"name": "my-secret"})

    assert answer.status_code == 422
    assert "my-secret" not in answer.text


async def test_characters_that_cannot_be_stored_are_left_out(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    body = b'{"type": "greet", "payload": {"na\\u0000me": "\\ud800Ada"}}'

    answer = await editor.post(JOBS, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 202
    assert (await job_row(conn, answer.json()["id"]))["payload"] == {"name": "Ada"}


async def test_a_source_of_another_application_is_a_404(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    source_id = await add_source(editor)

    theirs = await post(stranger, knowledgeSourceId=source_id)
    nobodys = await post(stranger, knowledgeSourceId=str(uuid4()))

    assert (theirs.status_code, nobodys.status_code) == (404, 404)
    assert theirs.json() == nobodys.json()
    assert await count(conn, QUEUED) == 0


async def test_one_idempotency_key_is_one_job(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    body = {"payload": {"name": "Ada"}, "idempotencyKey": "k"}
    answers = await asyncio.gather(*(post(editor, **body) for _ in range(20)))
    other = await post(stranger, **body)

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert other.json()["id"] != answers[0].json()["id"]
    assert await count(conn, QUEUED) == 2


@pytest.mark.parametrize("payload", [{"parts": [True]}, {}, {"name": "Ada"}])
async def test_idempotency_key_of_a_different_job_is_a_409(
    editor: httpx.AsyncClient, conn: Connection, payload: dict[str, Any]
) -> None:
    await post(editor, payload={"parts": [1]}, idempotencyKey="k")

    answer = await post(editor, payload=payload, idempotencyKey="k")

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")
    assert await count(conn, QUEUED) == 1


async def test_the_idempotency_header_repeats_the_answer(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    headers = {"Idempotency-Key": "h"}
    first = await editor.post(JOBS, json={"type": "greet"}, headers=headers)
    second = await editor.post(JOBS, json={"type": "greet"}, headers=headers)

    assert first.json() == second.json()
    assert await count(conn, QUEUED) == 1


async def test_identical_pending_job_of_a_source_is_not_queued_twice(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id = await add_source(editor)
    body = {"knowledgeSourceId": source_id, "payload": {"name": "Ada"}}
    first = (await post(editor, **body)).json()["id"]
    same = (await post(editor, **body)).json()["id"]
    same_later = (await post(editor, **body, delaySeconds=60)).json()["id"]
    other = (await post(editor, **{**body, "payload": {"name": "Eve"}})).json()["id"]
    urgent = (await post(editor, **body, priority=50)).json()["id"]

    assert first == same == same_later
    assert len({first, other, urgent}) == 3
    assert await count(conn, QUEUED) == 3


async def test_job_scheduled_for_later_is_not_a_duplicate_of_an_immediate_one(
    editor: httpx.AsyncClient,
) -> None:
    source_id = await add_source(editor)
    later = (await post(editor, knowledgeSourceId=source_id, delaySeconds=60)).json()["id"]
    now = (await post(editor, knowledgeSourceId=source_id)).json()["id"]

    assert now != later


@pytest.mark.parametrize("status", ["processing", "pending"])
async def test_identical_job_is_queued_again_once_the_first_has_started(
    editor: httpx.AsyncClient, conn: Connection, status: str
) -> None:
    source_id = await add_source(editor)
    first = (await post(editor, knowledgeSourceId=source_id)).json()["id"]
    await conn.execute(
        "update rag.processing_jobs set status = %s, attempts = 1 where id = %s", [status, first]
    )
    second = (await post(editor, knowledgeSourceId=source_id)).json()["id"]

    assert first != second


async def test_jobs_without_source_are_never_deduplicated(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    await post(editor)
    await post(editor)

    assert await count(conn, QUEUED) == 2


async def test_a_failed_job_of_a_registered_type_can_be_retried(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    source_id = await add_source(editor)
    id = (await post(editor, knowledgeSourceId=source_id)).json()["id"]
    await conn.execute("update rag.processing_jobs set status = 'failed' where id = %s", [id])

    answer = await editor.post(f"{JOBS}/{id}/retry")

    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
