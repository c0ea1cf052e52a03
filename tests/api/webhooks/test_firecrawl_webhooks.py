"""The signed front door: what is stored, what is refused, and that nothing else is left behind."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row
from pydantic import SecretStr

from api.routes.crawls import firecrawl_webhook
from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.crawl import webhook_events
from tests.api.conftest import connect, serve
from tests.api.helpers import count, staged, stored
from tests.support.movable_clock import MovableClock

URL = "/api/webhooks/firecrawl"
LARGE = b"x" * 1_000_000


def sign(body: bytes, secret: bytes = b"new") -> str:
    return "sha256=" + hmac.new(secret, body, "sha256").hexdigest()


@pytest.fixture
async def sender(runtime: Runtime) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without a key, where two secrets are accepted."""
    settings = runtime.settings.model_copy(
        update={"firecrawl_webhook_secret": SecretStr("new,old")}
    )
    async with serve(replace(runtime, settings=settings)) as app, connect(app, None) as client:
        yield client


async def send(
    sender: httpx.AsyncClient, body: bytes, signature: str | bytes | None = None, **headers: str
) -> httpx.Response:
    """A body in pieces, as it comes over a network."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 60_000):
            yield body[start : start + 60_000]

    sent: dict[str, Any] = {"X-Firecrawl-Signature": signature or sign(body), **headers}
    return await sender.post(URL, content=pieces(), headers=sent)


async def events(conn: Connection) -> list[dict[str, Any]]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.webhook_events order by id")
        return await cur.fetchall()


async def test_signed_body_is_stored_unchanged(sender: httpx.AsyncClient, conn: Connection) -> None:
    body = '{"type": "crawl.page", "text": "\\u0000 \\ud800 ü"}'.encode()
    answer = await send(sender, body, **{"User-Agent": "undici", "Cookie": "secret"})

    assert (answer.status_code, answer.json()) == (200, {"received": True})
    [event] = await events(conn)
    assert bytes(event["body"]) == body
    assert (event["size_bytes"], event["processed_at"]) == (len(body), None)
    assert event["headers"] == {"user-agent": "undici"}
    assert bytes(event["dedupe_key"]) == hashlib.sha256(body).digest()


async def test_signed_body_is_stored_even_if_not_json(
    sender: httpx.AsyncClient, conn: Connection
) -> None:
    bodies = [b"", b"\xff\x00garbage", b"[" * 100_000]
    answers = [await send(sender, body) for body in bodies]

    assert {answer.status_code for answer in answers} == {200}
    assert [bytes(event["body"]) for event in await events(conn)] == bodies


async def test_both_secrets_are_accepted_during_rotation(
    sender: httpx.AsyncClient, conn: Connection
) -> None:
    answers = [await send(sender, secret, sign(secret, secret)) for secret in (b"new", b"old")]

    assert {answer.status_code for answer in answers} == {200}
    assert len(await events(conn)) == 2


async def test_a_large_body_goes_to_the_blob_store(
    sender: httpx.AsyncClient, conn: Connection, blobs: LocalBlobStore, blobs_on_disk: Path
) -> None:
    answer = await send(sender, LARGE)

    [event] = await events(conn)
    assert answer.status_code == 200
    assert event["body"] is None
    async with blobs.open_local(event["blob_key"]) as path:
        assert path.read_bytes() == LARGE
    assert stored(blobs_on_disk) == [event["blob_key"]]
    assert staged(blobs_on_disk) == []


@pytest.mark.parametrize("body", [b'{"a": 1}', LARGE], ids=["small", "large"])
async def test_a_delivery_that_comes_again_changes_nothing(
    sender: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path, body: bytes
) -> None:
    first = await send(sender, body)
    kept = stored(blobs_on_disk)
    again = await send(sender, body)

    assert (first.status_code, again.status_code) == (200, 200)
    assert len(await events(conn)) == 1
    assert (stored(blobs_on_disk), staged(blobs_on_disk)) == (kept, [])


async def test_invalid_signature_stores_nothing(
    sender: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    wrong: list[str | bytes] = [
        sign(LARGE, b"another secret"),
        sign(LARGE + b" "),
        sign(LARGE).removeprefix("sha256="),
        "sha256=",
        b"sha256=\xff\xe9" + b"0" * 62,
        "sha256=é".encode(),
    ]
    answers = [await send(sender, LARGE, signature) for signature in wrong]
    answers += [await sender.post(URL, content=LARGE)]
    doubled = [("X-Firecrawl-Signature", sign(LARGE)), ("X-Firecrawl-Signature", "sha256=x")]
    answers += [await sender.post(URL, content=LARGE, headers=doubled)]

    assert {answer.status_code for answer in answers} == {401}
    assert {answer.json()["code"] for answer in answers} == {"invalid_signature"}
    assert await count(conn, "rag.webhook_events") == 0
    assert (stored(blobs_on_disk), staged(blobs_on_disk)) == ([], [])


async def test_without_a_secret_nothing_is_accepted(
    anonymous: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await send(anonymous, b"{}", sign(b"{}", b"x"))

    assert (answer.status_code, answer.json()["code"]) == (503, "webhooks_not_configured")
    assert await count(conn, "rag.webhook_events") == 0


@pytest.mark.parametrize("announced", [True, False])
async def test_body_limit_applies_with_and_without_content_length(
    sender: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
    announced: bool,
) -> None:
    monkeypatch.setattr(firecrawl_webhook, "_MAX_BODY_BYTES", len(LARGE) - 1)
    if announced:
        signature = {"X-Firecrawl-Signature": sign(LARGE)}
        answer = await sender.post(URL, content=LARGE, headers=signature)
    else:
        answer = await send(sender, LARGE)

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert await count(conn, "rag.webhook_events") == 0
    assert (stored(blobs_on_disk), staged(blobs_on_disk)) == ([], [])


async def test_webhook_body_limit_is_higher_than_the_default(
    sender: httpx.AsyncClient, conn: Connection
) -> None:
    body = b"x" * (8 * 1024 * 1024 + 1)

    assert (await send(sender, body)).status_code == 200
    assert (await events(conn))[0]["size_bytes"] == len(body)


@pytest.mark.parametrize(
    ("error", "status"), [(psycopg.OperationalError("gone"), 503), (RuntimeError("odd"), 500)]
)
async def test_when_the_row_cannot_be_written_nothing_is_kept_and_the_sender_is_told(
    sender: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
) -> None:
    async def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr(webhook_events, "add", fails)
    answer = await send(sender, LARGE)

    assert answer.status_code == status
    assert (stored(blobs_on_disk), staged(blobs_on_disk)) == ([], [])


async def test_a_sender_that_breaks_off_leaves_nothing(
    sender: httpx.AsyncClient, conn: Connection, blobs_on_disk: Path
) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield LARGE
        raise ConnectionError("broke off")

    signature = {"X-Firecrawl-Signature": sign(LARGE + LARGE)}
    answer = await sender.post(URL, content=breaks(), headers=signature)

    assert answer.status_code == 500
    assert await count(conn, "rag.webhook_events") == 0
    assert (stored(blobs_on_disk), staged(blobs_on_disk)) == ([], [])


async def test_a_commit_of_unknown_outcome_never_loses_the_bytes_of_a_row(
    sender: httpx.AsyncClient,
    conn: Connection,
    blobs_on_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add, another = webhook_events.add, conn

    async def loses_the_answer(conn: Connection, event: webhook_events.NewWebhookEvent) -> int:
        id = await add(conn, event)
        assert id is not None
        pid = conn.info.backend_pid
        await another.execute("select pg_terminate_backend(%s, 5000)", [pid])
        return id

    monkeypatch.setattr(webhook_events, "add", loses_the_answer)
    answer = await send(sender, LARGE)

    assert answer.status_code == 503
    assert len(stored(blobs_on_disk)) == 1


async def test_unverified_webhook_bodies_have_few_slots_and_little_time(
    sender: httpx.AsyncClient, movable_clock: MovableClock
) -> None:
    turns = cast(Any, sender)._transport.app.state.webhook_bodies

    async def endless() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    headers = {"X-Firecrawl-Signature": sign(b"not this")}
    dripping = [
        asyncio.create_task(sender.post(URL, content=endless(), headers=headers))
        for _ in range(firecrawl_webhook.MAX_CONCURRENT_BODIES)
    ]
    while not turns.locked():  # noqa: ASYNC110 there is nothing to wait for
        await asyncio.sleep(0.01)
    refused = await send(sender, b"{}")
    movable_clock.forward(firecrawl_webhook._MAX_SECONDS)
    ends = [(await request).status_code for request in dripping]
    taken = await send(sender, b"{}")

    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert set(ends) == {408}
    assert taken.status_code == 200
