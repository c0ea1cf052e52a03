"""Slow bodies and crowds, without a server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from api.middleware.backpressure import ConcurrencyLimit, MinimumBodyRate
from harness.patience import PATIENCE
from tests.support.movable_clock import MovableClock

WINDOW: Final = 0.2
LEAST: Final = 100


@pytest.fixture(autouse=True)
async def skipped_waits(movable_clock: MovableClock) -> None:
    movable_clock.skip_waits()


@pytest.fixture
def plain() -> FastAPI:
    """Counts the bytes of a body; streams events until `gate` opens."""
    app = FastAPI()
    app.state.gate = asyncio.Event()

    @app.post("/count")
    async def count(request: Request) -> int:
        return sum([len(piece) async for piece in request.stream()])

    @app.get("/slow")
    async def slow() -> str:
        await app.state.gate.wait()
        return "done"

    @app.get("/events")
    async def events() -> StreamingResponse:
        async def frames() -> AsyncIterator[str]:
            yield "data: x\n\n"
            await app.state.gate.wait()

        return StreamingResponse(frames(), media_type="text/event-stream")

    @app.get("/healthz")
    async def healthz() -> str:
        return "ok"

    return app


def client_of(app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app)
    return httpx.AsyncClient(transport=transport, base_url="http://ingest.test", timeout=30)


async def pieces(
    sizes: Sequence[int], *, every: float, stall: bool = False
) -> AsyncIterator[bytes]:
    for size in sizes:
        yield b"x" * size
        await asyncio.sleep(every)
    if stall:
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    "body",
    [
        pieces([], every=0, stall=True),
        pieces([LEAST], every=0, stall=True),
        pieces([1] * 1000, every=WINDOW / 10),
    ],
    ids=["nothing", "stalls", "drips"],
)
async def test_a_body_that_stalls_or_drips_is_a_408(
    plain: FastAPI, body: AsyncIterator[bytes]
) -> None:
    async with (
        asyncio.timeout(PATIENCE),
        client_of(MinimumBodyRate(plain, window=WINDOW, min_bytes=LEAST)) as client,
    ):
        answer = await client.post("/count", content=body)

    assert answer.status_code == 408
    assert answer.headers["connection"] == "close"


async def test_slow_but_steady_body_has_no_time_limit(
    plain: FastAPI,
) -> None:
    body = pieces([LEAST] * 20, every=WINDOW / 8)
    async with client_of(MinimumBodyRate(plain, window=WINDOW, min_bytes=LEAST)) as client:
        answer = await client.post("/count", content=body)

    assert (answer.status_code, answer.json()) == (200, 20 * LEAST)


async def test_body_timeout_excludes_server_time(plain: FastAPI) -> None:
    @plain.post("/busy")
    async def busy(request: Request) -> int:
        total = 0
        async for piece in request.stream():
            await asyncio.sleep(2 * WINDOW)
            total += len(piece)
        return total

    async with client_of(MinimumBodyRate(plain, window=WINDOW, min_bytes=LEAST)) as client:
        answer = await client.post("/busy", content=pieces([1] * 3, every=0))

    assert (answer.status_code, answer.json()) == (200, 3)


async def test_an_answer_without_a_body_to_read_is_not_timed(plain: FastAPI) -> None:
    async with client_of(MinimumBodyRate(plain, window=WINDOW, min_bytes=LEAST)) as client:
        asking = asyncio.create_task(client.get("/events"))
        await asyncio.sleep(3 * WINDOW)
        plain.state.gate.set()
        answer = await asking

    assert (answer.status_code, answer.text) == (200, "data: x\n\n")


async def test_overload_is_refused_but_probes_are_answered(plain: FastAPI) -> None:
    crowd = ConcurrencyLimit(plain, max_requests=3, exempt=("/healthz",))
    async with client_of(crowd) as client:
        inside = [asyncio.create_task(client.get("/slow")) for _ in range(3)]
        while crowd._count < 3:  # noqa: ASYNC110 there is nothing to wait for
            await asyncio.sleep(0)
        refused, probe = await client.get("/slow"), await client.get("/healthz")
        plain.state.gate.set()
        served = [(await request).status_code for request in inside]
        later = await client.get("/slow")

    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert refused.headers["Retry-After"] == "1"
    assert (probe.status_code, served, later.status_code) == (200, [200] * 3, 200)


async def test_event_streams_do_not_use_request_slots(plain: FastAPI) -> None:
    crowd = ConcurrencyLimit(plain, max_requests=1, exempt=())
    async with client_of(crowd) as client:
        streams = []
        for _ in range(3):
            streams.append(asyncio.create_task(client.get("/events")))
            await asyncio.sleep(0.05)
        answer = await client.get("/healthz")
        plain.state.gate.set()
        ended = [(await stream).status_code for stream in streams]

    assert (answer.status_code, ended) == (200, [200] * 3)
    assert crowd._count == 0


async def test_request_cut_short_by_a_stop_gets_503(plain: FastAPI) -> None:
    """The server cancels it when the time for a graceful stop is over."""
    async with client_of(ConcurrencyLimit(plain, max_requests=1, exempt=())) as client:
        cut_short = asyncio.create_task(client.get("/slow"))
        await asyncio.sleep(0.05)
        cut_short.cancel()
        answer = await asyncio.wait_for(cut_short, PATIENCE)

    assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
    assert answer.headers["Retry-After"] == "1"
