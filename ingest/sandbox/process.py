"""The parent's handle of one parser process: start, send, receive, kill."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import stat
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import structlog

from ingest.errors import Permanent, Transient
from ingest.sandbox import limits
from ingest.sandbox.environment import environment
from ingest.sandbox.forked import ForkedProcess, ForkServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import ParseRequest, Request, StartOptions, UnpackRequest
from ingest.sandbox.protocol import LENGTH, MAX_FRAME, encode_request, encode_start
from ingest.sandbox.readable import readable_paths, runnable_paths
from ingest.sandbox.reply_checks import BadFrame
from ingest.sandbox.scratch_quota import wait_until_exceeded
from ingest.temporary_folders import empty, new_scratch_folder, remove

log = structlog.get_logger()

_START_SECONDS = 60.0
_EXIT_SECONDS = 2.0  # wait for the process to end after its pipe has closed
_SAMPLE_SECONDS = 0.1
_ABORTS = frozenset({"SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", "SIGBUS"})
_BUFFER = 1024 * 1024  # bytes
_TAIL = 4096  # bytes of standard error kept
_OUT_OF_MEMORY = re.compile(
    rb"memory allocation|bad_alloc|out of memory|cannot allocate|MemoryError", re.IGNORECASE
)


class Child:
    """A running parser process in its own process group."""

    def __init__(
        self,
        process: asyncio.subprocess.Process | ForkedProcess,
        *,
        memory: int,
        channel: socket.socket,
        scratch: Path,
    ) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process has no pipes")
        self._process = process
        self._requests, self._replies, self._stderr = process.stdin, process.stdout, process.stderr
        self._tail = bytearray()
        self._drain = asyncio.create_task(self._keep_tail())
        self._killed = False
        self._memory = memory
        self._channel = channel
        self._scratch = scratch
        self._peak = 0
        self._members: dict[str, Path] = {}
        """Where it writes files that are inside those it was given, by the folder to move them to.
        """
        self.quota_exceeded = False
        """Whether it was killed because its scratch folder was too large."""
        self.files = 0
        """Number of files given to it so far."""
        self.shared = 0
        """Bytes of its memory that it shares with the fork server."""
        self.cpu_seconds = 0.0
        """CPU time that it and its children had used when it was last measured."""

    @classmethod
    async def start(
        cls,
        module: str,
        *,
        memory: int,
        formats: Sequence[str] = (),
        confinement: Confinement,
        server: ForkServer | None = None,
        tokenizer: str | None = None,
    ) -> "Child":
        """Start a process and wait until it is ready. Raises Transient if it fails or is late.

        `server`: forks it, with the `tokenizer` loaded; raises ForkFailed if it cannot.
        """
        program = confinement.program
        readable = readable_paths(
            modules=(__name__, module, *formats),
            program=program,
            extra=confinement.readable,
            private=confinement.private,
        )
        scratch = new_scratch_folder()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        options = StartOptions(
            memory=memory,
            parent=os.getpid() if server is None else server.pid,
            channel=theirs.fileno(),
            mode=confinement.mode,
            scratch=str(scratch),
            readable=readable,
            executable=() if program is None else runnable_paths(program),
            after_check=confinement.after_check,
            formats=tuple(formats),
        )
        passed, variables = (theirs.fileno(),), {**environment(), "TMPDIR": str(scratch)}
        process: asyncio.subprocess.Process | ForkedProcess
        try:
            with theirs:
                if server is not None:
                    process = await server.fork(
                        module, [encode_start(options)], pass_fds=passed, folder=str(scratch),
                        environment=variables, limit=_BUFFER, tokenizer=tokenizer,
                    )  # fmt: skip
                else:
                    process = await asyncio.create_subprocess_exec(
                        sys.executable, "-P", "-m", module, encode_start(options),
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.PIPE,
                        stderr=asyncio.subprocess.PIPE,
                        start_new_session=True,
                        pass_fds=passed,
                        cwd=scratch,
                        env=variables,
                        limit=_BUFFER,
                    )  # fmt: skip
        except BaseException:
            ours.close()
            remove(scratch)
            raise
        child = cls(process, memory=memory, channel=ours, scratch=scratch)
        child.shared = 0 if server is None else server.resident
        try:
            async with asyncio.timeout(_START_SECONDS):
                await child.receive()
        except BaseException as error:
            child.kill()
            await child.reap()
            if not isinstance(error, (TimeoutError, EOFError, OSError, BadFrame)):
                raise
            # It has not read any file yet, so stderr cannot hold a file's text.
            log.error("parser_not_started", stderr=child._tail.decode(errors="replace"))
            raise Transient("The parser process did not start.", code="internal") from error
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can accept a file. On some systems, old temporary folders are removed."""
        return self._process.returncode is None and not self._killed and self._scratch.is_dir()

    def send(self, file: int | None, request: Request, *, cpu_seconds: float) -> int:
        """Send a request for the file behind a descriptor, and return the number of the request.

        The process gets the descriptor, not a path: it can read this file and no other. Nothing
        waits for room in the pipe, since a process that writes its answer reads no request. Raises
        OSError if the process is gone.
        """
        self.files += 1
        if isinstance(request, ParseRequest) and request.members is not None:
            request = replace(request, members=self._members_of(request.members))
        elif isinstance(request, UnpackRequest):
            request = replace(request, folder=self._members_of(request.folder))
        frame = encode_request(request, cpu_seconds=cpu_seconds, number=self.files)
        if file is not None:
            socket.send_fds(self._channel, [b"f"], [file])
        self._requests.write(frame)
        return self.files

    def _members_of(self, target: str) -> str:
        """A folder of its own for each file: it may read the next one before we move them."""
        self._members[target] = self._scratch / f"members-{self.files}"
        return str(self._members[target])

    def hand_over_members(self, request: Request) -> None:
        """Move its members to the request's folder. Raises BadFrame if they are no folder."""
        target = None
        if isinstance(request, ParseRequest):
            target = request.members
        elif isinstance(request, UnpackRequest):
            target = request.folder
        if target is None or not (written := self._members.pop(target)).is_dir():
            return
        try:
            # A link would be renamed, not followed: that fails where there is a folder.
            with contextlib.suppress(FileExistsError):
                os.mkdir(target, stat.S_IRWXU)
            os.rename(written, target)
        except OSError as error:
            raise BadFrame("members that cannot be moved") from error

    async def tidy(self) -> None:
        """Empty its scratch folder, once it has answered all requests."""
        with os.scandir(self._scratch) as entries:
            is_empty = next(entries, None) is None
        if is_empty:
            os.utime(self._scratch)  # its age tells sweep() whether it is in use
        else:
            await asyncio.to_thread(empty, self._scratch)

    async def receive(self) -> bytes:
        """Receive a frame's body. Raises EOFError if the process ends, BadFrame if oversized."""
        (length,) = LENGTH.unpack(await self._replies.readexactly(LENGTH.size))
        if length > MAX_FRAME:
            raise BadFrame(f"a frame of {length} bytes")
        return await self._replies.readexactly(length)

    @contextlib.asynccontextmanager
    async def watched(self, request: Request) -> AsyncIterator[None]:
        """Sample its peak memory, which cannot be read any more after its end, and kill it if its
        scratch folder grows beyond what the request explains.
        """
        watches = [
            asyncio.create_task(self._sample()),
            asyncio.create_task(self._guard_scratch(request)),
        ]
        try:
            yield
        finally:
            for watch in watches:
                watch.cancel()

    def measure_cpu(self) -> float:
        """The CPU seconds used so far; those of the last measurement once it has ended."""
        self.cpu_seconds = max(self.cpu_seconds, limits.cpu_seconds(self._process.pid))
        return self.cpu_seconds

    def kill(self) -> None:
        """Kill the process and its children at once."""
        self._killed = self._killed or self._process.returncode is None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def reap(self) -> None:
        """Wait for its end; free its pipes and its scratch folder."""
        await self._process.wait()
        self._channel.close()
        await asyncio.to_thread(remove, self._scratch)
        self._requests.close()
        await self._drain
        # An unread answer keeps the pipe open.
        if isinstance(self._process, ForkedProcess):
            self._process.close()
        else:  # asyncio has no public way to close it
            self._process._transport.close()  # type: ignore[attr-defined]

    async def exit_error(self, stage: str) -> Permanent | Transient:
        """Why it ended, as an error for users. Call it after the pipe has closed."""
        stopped = self._killed
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):
                await self._process.wait()
        self.kill()
        await self.reap()
        if self.quota_exceeded:
            log.warning("parser_filled_disk", stage=stage)
            return Permanent("Reading the file took too much disk space.", code="parser_memory")
        if stopped:
            return Transient("The parser was stopped.", code="internal")
        code = self._process.returncode or 0
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        log.warning("parser_died", cause=name, stage=stage, files=self.files)
        if name == "SIGXCPU":
            return Permanent("Reading the file took too long.", code="parser_timeout")
        # Parsers that run out of memory print a message, or just abort.
        swollen = name in _ABORTS and self._peak > self._memory // 2
        if swollen or _OUT_OF_MEMORY.search(self._tail):
            return Permanent("Reading the file took too much memory.", code="parser_memory")
        # Includes SIGKILL, by the OOM killer or a person: a retry may succeed.
        return Permanent(
            f"The parser crashed ({name}) in stage {stage}; the file may be damaged.",
            code="parser_crashed",
        )

    async def _sample(self) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            self._peak = max(self._peak, limits.peak_address_space(self._process.pid))
            self.measure_cpu()

    async def _guard_scratch(self, request: Request) -> None:
        await wait_until_exceeded(self._scratch, request)
        self.quota_exceeded = True
        self.kill()

    async def _keep_tail(self) -> None:
        while block := await self._stderr.read(_TAIL):
            self._tail += block
            del self._tail[:-_TAIL]
