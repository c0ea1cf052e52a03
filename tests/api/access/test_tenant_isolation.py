"""Every route, taken from the OpenAPI document: who may call it, and that it stays in its walls.

A new route fails here until it is entered in `ROLES` of routes.py (and, with a body, in `BODIES`).
The tests go through all routes in a loop, because setting the database up costs more than a call.
"""

from typing import Any, cast
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from api.main import create_app
from ingest.model import Role
from ingest.postgres.database import Connection
from ingest.store.tenants import api_keys
from tests.api.access.routes import NAMED, OPEN, RANKS, ROLES, call, nobodys, seen
from tests.api.conftest import OPERATOR_KEY, MakeKey, connect
from tests.api.helpers import finish_file_job, upload


def test_isolation_tests_cover_every_route() -> None:
    paths = create_app(cast(Any, None)).openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert routes == ROLES.keys() | OPEN


class Victim:
    """What an application owns, by the path that shows it."""

    def __init__(self, *, application_id: UUID, file: dict[str, str], batch_id: str) -> None:
        self.application_id = application_id
        self.file = file
        self.batch_id = batch_id
        self.document_id: UUID | None = None
        self.chunk_id: UUID | None = None
        self.key_id: UUID | None = None
        self.endpoint_id: str | None = None
        self.delivery_id: str | None = None
        self.collection_id: str | None = None
        self.judgement_id: str | None = None

    def url(self, route: str) -> str:
        path = route.partition(" ")[2]
        owned = {
            "/api/knowledge-source": self.file["knowledgeSourceId"],
            "/api/documents": self.document_id,
            "/api/chunks": self.chunk_id,
            "/api/batches": self.batch_id,
            "/api/jobs": self.file["jobId"],
            "/api/applications": self.application_id,
            "/api/webhook-endpoints": self.endpoint_id,
            "/api/collections": self.collection_id,
            "/api/judgements": self.judgement_id,
        }
        id = next((owned[start] for start in owned if path.startswith(start)), None)
        return path.format(
            id=id,
            keyId=self.key_id,
            deliveryId=self.delivery_id,
            type="file",
            name="default",
            page=1,
        )


@pytest.fixture
async def victim(
    editor: httpx.AsyncClient,
    admin: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    runtime: object,
) -> Victim:
    body = (await upload(editor, {"secret.txt": b"secret", "open.txt": b"open"})).json()
    done, still_open = body["files"]
    victim = Victim(application_id=application_id, file=still_open, batch_id=body["batchId"])
    victim.document_id = await finish_file_job(conn, UUID(done["jobId"]), chunks=["secret words"])
    row = await (await conn.execute("select id from rag.chunks")).fetchone()
    assert row is not None
    victim.chunk_id = row[0]
    key = await api_keys.add_key(
        conn, application_id=application_id, name="k", role="viewer", key="rk_k"
    )
    assert key is not None
    victim.key_id = key.id
    hook = {"url": "https://hooks.example", "events": ["job.failed"]}
    collection = await editor.post("/api/collections", json={"name": "theirs"})
    victim.collection_id = collection.json()["id"]
    judged = {"query": "secret", "chunkId": str(victim.chunk_id), "grade": 1}
    victim.judgement_id = (await editor.put("/api/judgements", json=judged)).json()["id"]
    victim.endpoint_id = (await admin.post("/api/webhook-endpoints", json=hook)).json()["id"]
    test = await admin.post(f"/api/webhook-endpoints/{victim.endpoint_id}/test")
    victim.delivery_id = test.json()["deliveryId"]
    return victim


async def test_object_of_another_application_returns_404(
    stranger: httpx.AsyncClient, victim: Victim
) -> None:
    answers = {route: await call(stranger, route, victim.url(route)) for route in NAMED}

    assert {route: seen(answer) for route, answer in answers.items()} == dict.fromkeys(
        NAMED, (404, "not_found")
    )


