"""How `ingest serve` starts worker processes again, and what it says to them."""

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from api.worker_processes import supervisor
from api.worker_processes.order import WorkerOrder
from api.worker_processes.process import WorkerProcess
from api.worker_processes.supervisor import WorkerProcesses
from harness.patience import PATIENCE
from ingest.errors import SetupError
from ingest.postgres.database import Pool
from ingest.settings.worker_shares import WorkerShare

SHARE = WorkerShare(slots=8, parsers=2)


def processes(on_failed: Callable[[], None] = lambda: None, *, count: int = 1) -> WorkerProcesses:
    return WorkerProcesses([SHARE] * count, dsn="", pool=cast(Pool, None), on_failed=on_failed)


class Ended:
    """A process that has ended when it is waited for."""

    pid, worker_id, metrics = 1, UUID(int=1), ()

    def __init__(self, *, code: int, is_ready: bool) -> None:
        self.code, self.is_ready = code, is_ready

    async def wait(self) -> int:
        return self.code

    def send(self, number: int) -> None: ...


async def delays(
    monkeypatch: pytest.MonkeyPatch, under_test: WorkerProcesses, start: Any, *, most: int
) -> list[float]:
    """The pauses between starts, none of which is waited for."""
    waited: list[float] = []

    async def no_pause(stopping: asyncio.Event, seconds: float) -> bool:
        waited.append(seconds)
        if len(waited) == most:
            stopping.set()
        return stopping.is_set()

    monkeypatch.setattr(supervisor, "is_set_within", no_pause)
    monkeypatch.setattr(WorkerProcess, "start", start)
    async with under_test:
        await asyncio.gather(*under_test._tasks)
    return waited


async def test_a_process_that_does_not_start_is_tried_again_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def no_room(*_: Any) -> Any:
        raise BlockingIOError("no more processes")

    under_test = processes()
    waited = await delays(monkeypatch, under_test, no_room, most=9)

    assert waited == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert under_test.state.running == 0
    assert under_test.state.restarts == 8


@pytest.mark.parametrize(("code", "is_ready"), [(0, True), (2, True), (0, False)])
async def test_whatever_ended_a_process_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch, code: int, is_ready: bool
) -> None:
    async def start(*_: Any) -> Any:
        return Ended(code=code, is_ready=is_ready)

    async def release(*_: Any) -> None: ...

    monkeypatch.setattr(WorkerProcesses, "_release_jobs", release)
    under_test = processes()
    waited = await delays(monkeypatch, under_test, start, most=3)

    assert waited == [1, 2, 4]
    under_test.raise_failure()


async def test_an_error_of_ours_ends_no_worker_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unwatched(Ended):
        async def wait(self) -> int:
            raise RuntimeError("an error of ours")

    async def start(*_: Any) -> Any:
        return Unwatched(code=0, is_ready=False)

    with capture_logs() as logs:
        waited = await delays(monkeypatch, processes(), start, most=3)

    assert waited == [1, 2, 4]
    assert {line["event"] for line in logs} == {"worker_process.not_watched"}


async def test_settings_that_let_no_process_start_end_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start(*_: Any) -> Any:
        return Ended(code=2, is_ready=False)

    async def release(*_: Any) -> None: ...

    monkeypatch.setattr(WorkerProcesses, "_release_jobs", release)
    failed: list[bool] = []
    under_test = processes(lambda: failed.append(True))
    waited = await delays(monkeypatch, under_test, start, most=3)

    assert (waited, failed) == ([], [True])
    with pytest.raises(SetupError):
        under_test.raise_failure()


class Running(Ended):
    """A process that runs until the others have been started often enough."""

    stopping: asyncio.Event

    async def wait(self) -> int:
        await self.stopping.wait()
        return self.code


@pytest.mark.parametrize("first", [Ended, Running])
async def test_where_one_process_was_ready_no_other_ends_the_service(
    monkeypatch: pytest.MonkeyPatch, first: type[Ended]
) -> None:
    started: list[Ended] = []

    async def start(*_: Any) -> Any:
        if started:
            started.append(Ended(code=2, is_ready=False))
        else:
            started.append(first(code=2, is_ready=True))
            Running.stopping = under_test._stopping
        return started[-1]

    async def release(*_: Any) -> None: ...

    monkeypatch.setattr(WorkerProcesses, "_release_jobs", release)
    failed: list[bool] = []

    def on_failed() -> None:
        failed.append(True)
        under_test.expect_stop()

    under_test = processes(on_failed, count=2)
    await delays(monkeypatch, under_test, start, most=6)

    assert len(started) > 2
    assert failed == []
    under_test.raise_failure()


async def test_what_ends_after_the_signal_to_stop_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[Ended] = []

    async def start(*_: Any) -> Any:
        started.append(Ended(code=0, is_ready=True))
        under_test.expect_stop()
        return started[-1]

    under_test = processes()
    await delays(monkeypatch, under_test, start, most=3)

    assert len(started) == 1


def test_an_order_arrives_in_parts_and_a_parent_that_has_ended_sends_none() -> None:
    order = WorkerOrder(dsn="host=a", worker_id=UUID(int=7), slots=3, parsers=1, parent=5)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = order.line()
        ours.sendall(line[:7])
        ours.sendall(line[7:])
        received = WorkerOrder.receive(theirs)
        ours.close()
        afterwards = WorkerOrder.receive(theirs)

    assert received == order
    assert afterwards is None


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense\n",
        b"-5\n",
        b"9" * 18 + b"\n",
        b"1" * 200_000,
        b"2\n\xff\xff",
        b"ready\n10\nno metrics\n",
    ],
)
async def test_a_process_that_says_nonsense_is_killed(said: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        sleeper = await asyncio.create_subprocess_exec("sleep", "600")
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        under_test = WorkerProcess(UUID(int=1), sleeper, reader, writer)
        saying = asyncio.create_task(asyncio.to_thread(_say, theirs, said))
        try:
            async with asyncio.timeout(PATIENCE):
                code = await under_test.wait()
                await saying
        finally:
            with suppress(ProcessLookupError):
                sleeper.kill()

    assert code == -signal.SIGKILL
    assert under_test.metrics == ()


def _say(channel: socket.socket, said: bytes) -> None:
    with suppress(OSError):  # nobody listens to all of it
        channel.sendall(said)
