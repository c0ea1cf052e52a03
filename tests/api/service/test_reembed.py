"""GET and POST /api/reembed: the change of an application's embedding model."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, add_space


@pytest.fixture
async def earlier(conn: Connection) -> Space:
    return await add_space(conn, name="earlier", dimension=4)


async def state(client: httpx.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/api/reembed")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def jobs(conn: Connection) -> list[Any]:
    found = await conn.execute(
        "select id, application_id, priority, payload from rag.processing_jobs "
        "where type = 'reembed' order by position"
    )
    return await found.fetchall()


async def test_the_state_says_what_is_left_and_whom_questions_cannot_be_asked_of(
    admin: httpx.AsyncClient, conn: Connection, application_id: UUID, earlier: Space
) -> None:
    await add_document(conn, application_id, earlier, ["one", "two"])

    found = await state(admin)

    assert found == {
        "model": {"provider": "static", "name": "fake", "dimension": 8},
        "earlierModels": [
            {"provider": "static", "name": "earlier", "dimension": 4, "isReachable": False}
        ],
        "documents": 1,
        "outdated": 1,
        "ready": 0,
        "jobId": None,
    }


async def test_a_request_queues_one_job_of_low_priority_for_the_model_of_the_settings(
    admin: httpx.AsyncClient, conn: Connection, application_id: UUID, earlier: Space
) -> None:
    await add_document(conn, application_id, earlier, ["one"])

    first = await admin.post("/api/reembed")
    again = await admin.post("/api/reembed")

    assert (first.status_code, first.json()) == (202, again.json())
    [(id, owner, priority, payload)] = await jobs(conn)
    assert first.json() == {"jobIds": [str(id)]}
    assert (owner, priority) == (application_id, -10)
    models = await conn.execute("select id from rag.embedding_models where name = 'fake'")
    assert [(payload["modelId"],)] == await models.fetchall()
    assert (await state(admin))["jobId"] == str(id)


async def test_the_operator_asks_for_all_applications_that_need_it(
    operator: httpx.AsyncClient, conn: Connection, application_id: UUID, earlier: Space
) -> None:
    another = await add_application(conn)
    await add_document(conn, another, earlier, ["one"])

    answer = await operator.post("/api/reembed/all")

    assert answer.status_code == 202
    [(id, owner, *_)] = await jobs(conn)
    assert answer.json() == {"jobIds": [str(id)]}
    assert owner == another


async def test_a_search_says_that_it_could_not_ask_the_earlier_model(
    viewer: httpx.AsyncClient, conn: Connection, application_id: UUID, earlier: Space
) -> None:
    await add_document(conn, application_id, earlier, ["heron pump"])

    answer = (await viewer.post("/api/search", json={"query": "heron pump"})).json()

    assert [hit["content"] for hit in answer["hits"]] == ["heron pump"]
    assert answer["degraded"] == ["earlierModel"]
    assert answer["degradedReason"] == ("embedding_model_missing: static/earlier is not configured")
