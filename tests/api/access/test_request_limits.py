"""Each key may send so many requests in a minute; the operator's as many as it likes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from fastapi import FastAPI
from websockets.exceptions import InvalidStatus

from api.middleware.rate_limits import RequestLimits
from api.problems import RateLimited
from ingest.runtime import Runtime
from tests.api.conftest import OPERATOR_KEY, MakeKey, connect, serve
from tests.api.helpers import upload
from tests.api.sockets import listening, receive, send, socket
from tests.support.settable_clock import SettableClock

ALLOWED = 3


@pytest.fixture
async def strict(runtime: Runtime, clock: SettableClock) -> AsyncIterator[FastAPI]:
    """An installation whose keys may send three requests in a minute of `clock`."""
    settings = runtime.settings.model_copy(update={"requests_per_minute": ALLOWED})
    async with serve(replace(runtime, settings=settings)) as app:
        app.state.request_limits = RequestLimits(ALLOWED, clock=clock)
        yield app


def attempts(limits: RequestLimits, key: bytes, times: int) -> int:
    """How many of so many requests are let through."""
    passed = 0
    for _ in range(times):
        try:
            limits.count(key)
        except RateLimited:
            continue
        passed += 1
    return passed


def test_no_60_seconds_hold_more_requests_than_the_limit(clock: SettableClock) -> None:
    limits = RequestLimits(10, clock=clock)
    passed: list[float] = []
    for _ in range(1000):
        clock.now += 0.7
        passed += [clock.now] * attempts(limits, b"key", 1)

    busiest = max(sum(1 for time in passed if start <= time < start + 60) for start in passed)
    assert busiest == 10


def test_retry_after_is_when_the_oldest_request_leaves_the_window(clock: SettableClock) -> None:
    limits = RequestLimits(2, clock=clock)
    limits.count(b"key")
    clock.now += 20
    limits.count(b"key")

    with pytest.raises(RateLimited) as refused:
        limits.count(b"key")
    assert refused.value.retry_after.total_seconds() == 40
    clock.now += 40
    assert attempts(limits, b"key", 2) == 1


def test_a_refused_request_does_not_count(clock: SettableClock) -> None:
    limits = RequestLimits(2, clock=clock)
    attempts(limits, b"key", 100)
    clock.now += 60

    assert attempts(limits, b"key", 100) == 2


def test_limit_of_zero_means_no_limit(clock: SettableClock) -> None:
    assert attempts(RequestLimits(0, clock=clock), b"key", 10_000) == 10_000


def test_idle_keys_use_no_memory(clock: SettableClock) -> None:
    limits = RequestLimits(2, clock=clock)
    for number in range(100):
        limits.count(str(number).encode())
    clock.now += 60
    for _ in range(101):
        attempts(limits, b"busy", 1)
        clock.now += 30

    assert list(limits._times) == [b"busy"]


async def test_too_many_requests_get_429_until_the_minute_ends(
    strict: FastAPI, clock: SettableClock, application_id: UUID, make_key: MakeKey
) -> None:
    async with connect(strict, await make_key(application_id, "viewer")) as client:
        answers = [await client.get("/api/jobs") for _ in range(ALLOWED + 1)]
        clock.now += 60
        later = await client.get("/api/jobs")

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused = answers[-1]
    assert refused.json()["code"] == "rate_limited"
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["Retry-After"] == "60"
    assert later.status_code == 200


async def test_keys_are_limited_one_by_one_and_the_operator_is_not(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    statuses = []
    for key in (await make_key(application_id, "viewer"), await make_key(application_id, "viewer")):
        async with connect(strict, key) as client:
            statuses.append([(await client.get("/api/jobs")).status_code for _ in range(4)])
    async with connect(strict, OPERATOR_KEY) as client:
        operators = [(await client.get("/api/jobs")).status_code for _ in range(10)]

    assert statuses == [[200, 200, 200, 429]] * 2
    assert operators == [200] * 10


async def test_keys_that_are_not_valid_are_not_counted(strict: FastAPI) -> None:
    async with connect(strict, "rk_invented") as client:
        statuses = [(await client.get("/api/jobs")).status_code for _ in range(10)]

    assert statuses == [401] * 10


async def test_health_is_not_limited(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    async with connect(strict, await make_key(application_id, "viewer")) as client:
        for _ in range(ALLOWED + 1):
            await client.get("/api/jobs")
        statuses = [
            (await client.get(path)).status_code for path in ("/healthz", "/readyz", "/metrics")
        ]

    assert statuses == [200] * 3


@pytest.mark.parametrize(
    ("path", "content_type"),
    [("/api/search", "application/json"), ("/upload/documents", "multipart/form-data; boundary=b")],
)
async def test_a_refused_request_is_answered_before_its_body_is_read(
    strict: FastAPI, application_id: UUID, make_key: MakeKey, path: str, content_type: str
) -> None:
    read = 0

    async def body() -> Any:
        nonlocal read
        read += 1
        yield b"{}"

    async with connect(strict, await make_key(application_id, "editor")) as client:
        for _ in range(ALLOWED):
            await client.get("/api/jobs")
        headers = {"Content-Type": content_type}
        answer = await client.post(path, content=body(), headers=headers)

    assert (answer.status_code, read) == (429, 0)


async def test_parallel_uploads_of_a_key_cannot_slip_through_together(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    async with connect(strict, await make_key(application_id, "editor")) as client:
        answers = await asyncio.gather(
            *(upload(client, {f"{n}.txt": f"text {n}".encode()}) for n in range(8))
        )

    assert sorted(answer.status_code for answer in answers) == [202] * 3 + [429] * 5


async def test_a_ticket_counts_for_its_key_and_survives_a_refusal(
    strict: FastAPI, clock: SettableClock, application_id: UUID, make_key: MakeKey
) -> None:
    async with connect(strict, await make_key(application_id, "editor")) as client:
        ticket = (await client.post("/api/tickets")).json()["ticket"]
        for _ in range(ALLOWED - 1):
            await client.get("/api/jobs")
        with_ticket = {"url": "https://site.example", "crawlLinks": "true", "ticket": ticket}
        async with connect(strict, None) as browser:
            refused = await browser.get("/upload/url", params=with_ticket)
            clock.now += 60
            accepted = await browser.get("/upload/url", params=with_ticket)
        left = [(await client.get("/api/job-types")).status_code for _ in range(ALLOWED)]

    assert (refused.status_code, accepted.status_code) == (429, 202)
    assert left == [200, 200, 429]


async def test_websocket_handshake_counts_but_messages_do_not(
    strict: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    key = await make_key(application_id, "viewer")
    async with listening(strict) as address:
        for _ in range(ALLOWED):
            async with socket(address, key) as client:
                for _ in range(10):
                    await send(client, type="ping")
                answers = [(await receive(client))["type"] for _ in range(10)]
        with pytest.raises(InvalidStatus) as refused:
            async with socket(address, key):
                pass

    assert answers == ["pong"] * 10
    assert refused.value.response.status_code == 429
    assert refused.value.response.headers["Retry-After"] == "60"
