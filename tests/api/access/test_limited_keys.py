"""A key that is limited to collections sees their sources, and nothing else of its application."""

from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Pool, transaction
from ingest.store.sources import collections
from tests.api.access.limited_keys import House, Owned
from tests.api.access.routes import ROLES, call, nobodys, seen
from tests.api.access.test_collections import change, found
from tests.api.helpers import count, upload
from tests.api.sockets import listening, receive, send, socket

SOURCE = "/api/knowledge-sources/{source}"
READ = [
    SOURCE,
    f"{SOURCE}/children",
    f"{SOURCE}/documents",
    f"{SOURCE}/chunks",
    f"{SOURCE}/events",
    f"{SOURCE}/crawls",
    f"{SOURCE}/pages",
    f"{SOURCE}/stream",
    "/api/knowledge-source/{source}/progress",
    "/api/documents/{document}",
    "/api/documents/{document}/text",
    "/api/documents/{document}/original",
    "/api/documents/{document}/left-out",
    "/api/documents/{document}/chunks",
    "/api/documents/{document}/pages",
    "/api/documents/{document}/pages/{{page}}.png",
    "/api/documents/{document}/pages/{{page}}/places",
    "/api/chunks/{chunk}",
    "/api/chunks/{chunk}/section",
    "/api/jobs/{job}",
    "/api/jobs/{job}/logs",
    "/api/collections/{collection}",
]
OTHERS = {
    "GET /api/knowledge-sources",
    "GET /api/knowledge-sources/counts",
    "GET /api/knowledge-sources/export",
    "GET /api/jobs",
    "GET /api/jobs/export",
    "GET /api/jobs/counts",
    "GET /api/collections",
    "POST /api/search",
    "POST /api/tickets",
    "GET /api/me",
    "GET /api/schedules",
    "GET /api/schedules/next",
    "GET /api/schedules/nightly",
}
"""Routes without an id that such a key may call."""


async def test_an_explanation_tells_nothing_of_other_documents(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient
) -> None:
    """Else a word that only hidden documents have would be told by how many have it."""
    body = {"query": "hidden heron", "explain": True, "mode": "keyword"}

    own = (await limited.post("/api/search", json=body)).json()
    everything = (await editor.post("/api/search", json=body)).json()

    [why] = own["explanation"]["hits"]
    assert own["explanation"]["statistics"] is None
    assert [(one["word"], one["weight"], one["chunks"]) for one in why["words"]] == [
        ("heron", None, None)
    ]
    assert everything["explanation"]["statistics"]["chunks"] == 2
    told = {one["word"]: one["chunks"] for one in everything["explanation"]["hits"][0]["words"]}
    assert told == {"hidden": 1, "heron": 2}


async def test_it_reads_what_is_in_its_collections(
    limited: httpx.AsyncClient, house: House
) -> None:
    statuses = {path: (await limited.get(house.shown.url(path))).status_code for path in READ}

    assert statuses == dict.fromkeys(READ, 200)


async def test_everything_else_does_not_exist_for_it(
    limited: httpx.AsyncClient, house: House
) -> None:
    answers = {path: await limited.get(house.hidden.url(path)) for path in READ}

    assert {path: seen(answer) for path, answer in answers.items()} == dict.fromkeys(
        READ, (404, "not_found")
    )


async def test_lists_and_counts_leave_the_rest_out(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House
) -> None:
    await upload(editor, {"pending": b"pending"})

    async def ids(path: str) -> list[str]:
        return [item["id"] for item in (await limited.get(path)).json()["items"]]

    assert await ids("/api/knowledge-sources") == [house.shown.source]
    assert await ids(f"/api/knowledge-sources?collectionId={house.hidden.collection}") == []
    assert await ids("/api/jobs") == [house.shown.job]
    assert await ids(f"/api/jobs?knowledgeSourceId={house.hidden.source}") == []
    assert await ids("/api/collections") == [house.shown.collection]
    assert (await limited.get("/api/jobs/counts")).json() == {"items": []}


async def test_schedules_of_other_sources_are_not_listed(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House
) -> None:
    added = {}
    for owned in (house.shown, house.hidden):
        url = f"https://site.example/{owned.collection}"
        body = {"url": url, "rescrape": {"cron": "0 6 * * *"}, "collectionId": owned.collection}
        added[owned.collection] = (await editor.post("/upload/url", json=body)).json()

    listed = (await limited.get("/api/schedules")).json()["items"]

    assert [item["id"] for item in listed] == [added[house.shown.collection]["knowledgeSourceId"]]


