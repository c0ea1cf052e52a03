"""PayloadError keys: limited per address, soon not looked up any more, no harm to right ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI
from fastapi.requests import HTTPConnection
from websockets.exceptions import InvalidStatus

from api.middleware import failed_keys
from api.middleware.failed_keys import FailedKeys
from api.problems import RateLimited, Unauthorized
from ingest.postgres.database import Connection
from ingest.store.tenants import api_keys
from tests.api.conftest import OPERATOR_KEY, MakeKey, connect
from tests.api.sockets import listening, socket
from tests.support.settable_clock import SettableClock


@pytest.fixture
def failed(app: FastAPI, clock: SettableClock) -> FailedKeys:
    app.state.failed_keys = failed = FailedKeys(clock=clock)
    return failed


def comes_from(host: str | None) -> HTTPConnection:
    return HTTPConnection({"type": "http", "client": None if host is None else (host, 1)})


@contextmanager
def counted_lookups(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The keys that were looked up in the database."""
    keys: list[str] = []
    find_key = api_keys.find_key

    async def counting(conn: Connection, key: str) -> Any:
        keys.append(key)
        return await find_key(conn, key)

    monkeypatch.setattr(api_keys, "find_key", counting)
    yield keys


async def guess(client: httpx.AsyncClient, times: int, key: str = "rk_guess") -> list[int]:
    return [
        (
            await client.get("/api/jobs", headers={"Authorization": f"Bearer {key}{number}"})
        ).status_code
        for number in range(times)
    ]


async def test_an_address_that_guesses_gets_429_until_its_minute_is_over(
    app: FastAPI, failed: FailedKeys, clock: SettableClock
) -> None:
    async with connect(app, None) as client:
        seen = await guess(client, 160)
        last = await client.get("/api/jobs", headers={"Authorization": "Bearer rk_x"})
        clock.now += 60
        later = await guess(client, 1)

    assert seen == [401] * 150 + [429] * 10
    assert (last.json()["code"], last.headers["Retry-After"]) == ("rate_limited", "60")
    assert later == [401]


async def test_valid_key_works_while_its_address_is_rate_limited(
    app: FastAPI, failed: FailedKeys, application_id: UUID, make_key: MakeKey
) -> None:
    key = await make_key(application_id, "viewer")
    async with connect(app, None) as client:
        wrong = await guess(client, 160)
        right = [
            (await client.get("/api/jobs", headers={"Authorization": f"Bearer {good}"})).status_code
            for good in (key, OPERATOR_KEY)
        ]

    assert wrong[-1] == 429
    assert right == [200, 200]


async def test_repeated_wrong_key_causes_no_database_lookup(
    app: FastAPI, failed: FailedKeys, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counted_lookups(monkeypatch) as looked_up:
        async with connect(app, "rk_wrong") as client:
            seen = [(await client.get("/api/jobs")).status_code for _ in range(50)]
            at_once = len(looked_up)
            clock.now += 10
            await client.get("/api/jobs")

    assert set(seen) == {401}
    assert (at_once, len(looked_up)) == (5, 6)


async def test_new_key_works_although_it_was_rejected_before_creation(
    app: FastAPI, conn: Connection, application_id: UUID
) -> None:
    key = "rk_not_yet_there"
    async with connect(app, key) as client:
        before = await client.get("/api/jobs")
        await api_keys.add_key(
            conn, application_id=application_id, name="n", role="viewer", key=key
        )
        after = await client.get("/api/jobs")

    assert (before.status_code, after.status_code) == (401, 200)


async def test_request_without_key_does_not_count_as_failed_attempt(
    app: FastAPI, failed: FailedKeys
) -> None:
    async with connect(app, None) as client:
        seen = {(await client.get("/api/jobs")).status_code for _ in range(160)}

    assert seen == {401}


async def test_tickets_and_sockets_are_counted_too(app: FastAPI, failed: FailedKeys) -> None:
    async with connect(app, None) as client:
        for number in range(151):
            answer = await client.get(
                "/upload/url", params={"url": "https://a.example", "ticket": f"t{number}"}
            )
    async with listening(app) as address:
        for number in range(151):
            with pytest.raises(InvalidStatus) as refused:
                async with socket(address, f"rk_{number}"):
                    pass

    assert answer.status_code == 429
    assert refused.value.response.status_code == 429


def test_an_ipv6_network_is_one_address_and_a_mapped_one_its_ipv4() -> None:
    failed = FailedKeys()

    def refused(host: str | None) -> bool:
        return isinstance(failed.record(comes_from(host), b"k", "no"), RateLimited)

    for number in range(150):
        assert not refused(f"2001:db8:1:2::{number:x}")

    assert refused("2001:db8:1:2:ffff::1")
    assert not refused("2001:db8:1:3::1")
    for _ in range(150):
        refused("192.0.2.1")
    assert refused("::ffff:192.0.2.1")
    assert not refused("::ffff:192.0.2.2")
    assert not refused(None)


def test_failed_key_tracking_uses_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failed_keys, "_MAX_ENTRIES", 100)
    failed = FailedKeys()
    for number in range(1000):
        error = failed.record(comes_from(f"192.0.2.{number}"), str(number).encode(), "no")
        assert isinstance(error, Unauthorized)

    assert len(failed._addresses._windows) == len(failed._keys._windows) == 100
