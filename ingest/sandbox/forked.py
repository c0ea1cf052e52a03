"""The parent's side of the fork server (fork_server.py): start it, and fork parser processes."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import orjson
import structlog

from ingest.asynchronous.tasks import cancel_all
from ingest.model import SandboxMode
from ingest.sandbox.environment import environment
from ingest.sandbox.protocol import MAX_FORK_MESSAGE

log = structlog.get_logger()

_START_SECONDS: Final = 60.0
_FORK_SECONDS: Final = 60.0
"""It may load a tokenizer and the model of languages first, on a machine that is busy."""
_AGAIN_SECONDS: Final = 60.0


class ForkFailed(Exception):
    """The fork server is not there; processes can still be started without it."""


class ForkedProcess:
    """Like asyncio.subprocess.Process; a child of the fork server, which reports its end."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter
        self.stdout: asyncio.StreamReader
        self.stderr: asyncio.StreamReader
        self._transports: list[asyncio.BaseTransport] = []
        self._has_ended = asyncio.Event()

    async def wait(self) -> int:
        """Wait until it has ended; negative: the signal that ended it."""
        await self._has_ended.wait()
        return self.returncode or 0

    def close(self) -> None:
        """Close its pipes."""
        for transport in self._transports:
            transport.close()

    def end(self, code: int) -> None:
        self.returncode = code
        self._has_ended.set()

    async def connect(self, stdin: int, stdout: int, stderr: int, *, limit: int) -> None:
        """Take over our ends of its pipes. `limit`: bytes that a reader buffers."""
        loop = asyncio.get_running_loop()
        writing, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(stdin, "wb", 0)
        )
        self._transports.append(writing)
        self.stdin = asyncio.StreamWriter(writing, protocol, None, loop)
        self.stdout = await self._reader(stdout, limit)
        self.stderr = await self._reader(stderr, limit)

    async def _reader(self, descriptor: int, limit: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=limit)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
        )
        self._transports.append(transport)
        return reader