async def test_refused_requests_of_another_application_change_nothing(
    stranger: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, victim: Victim
) -> None:
    for route in NAMED:
        await call(stranger, route, victim.url(route))

    source = (await editor.get(f"/api/knowledge-sources/{victim.file['knowledgeSourceId']}")).json()
    assert (source["name"], source["status"]) == ("open.txt", "pending")
    job = (await editor.get(f"/api/jobs/{victim.file['jobId']}")).json()
    assert job["status"] == "pending"
    rows = await (
        await conn.execute(
            "select count(*) filter (where revoked_at is null) from app.api_keys "
            "where application_id = %s",
            [victim.application_id],
        )
    ).fetchone()
    assert rows == (3,)
    cursor = await conn.execute(
        "select url, is_enabled, previous_secret, "
        "(select count(*) from rag.webhook_deliveries where status = 'pending') "
        "from rag.webhook_endpoints"
    )
    assert await cursor.fetchall() == [("https://hooks.example", True, None, 1)]


@pytest.mark.parametrize(
    "url",
    [
        "/api/knowledge-sources",
        "/api/knowledge-sources?batchId={batch}",
        "/api/knowledge-sources?uri=secret.txt",
        "/api/jobs",
        "/api/jobs?batchId={batch}",
        "/api/jobs?knowledgeSourceId={source}",
        "/api/knowledge-sources?q=secret",
        "/api/jobs?q=secret",
        "/api/batches",
        "/api/collections",
    ],
)
async def test_lists_and_filters_show_only_own_objects(
    stranger: httpx.AsyncClient, victim: Victim, url: str
) -> None:
    answer = await stranger.get(
        url.format(batch=victim.batch_id, source=victim.file["knowledgeSourceId"])
    )

    assert answer.json() == {"items": [], "nextCursor": None}


async def test_unknown_id_and_foreign_id_get_the_same_answer(
    stranger: httpx.AsyncClient, victim: Victim
) -> None:
    theirs = await stranger.get(f"/api/jobs/{victim.file['jobId']}")
    nobodys = await stranger.get(f"/api/jobs/{uuid4()}")

    assert theirs.json() == nobodys.json()


@pytest.mark.parametrize("key", [None, "rk_wrong", OPERATOR_KEY + "x"])
async def test_every_route_needs_a_valid_key(app: FastAPI, key: str | None) -> None:
    async with connect(app, key) as client:
        answers = {route: await call(client, route, nobodys(route)) for route in ROLES}

    assert {route: seen(answer) for route, answer in answers.items()} == dict.fromkeys(
        ROLES, (401, "unauthorized")
    )
    assert {answer.headers["www-authenticate"] for answer in answers.values()} == {"Bearer"}


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
async def test_too_low_role_gets_403(
    app: FastAPI, application_id: UUID, make_key: MakeKey, role: Role
) -> None:
    async with connect(app, await make_key(application_id, role)) as client:
        answers = {route: await call(client, route, nobodys(route)) for route in ROLES}

    refused = {route for route, answer in answers.items() if answer.status_code == 403}
    assert refused == {
        route for route, needed in ROLES.items() if RANKS.index(needed) > RANKS.index(role)
    }
    assert {seen(answers[route]) for route in refused} == {(403, "forbidden")}


async def test_the_operator_acts_on_the_application_that_it_names(
    app: FastAPI, operator: httpx.AsyncClient, other_application: UUID
) -> None:
    named = {"X-Application-Id": str(other_application)}
    parts = {"files": ("x.txt", b"x")}
    made = await operator.post("/upload/documents", files=parts, headers=named)
    source_id = made.json()["knowledgeSourceIds"][0]

    there = await operator.get(f"/api/knowledge-sources/{source_id}", headers=named)
    here = await operator.get(f"/api/knowledge-sources/{source_id}")

    assert there.json()["applicationId"] == str(other_application)
    assert here.status_code == 404


async def test_naming_a_foreign_application_is_a_404(
    operator: httpx.AsyncClient, viewer: httpx.AsyncClient, other_application: UUID
) -> None:
    nobody = await operator.get("/api/jobs", headers={"X-Application-Id": str(uuid4())})
    theirs = await viewer.get("/api/jobs", headers={"X-Application-Id": str(other_application)})
    garbage = await operator.get("/api/jobs", headers={"X-Application-Id": "x"})

    assert (nobody.status_code, theirs.status_code, garbage.status_code) == (404, 404, 422)
