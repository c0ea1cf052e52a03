"""The worker processes of `ingest serve`: started, restarted when they end, and ended with it."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import psycopg
import structlog

from api.worker_processes.process import WorkerProcess
from ingest.asynchronous.tasks import is_set_within
from ingest.errors import SetupError
from ingest.observability.merged_metrics import MergedMetrics
from ingest.postgres.database import Pool, transaction
from ingest.settings.worker_shares import WorkerShare
from ingest.store.queue import workers

log = structlog.get_logger()

# A worker gives its jobs back in 10 s and closes in 10 more (ingest/worker/loop.py).
_STOP_SECONDS: Final = 30.0
_FIRST_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 60.0
# A process that lived for so long ended by an accident, not by its settings.
_WELL_SECONDS: Final = 60.0
_CANNOT_CONTINUE: Final = 2
"""Exit code of a command that its settings do not let run; it has said why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerProcessesState:
    configured: int
    running: int
    """Those that are ready."""
    restarts: int


class WorkerProcesses:
    """A context manager: at its end, the jobs are given back and all processes have ended."""

    def __init__(
        self,
        shares: Sequence[WorkerShare],
        *,
        dsn: str,
        pool: Pool,
        on_failed: Callable[[], None],
    ) -> None:
        """`on_failed`: called if one cannot start with its settings, and none ever could."""
        self._shares = shares
        self._dsn = dsn
        self._pool = pool
        self._on_failed = on_failed
        self._running: set[WorkerProcess] = set()
        self._ended = MergedMetrics()
        self._restarts = 0
        self._was_ready = False
        self._has_failed = False
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def state(self) -> WorkerProcessesState:
        return WorkerProcessesState(
            configured=len(self._shares),
            running=sum(process.is_ready for process in self._running),
            restarts=self._restarts,
        )

    def raise_failure(self) -> None:
        """Raises SetupError if `on_failed` was called."""
        if self._has_failed:
            raise SetupError("a worker process could not start: the line above says why")

    async def add_metrics(self, merged: MergedMetrics) -> None:
        """Add what the processes have counted, those included that have ended."""
        processes = list(self._running)
        await asyncio.gather(*(process.ask_for_metrics() for process in processes))
        merged.add(self._ended.collect())
        for process in processes:
            merged.add(process.metrics)

    def expect_stop(self) -> None:
        """Start none again: who signals us may signal them too, and they end before our requests.

        May be called by the handler of a signal.
        """
        self._stopping.set()

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._keep(share)) for share in self._shares]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping.set()
        for process in self._running:
            process.send(signal.SIGTERM)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_SECONDS)
        for process in self._running:
            log.error("worker_process.killed", pid=process.pid)
            process.send(signal.SIGKILL)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, share: WorkerShare) -> None:
        """Keep one process alive until the end."""
        loop = asyncio.get_running_loop()
        delay = _FIRST_DELAY
        while not self._stopping.is_set():
            started = loop.time()
            try:
                code = await self._watch(await WorkerProcess.start(share, self._dsn))
            except OSError as error:
                log.error("worker_process.not_started", error=str(error))
            except Exception:  # an error of ours: without the worker, nothing would be done at all
                log.exception("worker_process.not_watched")
            else:
                if code == _CANNOT_CONTINUE and not (self._was_ready or self.state.running):
                    self._has_failed = True
                    self._on_failed()
                    return
            if loop.time() - started >= _WELL_SECONDS:
                delay = _FIRST_DELAY
            if await is_set_within(self._stopping, delay):
                return
            delay = min(2 * delay, _LONGEST_DELAY)
            self._restarts += 1

    async def _watch(self, process: WorkerProcess) -> int:
        """Wait for the end of a process; returns its exit code."""
        self._running.add(process)
        if self._stopping.is_set():
            process.send(signal.SIGTERM)
        try:
            code = await process.wait()
        finally:
            process.send(signal.SIGKILL)  # if it has not ended, nobody watches it any more
            self._running.discard(process)
            self._was_ready |= process.is_ready
        self._ended.add(process.metrics, has_ended=True)
        if not self._stopping.is_set():
            log.error("worker_process.ended", pid=process.pid, exit_code=code)
        if code:
            await self._release_jobs(process)
        return code

    async def _release_jobs(self, process: WorkerProcess) -> None:
        """It cannot come back, so its jobs need not wait until its lease is over."""
        try:
            async with transaction(self._pool) as conn:
                await workers.forget(conn, process.worker_id)
        except psycopg.Error as error:
            log.warning("worker_process.not_forgotten", error=type(error).__name__)
