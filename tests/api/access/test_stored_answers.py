"""Stored answers to idempotent requests: whose they are, how long they are kept."""

from datetime import timedelta
from typing import Final
from uuid import UUID

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from ingest.postgres.database import Connection
from ingest.store.tenants import idempotency
from tests.api.conftest import OPERATOR_KEY, connect
from tests.api.helpers import count, upload

KEY: Final = {"Idempotency-Key": "k"}
AGAIN: Final = "Idempotency-Replayed"


async def test_a_key_belongs_to_its_application(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    body = {"url": "https://site.example"}
    mine = await editor.post("/upload/url", json=body, headers=KEY)
    theirs = await stranger.post("/upload/url", json=body, headers=KEY)

    assert [AGAIN in answer.headers for answer in (mine, theirs)] == [False, False]
    assert mine.json()["jobId"] != theirs.json()["jobId"]


async def test_the_operator_uses_keys_in_the_application_that_it_acts_on(
    app: FastAPI, other_application: UUID
) -> None:
    body = {"url": "https://site.example"}
    async with connect(app, OPERATOR_KEY) as client:
        at_home = await client.post("/upload/url", json=body, headers=KEY)
        acting_on = {**KEY, "X-Application-Id": str(other_application)}
        away = [await client.post("/upload/url", json=body, headers=acting_on) for _ in range(2)]

    assert away[0].json() == away[1].json() != at_home.json()


async def test_an_answer_is_repeated_only_to_those_who_may_ask(
    app: FastAPI, editor: httpx.AsyncClient, viewer: httpx.AsyncClient
) -> None:
    body = {"url": "https://site.example"}
    await editor.post("/upload/url", json=body, headers=KEY)
    answer = await viewer.post("/upload/url", json=body, headers=KEY)

    assert answer.status_code == 403


async def test_repeated_upload_gets_the_first_answer(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    first = await upload(editor, {"a.txt": b"a"}, idempotency_key="k")
    await conn.execute("update rag.processing_jobs set status = 'completed', completed_at = now()")
    again = await upload(editor, {"a.txt": b"a"}, idempotency_key="k")

    assert (again.status_code, again.json()) == (202, first.json())
    assert (AGAIN in first.headers, again.headers[AGAIN]) == (False, "true")


async def test_old_answers_are_forgotten_a_few_at_a_time(
    conn: Connection, application_id: UUID
) -> None:
    for n in range(5):
        await idempotency.remember(
            conn,
            application_id=application_id,
            key=f"k{n}",
            request_hash=b"x",
            answer=idempotency.StoredAnswer(status=200, response={}),
        )
        await conn.execute(
            "update rag.idempotency_keys set created_at = now() - %s where key = %s",
            [timedelta(days=n, hours=1), f"k{n}"],
        )

    three_days = timedelta(days=3)
    removed = [
        await idempotency.forget_answers(conn, older_than=three_days, limit=1) for _ in range(3)
    ]
    assert removed == [1, 1, 0]
    assert await idempotency.forget_answers(conn) == 0
    assert await count(conn, "rag.idempotency_keys") == 3


async def test_waiting_too_long_for_the_first_request_is_a_conflict(
    editor: httpx.AsyncClient,
    conn: Connection,
    application_id: UUID,
    dsn: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hurried = {
        **idempotency._SQL,
        "set_lock_timeout": b"select set_config('lock_timeout', '50', true)",
    }
    monkeypatch.setattr(idempotency, "_SQL", hurried)
    async with await psycopg.AsyncConnection.connect(dsn) as first:
        await idempotency.replay(first, application_id=application_id, key="k", request_hash=b"x")

        answer = await editor.post("/upload/url", json={"url": "https://a.example"}, headers=KEY)

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
    assert await count(conn, "rag.crawls") == 0