class ForkServer:
    """A running fork server."""

    def __init__(self, process: asyncio.subprocess.Process, channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """The number of its threads."""
        self._requested: deque[asyncio.Future[ForkedProcess]] = deque()
        self._forked: dict[int, ForkedProcess] = {}
        self.is_alive = True
        self.resident = 0
        """Bytes of memory that its last fork shares with it."""
        asyncio.get_running_loop().add_reader(channel, self._read)

    @classmethod
    async def start(cls, *, environment: Mapping[str, str], mode: SandboxMode) -> "ForkServer":
        """Start it and wait until it has loaded the parsers. Raises ForkFailed."""
        if sys.platform != "linux":
            raise ForkFailed("only on Linux")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", "ingest.sandbox.fork_server",
                    str(theirs.fileno()), str(os.getpid()), mode,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                    env=dict(environment),
                )  # fmt: skip
        except OSError as error:
            ours.close()
            raise ForkFailed(str(error)) from error
        server = cls(process, ours)
        try:
            async with asyncio.timeout(_START_SECONDS):
                threads = await server._ready
            if threads != 1:  # a lock that another thread holds would stay locked in the fork
                raise ForkFailed(f"it has {threads} threads")
        except BaseException as error:
            await server.close()
            if isinstance(error, TimeoutError):
                raise ForkFailed("it is not ready in time") from None
            raise
        return server

    @property
    def pid(self) -> int:
        """The parent of the processes that it forks."""
        return self._process.pid

    async def fork(
        self,
        module: str,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        limit: int,
        pass_fds: Sequence[int] = (),
        tokenizer: str | None = None,
    ) -> ForkedProcess:
        """Fork a process that runs `module` as its main program, in a process group of its own.

        `folder`: its working directory. `tokenizer`: is loaded before the fork. Raises ForkFailed.
        """
        request = {
            "module": module,
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": folder,
            "descriptors": [0, 1, 2, *pass_fds],
            "tokenizer": tokenizer,
        }
        stdin, to_child = os.pipe()
        from_child, stdout = os.pipe()
        errors, stderr = os.pipe()
        ours, theirs = [to_child, from_child, errors], [stdin, stdout, stderr]
        try:
            try:
                process = await self._send(orjson.dumps(request), [*theirs, *pass_fds])
            finally:
                _close(theirs)
        except BaseException:
            _close(ours)
            raise
        try:
            await process.connect(*ours, limit=limit)
        except BaseException:
            process.close()
            _kill(process.pid)
            raise
        return process

    async def close(self) -> None:
        """End it, and with it all processes that it has forked."""
        self._lose()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def _send(self, request: bytes, descriptors: Sequence[int]) -> ForkedProcess:
        if not self.is_alive:
            raise ForkFailed("it has ended")
        try:
            socket.send_fds(self._channel, [request], descriptors)
        except OSError as error:
            raise ForkFailed(str(error)) from error
        forked: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        self._requested.append(forked)
        try:
            async with asyncio.timeout(_FORK_SECONDS):
                return await forked
        except TimeoutError:
            self._lose()
            self._process.kill()
            raise ForkFailed("it does not answer") from None

    def _read(self) -> None:
        try:
            body = self._channel.recv(MAX_FORK_MESSAGE)
        except BlockingIOError:
            return
        except OSError:
            body = b""
        if not body:
            self._lose()
            return
        message = orjson.loads(body)
        if "pid" in message:
            self.resident = message["resident"]
            self._add(message["pid"])
        elif "refused" in message:
            requested = self._requested.popleft()
            if not requested.done():
                requested.set_exception(ForkFailed(message["refused"]))
        elif "ended" in message:
            self._forked.pop(message["ended"]).end(message["code"])
        elif not self._ready.done():
            self._ready.set_result(message["threads"])

    def _add(self, pid: int) -> None:
        process = self._forked[pid] = ForkedProcess(pid)
        requested = self._requested.popleft()
        if requested.done():  # cancelled meanwhile
            _kill(pid)
        else:
            requested.set_result(process)

    def _lose(self) -> None:
        """Its end is also that of its children: the kernel kills them."""
        if not self.is_alive:
            return
        self.is_alive = False
        asyncio.get_running_loop().remove_reader(self._channel)
        self._channel.close()
        waiting: list[asyncio.Future[Any]] = [self._ready, *self._requested]
        for future in waiting:
            if not future.done():
                future.set_exception(ForkFailed("it has ended"))
        for process in self._forked.values():
            process.end(-signal.SIGKILL)
        self._forked.clear()


class PoolServer:
    """The fork server of pools: started when first asked for, and again when it has ended."""

    def __init__(self, *, mode: SandboxMode) -> None:
        self._start_server = partial(ForkServer.start, environment=environment(), mode=mode)
        self._server: ForkServer | None = None
        self._starting: asyncio.Task[None] | None = None
        self._again_at = 0.0

    def get(self) -> ForkServer | None:
        """The server; None while it starts or cannot start: nobody waits for it."""
        if self._server is not None and self._server.is_alive:
            return self._server
        if self._starting is None and time.monotonic() >= self._again_at:
            self._starting = asyncio.create_task(self._start())
        return None

    async def wait(self) -> None:
        """Wait until a start that is under way has ended."""
        if self._starting is not None:
            await asyncio.wait([self._starting])

    async def close(self) -> None:
        if self._starting is not None:
            await cancel_all(self._starting)
        if self._server is not None:
            await self._server.close()

    async def _start(self) -> None:
        try:
            lost, self._server = self._server, None
            if lost is not None:
                await lost.close()
            self._server = await self._start_server()
        except ForkFailed as error:
            self._again_at = time.monotonic() + _AGAIN_SECONDS
            log.warning("parser_fork_server_failed", error=str(error))
        finally:
            self._starting = None


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