async def test_a_source_names_only_the_collections_that_the_key_may_see(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House
) -> None:
    await change(editor, house.hidden.collection, add=[house.shown.source])

    source = (await limited.get(f"/api/knowledge-sources/{house.shown.source}")).json()

    assert source["collectionIds"] == [house.shown.collection]
    assert await found(limited, where={"collectionId": house.hidden.collection}) == set()


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_it_finds_nothing_else(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House, mode: str
) -> None:
    async def hits(client: httpx.AsyncClient, **filter: object) -> list[str]:
        body = {"query": "heron", "mode": mode, "filter": filter}
        answer = await client.post("/api/search", json=body)
        return [hit["knowledgeSourceId"] for hit in answer.json()["hits"]]

    assert await hits(limited) == ([] if mode == "vector" else [house.shown.source])
    for filter in (
        {"collectionIds": [house.hidden.collection]},
        {"knowledgeSourceIds": [house.hidden.source]},
        {"where": {"documentId": house.hidden.document}},
        {"where": {"not": {"knowledgeSourceId": house.shown.source}}},
    ):
        assert await hits(limited, **filter) == [], filter


async def test_it_may_call_no_other_route(limited: httpx.AsyncClient) -> None:
    answers = {route: await call(limited, route, nobodys(route)) for route in ROLES}

    reached = {route for route, answer in answers.items() if answer.status_code != 403}
    paths = {path.format(**dict.fromkeys(vars(NOTHING), "{id}")) for path in READ}
    assert reached == {f"GET {path}" for path in paths} | OTHERS
    assert {seen(answers[route]) for route in ROLES.keys() - reached} == {(403, "forbidden")}


NOTHING = Owned("", "", "", "", "")


async def test_a_source_that_leaves_its_collections_is_gone_at_once(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House
) -> None:
    await change(editor, house.shown.collection, remove=[house.shown.source])

    assert await found(limited) == set()
    assert (await limited.get(house.shown.url(SOURCE))).status_code == 404


async def test_without_its_collections_it_sees_nothing_at_all(
    limited: httpx.AsyncClient, editor: httpx.AsyncClient, house: House
) -> None:
    await editor.delete(f"/api/collections/{house.shown.collection}")

    assert await found(limited) == set()
    assert (await limited.get("/api/knowledge-sources")).json()["items"] == []
    assert (await limited.get(house.shown.url(SOURCE))).status_code == 404


async def test_a_ticket_is_as_limited_as_its_key(
    app: FastAPI, limited: httpx.AsyncClient, anonymous: httpx.AsyncClient, house: House
) -> None:
    async def stream(owned: Owned) -> int:
        ticket = (await limited.post("/api/tickets")).json()["ticket"]
        url = f"/api/knowledge-sources/{owned.source}/stream"
        # The source is done, so a stream that is allowed ends after its last event.
        return (await anonymous.get(f"{url}?ticket={ticket}&after=99")).status_code

    assert [await stream(house.shown), await stream(house.hidden)] == [204, 404]


async def test_a_socket_follows_its_sources_until_they_leave(
    app: FastAPI,
    editor: httpx.AsyncClient,
    house: House,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.1)

    async with listening(app) as address, socket(address, house.key) as client:
        await send(client, type="subscribe", knowledgeSourceIds="all")
        everything = await receive(client)
        ids = [house.shown.source, house.hidden.source]
        await send(client, type="subscribe", knowledgeSourceIds=ids)
        hidden, shown = await receive(client), await receive(client)
        await change(editor, house.shown.collection, remove=[house.shown.source])
        left = await receive(client)

    assert (everything["type"], everything["code"]) == ("error", "forbidden")
    assert (hidden["code"], hidden["knowledgeSourceId"]) == ("not_found", house.hidden.source)
    assert (shown["type"], shown["knowledgeSourceId"]) == ("snapshot", house.shown.source)
    assert (left["code"], left["knowledgeSourceId"]) == ("not_found", house.shown.source)


async def test_below_the_routes_a_transaction_of_the_key_only_reads_its_sources(
    pool: Pool, house: House, application_id: UUID
) -> None:
    limited = pool.of(application_id).limited_to([UUID(house.shown.collection)])
    async with transaction(limited) as conn:
        tables = ("knowledge_sources", "documents", "chunks", "processing_jobs", "collections")
        counts = [await count(conn, f"rag.{name}") for name in tables]
        batches = await count(conn, "rag.upload_batches")
        visible = await collections.visible(
            conn,
            application_id=application_id,
            ids=[UUID(house.shown.source), UUID(house.hidden.source)],
        )

    assert counts == [1, 1, 1, 1, 1]
    assert batches == 0
    assert visible == {UUID(house.shown.source)}
