"""One worker process of `ingest serve`, as its parent sees it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Self
from uuid import UUID

import structlog
from prometheus_client.core import Metric

from api.worker_processes.order import METRICS, READY, WorkerOrder
from ingest.asynchronous.tasks import is_set_within
from ingest.observability.merged_metrics import parsed
from ingest.postgres.database import new_id
from ingest.settings.worker_shares import WorkerShare

log = structlog.get_logger()

_ANSWER_SECONDS: Final = 1.0
# Its metrics are some 100 kB.
_LONGEST_ANSWER: Final = 16 * 1024**2


class WorkerProcess:
    """One process, from its start to its end."""

    def __init__(
        self,
        worker_id: UUID,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.worker_id = worker_id
        self.pid = process.pid
        self.is_ready = False
        self.metrics: Sequence[Metric] = ()
        """Its last answer."""
        self._process = process
        self._reader = reader
        self._writer = writer
        self._answered = asyncio.Event()

    @classmethod
    async def start(cls, share: WorkerShare, dsn: str) -> Self:
        """Raises OSError if the system has no room for another process."""
        order = WorkerOrder(
            dsn=dsn,
            worker_id=new_id(),
            slots=share.slots,
            parsers=share.parsers,
            parent=os.getpid(),
        )
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-P", "-m", "api.cli", "worker-process", str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=2,  # what we print is read by programs
                    pass_fds=(theirs.fileno(),),
                    # Ctrl-C must only reach us: we stop it after the last request.
                    start_new_session=True,
                )  # fmt: skip
            reader, writer = await asyncio.open_unix_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        writer.write(order.line())
        return cls(order.worker_id, process, reader, writer)

    async def wait(self) -> int:
        """Wait until it has ended, and return its exit code; negative: the signal.

        One that says what it should not is killed.
        """
        try:
            await self._listen()
        except ValueError:
            log.error("worker_process.not_understood", pid=self.pid)
            self.send(signal.SIGKILL)
        code = await self._process.wait()
        self._writer.close()
        return code

    async def _listen(self) -> None:
        """Raises ValueError."""
        with suppress(OSError, EOFError):
            while line := await self._reader.readline():
                if line == READY:
                    self.is_ready = True
                    log.info("worker_process.ready", pid=self.pid, worker_id=str(self.worker_id))
                    continue
                length = int(line)
                if length > _LONGEST_ANSWER:
                    raise ValueError("too long")
                self.metrics = parsed((await self._reader.readexactly(length)).decode())
                self._answered.set()

    async def ask_for_metrics(self) -> None:
        """Of a process that does not answer, the last answer is kept."""
        if self.is_ready and not self._writer.is_closing():
            self._answered.clear()
            self._writer.write(METRICS)
            await is_set_within(self._answered, _ANSWER_SECONDS)

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
