"""The worker's heartbeat, in its own thread so that a busy event loop cannot starve it."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from uuid import UUID

import psycopg
import structlog

from ingest.postgres.poolers import pooling_of
from ingest.postgres.sessions import begin_sync_session, begin_sync_transaction, fix_isolation
from ingest.store.queue import workers

log = structlog.get_logger()


class Heartbeat:
    """Renews the lease, one row per process. If that fails for too long, jobs must be dropped.

    `on_lost` is called from the thread, once per loss, before another worker can take the jobs:
    on our own clock the lease ends one heartbeat earlier than on the database's.

    A heartbeat must not hide a stuck event loop. So each beat asks the loop to call back, through
    `call_in_loop`. If it does not for the length of a lease, `on_stuck` is called.
    """

    def __init__(
        self,
        dsn: str,
        *,
        worker_id: UUID,
        every: timedelta,
        stale_after: timedelta,
        slots: int,
        running: Callable[[], int],
        call_in_loop: Callable[[Callable[[], None]], object],
        on_lost: Callable[[], None],
        on_stuck: Callable[[], None],
    ) -> None:
        self._dsn = dsn
        self._worker_id = worker_id
        self._every = every.total_seconds()
        self._lease = (stale_after - every).total_seconds()
        self._slots = slots
        self._running = running
        self._call_in_loop = call_in_loop
        self._on_lost = on_lost
        self._on_stuck = on_stuck
        # Count beats, not time, because a process that was frozen as a whole is not stuck.
        self._unanswered = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._renewed = time.monotonic()
        self._conn: workers.SyncConnection | None = None
        self._shares_session = False
        self.draining = False
        self.is_alive = False

    def start(self) -> None:
        """Register the worker, then renew. Raises OperationalError without a database."""
        self._connect()
        self.is_alive = True
        self._thread.start()

    def stop(self) -> None:
        """Deregister the worker. Blocks until the thread has ended."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        with suppress(psycopg.Error):
            if self._conn is not None:
                with self._transaction(self._conn):
                    workers.deregister(self._conn, id=self._worker_id)
        self._close()

    def _run(self) -> None:
        pause = self._every
        while not self._stop.wait(pause):
            # Check before renewing: after a long stop (SIGSTOP, a frozen machine) other workers
            # may hold our jobs, even if the renewal now succeeds.
            self._check_lease()
            try:
                self._check_loop()
                self._renew()
                pause = self._every
            except Exception as error:
                # Catch everything: if the thread ended, nobody would notice a lost lease.
                log.warning("heartbeat.failed", error=type(error).__name__)
                self._close()
                self._check_lease()
                pause = min(1.0, self._every)

    def _check_lease(self) -> None:
        if self.is_alive and time.monotonic() - self._renewed > self._lease:
            self.is_alive = False
            log.error("heartbeat.lease_lost", worker_id=str(self._worker_id))
            self._on_lost()

    def _check_loop(self) -> None:
        self._unanswered += 1
        if self._unanswered * self._every > self._lease:
            log.error("heartbeat.loop_stuck", worker_id=str(self._worker_id))
            self._on_stuck()
        self._call_in_loop(self._answer)

    def _answer(self) -> None:
        self._unanswered = 0

    def _renew(self) -> None:
        started = time.monotonic()
        if self._conn is None:
            self._connect()
        else:
            self._beat(self._conn)
        self._renewed = started
        self.is_alive = True

    def _connect(self) -> None:
        self._conn = psycopg.connect(
            self._dsn,
            autocommit=True,
            connect_timeout=max(2, int(self._every)),
            prepare_threshold=None,
            application_name="rag-ingest heartbeat",
        )
        fix_isolation(self._conn)
        self._shares_session = pooling_of(self._conn, self._dsn).shares_sessions
        if not self._shares_session:
            begin_sync_session(self._conn)
        self._beat(self._conn)

    def _beat(self, conn: workers.SyncConnection) -> None:
        with self._transaction(conn):
            if not workers.renew(
                conn, id=self._worker_id, running=self._running(), draining=self.draining
            ):
                workers.register(
                    conn,
                    id=self._worker_id,
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    slots=self._slots,
                )

    @contextmanager
    def _transaction(self, conn: workers.SyncConnection) -> Iterator[None]:
        with conn.transaction():
            if self._shares_session:
                begin_sync_transaction(conn)
            # A hanging renewal must not outlast the lease unnoticed.
            limit = str(int(self._every * 1000))
            conn.execute("select set_config('statement_timeout', %s, true)", [limit])
            yield

    def _close(self) -> None:
        if self._conn is not None:
            with suppress(psycopg.Error):
                self._conn.close()
            self._conn = None
