"""Parser processes that a fork server starts, and which application's files they read."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

import orjson
import pytest

from harness.patience import AGES
from ingest.errors import Permanent
from ingest.priority import BACKGROUND
from ingest.sandbox.fork_server import _fork
from ingest.sandbox.forked import ForkFailed, ForkServer, PoolServer
from ingest.sandbox.pool import ParserPool
from tests.unit.sandbox.hostile_files import (
    LINUX,
    MIB,
    REQUEST,
    is_running,
    parent_of,
    until,
    until_gone,
)

pytestmark = LINUX


class Pool:
    """A pool whose fork server is running."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "a.txt"
        self.costs: list[tuple[UUID, float]] = []
        self._pool_server = PoolServer(mode="auto")
        self.pool = ParserPool(
            size=2,
            timeout=AGES,
            memory=1024 * MIB,
            child="tests.servers.hostile_parser",
            server=self._pool_server,
            on_cost=lambda owner, seconds: self.costs.append((owner, seconds)),
        )

    @property
    def server(self) -> ForkServer:
        server = self._pool_server.get()
        assert server is not None
        return server

    async def start(self) -> None:
        self._pool_server.get()
        await self._pool_server.wait()

    async def close(self) -> None:
        await self.pool.close()
        await self._pool_server.close()

    async def text(self, command: str, owner: UUID) -> str:
        self._path.write_text(command)
        return (await self.pool.parse(self._path, REQUEST, owner=owner)).document.text


@pytest.fixture
async def forking(tmp_path: Path) -> AsyncIterator[Pool]:
    forking = Pool(tmp_path)
    await forking.start()
    yield forking
    await forking.close()


def _descriptors(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/fd").iterdir())


async def test_a_process_reads_files_of_one_application(forking: Pool) -> None:
    first, second = uuid4(), uuid4()

    pids = [await forking.text("pid", owner) for owner in (first, second, first, second)]

    assert pids[:2] == pids[2:]
    assert pids[0] != pids[1]
    assert forking.server.pid not in map(int, pids)


async def test_a_forked_process_starts_as_if_executed(
    forking: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "DATABASE_URL", "INGEST_ADMIN_KEY"):
        monkeypatch.setenv(name, "a-secret-value")
    owner = uuid4()

    pid = int(await forking.text("pid", owner))
    environment = await forking.text("environment", owner)
    limits = orjson.loads(await forking.text("limits RLIMIT_AS RLIMIT_CORE", owner))
    open_files = {os.readlink(path) for path in _descriptors(pid)}

    assert parent_of(pid) == forking.server.pid
    assert os.getpgid(pid) == pid  # to be killed with what it starts
    assert "a-secret-value" not in environment
    assert limits == {"RLIMIT_AS": 1024 * MIB, "RLIMIT_CORE": 0}
    # Only the channel of its own files: none of the fork server, nor of other processes.
    assert len([name for name in open_files if name.startswith("socket:")]) == 1


async def test_parsers_leave_the_processors_to_others(
    forking: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = forking.server.pid
    forked = int(await forking.text("pid", uuid4()))
    monkeypatch.setattr(PoolServer, "get", lambda _: None)
    alone = int(await forking.text("pid", uuid4()))

    assert os.getsid(forked) == server  # which has the priority of the session
    for pid in (forked, alone):
        assert os.getpriority(os.PRIO_PROCESS, pid) >= BACKGROUND


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
async def test_the_end_of_a_forked_process_is_reported(
    forking: Pool, number: signal.Signals
) -> None:
    owner = uuid4()

    with pytest.raises(Permanent, match=number.name):
        await forking.text(f"signal {number.value}", owner)
    assert await forking.text("say next", owner) == "next"


async def test_files_are_read_after_the_fork_server_was_killed(forking: Pool) -> None:
    owner = uuid4()
    pid = int(await forking.text("pid", owner))

    os.kill(forking.server.pid, signal.SIGKILL)
    await until_gone(pid)

    assert await forking.text("say without it", owner) == "without it"
    await forking.start()
    assert await forking.text("say with a new one", uuid4()) == "with a new one"
    assert is_running(forking.server.pid)


async def test_a_fork_that_nobody_waits_for_any_longer_is_ended(
    forking: Pool, tmp_path: Path
) -> None:
    os.kill(forking.server.pid, signal.SIGSTOP)
    path = tmp_path / "b.txt"
    path.write_text("say x")
    work = asyncio.create_task(forking.pool.parse(path, REQUEST, owner=uuid4()))
    server = forking.server
    await until(lambda: bool(server._requested))

    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    os.kill(server.pid, signal.SIGCONT)

    assert await forking.text("say next", uuid4()) == "next"
    await until(lambda: len(server._forked) == 1)


async def test_a_fork_that_the_system_refuses_ends_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    server = ForkServer(cast(Any, None), ours)
    with theirs:
        work = asyncio.create_task(server.fork("child", [], environment={}, folder="/", limit=MIB))
        await until(lambda: bool(server._requested))
        body, descriptors, _, _ = socket.recv_fds(theirs, 4096, 8)
        monkeypatch.setattr(os, "fork", _refuse)
        _fork(theirs, orjson.loads(body), descriptors)

        with pytest.raises(ForkFailed, match="no more processes"):
            await work
        assert server.is_alive
        server._lose()


def _refuse() -> int:
    raise BlockingIOError("no more processes")


async def test_closing_ends_the_fork_server_and_its_forks(tmp_path: Path) -> None:
    forking = Pool(tmp_path)
    await forking.start()
    pids = [forking.server.pid, int(await forking.text("pid", uuid4()))]

    await forking.close()

    for pid in pids:
        await until_gone(pid)


async def test_the_end_of_the_worker_ends_the_fork_server_and_its_forks(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from uuid import uuid4\n"
        "from tests.unit.sandbox.test_fork_server import Pool\n"
        "async def main():\n"
        "    forking = Pool(Path(sys.argv[1]))\n"
        "    await forking.start()\n"
        "    pid = await forking.text('pid', uuid4())\n"
        "    print(forking.server.pid, pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert worker.stdout is not None
        pids = [int(pid) for pid in (await worker.stdout.readline()).split()]
    finally:
        worker.kill()
        await worker.wait()

    assert len(pids) == 2
    for pid in pids:
        await until_gone(pid)


async def test_processor_time_is_charged_to_the_application(forking: Pool) -> None:
    owner = uuid4()

    with pytest.raises(Permanent, match="crashed"):
        await forking.text("burn 1", owner)

    [(charged, seconds)] = forking.costs
    assert charged == owner
    assert seconds > 0.3
