"""The Idempotency-Key of POST routes: one effect, one answer, however often the request comes."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import httpx
import psycopg
import pytest

from ingest.postgres.database import Connection
from ingest.store.crawl import runs
from ingest.store.tenants import idempotency
from tests.api.helpers import count

KEY: Final = {"Idempotency-Key": "k"}
AGAIN: Final = "Idempotency-Replayed"


@dataclass(frozen=True)
class Creation:
    """A request that creates something, and the rows by which that shows."""

    path: str
    body: Mapping[str, Any]
    other: Mapping[str, Any]
    rows: str
    status: int


CREATIONS: Final = {
    "application": Creation(
        path="/api/applications",
        body={"name": "Acme"},
        other={"name": "Other"},
        rows="app.applications where not is_default",
        status=201,
    ),
    "key": Creation(
        path="/api/applications/{application}/keys",
        body={"name": "ci", "role": "editor"},
        other={"name": "ci", "role": "admin"},
        rows="app.api_keys",
        status=201,
    ),
    "url": Creation(
        path="/upload/url",
        body={"url": "https://site.example/new"},
        other={"url": "https://site.example/other"},
        rows="rag.crawls where source_id <> '{source}'",
        status=202,
    ),
    "rescrape": Creation(
        path="/api/knowledge-sources/{source}/rescrape",
        body={},
        other={"acceptLosses": True},
        rows="rag.crawls",
        status=202,
    ),
    "job": Creation(
        path="/api/jobs",
        body={"type": "word_count", "payload": {"words": 1}},
        other={"type": "word_count", "payload": {"words": 2}},
        rows="rag.processing_jobs where type = 'word_count'",
        status=202,
    ),
    "job type": Creation(
        path="/api/job-types",
        body={"type": "summary", "payloadSchema": {}},
        other={"type": "summary", "payloadSchema": {"type": "object"}},
        rows="rag.job_types where type = 'summary'",
        status=201,
    ),
    "webhook endpoint": Creation(
        path="/api/webhook-endpoints",
        body={"url": "https://hooks.example/in", "events": ["source.failed"]},
        other={"url": "https://hooks.example/in", "events": ["source.completed"]},
        rows="rag.webhook_endpoints where url like '%in'",
        status=201,
    ),
    "test event": Creation(
        path="/api/webhook-endpoints/{endpoint}/test",
        body={},
        other={"other": 1},
        rows="rag.webhook_deliveries",
        status=202,
    ),
}


@pytest.fixture
async def known(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID
) -> Mapping[str, str]:
    """What requests name: a page whose run is over and forgotten, an endpoint; and a job type."""
    page = await operator.post("/upload/url", json={"url": "https://site.example/old"})
    await conn.execute("update rag.processing_jobs set status = 'failed', completed_at = now()")
    await conn.execute("delete from rag.crawls")
    hook = {"url": "https://hooks.example/old", "events": ["job.failed"]}
    endpoint = await operator.post("/api/webhook-endpoints", json=hook)
    await operator.post("/api/job-types", json={"type": "word_count", "payloadSchema": {}})
    return {
        "application": str(application_id),
        "source": page.json()["knowledgeSourceId"],
        "endpoint": endpoint.json()["id"],
    }


@pytest.fixture(params=CREATIONS)
def creation(request: pytest.FixtureRequest, known: Mapping[str, str]) -> Creation:
    found = CREATIONS[request.param]
    return replace(found, path=found.path.format_map(known), rows=found.rows.format_map(known))


async def post(client: httpx.AsyncClient, creation: Creation) -> httpx.Response:
    return await client.post(creation.path, json=creation.body, headers=KEY)


async def test_of_20_parallel_requests_one_creates_and_all_get_its_answer(
    operator: httpx.AsyncClient, conn: Connection, creation: Creation
) -> None:
    answers = await asyncio.gather(*(post(operator, creation) for _ in range(20)))
    conflict = await operator.post(creation.path, json=creation.other, headers=KEY)

    assert {answer.status_code for answer in answers} == {creation.status}
    assert len({json.dumps(answer.json(), sort_keys=True) for answer in answers}) == 1
    assert sum(AGAIN not in answer.headers for answer in answers) == 1
    assert {answer.headers.get(AGAIN) for answer in answers} == {None, "true"}
    assert (conflict.status_code, conflict.json()["code"]) == (409, "idempotency_conflict")
    assert await count(conn, creation.rows) == 1


@pytest.mark.parametrize(
    "creation", [name for name in CREATIONS if name != "test event"], indirect=True
)
async def test_refused_request_does_not_store_its_idempotency_key(
    operator: httpx.AsyncClient, conn: Connection, creation: Creation
) -> None:
    refused = await operator.post(creation.path, json={"nothing": "known"}, headers=KEY)
    left = await count(conn, "rag.idempotency_keys")
    carried_out = await post(operator, creation)

    assert (refused.status_code, left) == (422, 0)
    assert carried_out.status_code == creation.status
    assert AGAIN not in carried_out.headers


async def test_request_without_idempotency_key_stores_no_answer(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    answers = [await operator.post("/api/applications", json={"name": "n"}) for _ in range(2)]

    assert answers[0].json()["id"] != answers[1].json()["id"]
    assert await count(conn, "rag.idempotency_keys") == 0


async def test_field_order_does_not_change_the_request_digest(operator: httpx.AsyncClient) -> None:
    bodies = (
        '{"url": "https://a.example", "metadata": {"a": 1, "b": 2}}',
        '{"metadata":{"b":2,"a":1},"url":"https://a.example"}',
    )
    headers = {**KEY, "Content-Type": "application/json"}
    answers = [await operator.post("/upload/url", content=body, headers=headers) for body in bodies]

    assert answers[0].json() == answers[1].json()
    assert [AGAIN in answer.headers for answer in answers] == [False, True]


async def test_idempotency_key_is_bound_to_one_path(
    operator: httpx.AsyncClient, known: Mapping[str, str]
) -> None:
    endpoint = f"/api/webhook-endpoints/{known['endpoint']}"
    tested = await operator.post(f"{endpoint}/test", headers=KEY)
    rotated = await operator.post(f"{endpoint}/rotate-secret", headers=KEY)

    assert (tested.status_code, rotated.status_code) == (202, 409)


async def test_crash_before_commit_does_not_store_the_idempotency_key(
    operator: httpx.AsyncClient,
    conn: Connection,
    known: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rescrape = runs.rescrape

    async def crashing(*args: Any, **kwargs: Any) -> Any:
        await rescrape(*args, **kwargs)
        raise RuntimeError("killed here")

    path = f"/api/knowledge-sources/{known['source']}/rescrape"
    with monkeypatch.context() as patched:
        patched.setattr(runs, "rescrape", crashing)
        crashed = await operator.post(path, headers=KEY)
    left = await count(conn, "rag.crawls")
    answer = await operator.post(path, headers=KEY)

    assert (crashed.status_code, left) == (500, 0)
    assert answer.status_code == 202
    assert AGAIN not in answer.headers
    assert await count(conn, "rag.crawls") == 1


async def test_only_requests_with_the_same_idempotency_key_wait(
    operator: httpx.AsyncClient, dsn: str, application_id: UUID
) -> None:
    async with await psycopg.AsyncConnection.connect(dsn) as first:
        known = await idempotency.replay(
            first, application_id=application_id, key="k", request_hash=b"x"
        )
        same = asyncio.ensure_future(
            operator.post("/api/applications", json={"name": "same"}, headers=KEY)
        )
        other = await operator.post(
            "/api/applications", json={"name": "other"}, headers={"Idempotency-Key": "other"}
        )
        waited = not same.done()

    assert (known, other.status_code, waited) == (None, 201, True)
    assert (await same).status_code == 201


async def test_a_key_is_up_to_255_visible_ascii_characters(
    operator: httpx.AsyncClient, conn: Connection
) -> None:
    for key in (b"", b"k" * 256, b"two words", b"\xc3\xa9", b"\xff"):
        headers = {b"Idempotency-Key": key}
        answer = await operator.post("/api/applications", json={"name": "n"}, headers=headers)

        assert answer.status_code == 422, key
        assert answer.json()["errors"][0]["field"] == "header.Idempotency-Key"
    longest = {"Idempotency-Key": "!~" * 127 + "k"}
    accepted = await operator.post("/api/applications", json={"name": "n"}, headers=longest)
    assert accepted.status_code == 201
    assert await count(conn, "app.applications where not is_default") == 1
