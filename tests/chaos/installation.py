"""The installation under test: Postgres, API, workers, and all that they talk to."""

import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, LiteralString

import httpx
import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from harness.database import Database, migrated
from harness.patience import PATIENCE
from harness.postgres import postgres_in
from harness.proxy import Proxy
from harness.service import until
from ingest.postgres.embedded.host import Account
from tests.chaos import host
from tests.chaos.outside import Receiver, Site
from tests.chaos.plan import Plan
from tests.chaos.process import Process
from tests.chaos.provider import MoodyProvider
from tests.servers.firecrawl_server import FirecrawlServer, firecrawl_server

_SETTINGS: Final = {
    "INGEST_CRAWLER": "builtin",
    "INGEST_HEARTBEAT": "0.5",
    "INGEST_STALE_AFTER": "4",
    "INGEST_TICK": "*/2 * * * * *",
    "INGEST_WORKER_CONCURRENCY": "8",
    "INGEST_REQUESTS_PER_MINUTE": "0",
    "INGEST_PARSER_TIMEOUT": "5",
    "INGEST_FETCH_ALLOW": "127.0.0.0/8,localhost",
    "INGEST_FETCH_TIMEOUT": "5",
    "INGEST_CRAWL_DELAY": "0.02",
    "INGEST_CRAWL_POLL": "1",
    "INGEST_CRAWL_SILENCE": "60",
    "INGEST_RESCRAPE": "off",
    "INGEST_CHUNK_TOKENS": "64",
    "INGEST_CHUNK_OVERLAP": "0",
    "INGEST_OCR": "off",
    "INGEST_DISK_RESERVE": "1000000",  # the disks of a round are small
}


class Postgres(Database):
    """A server that can be crashed, whose clock can be set, and that is asked around all faults."""

    def __init__(self, folder: Path, *, has_clock: bool) -> None:
        """has_clock: `shift_clock` has an effect; it costs time."""
        shutil.copytree(migrated(), folder, dirs_exist_ok=True)
        self.is_frozen = False
        self._conn = None
        self._clock = folder.parent / "clock"
        self._shift = 0
        self.shift_clock(0)
        self._server = postgres_in(folder)
        if has_clock and host.FAKETIME is not None:
            self._preload(folder.parent / "bin", host.FAKETIME)
        self.dsn = self._server.start()

    def _preload(self, folder: Path, library: Path) -> None:
        """Let the server start with libfaketime: not by our environment, which it does not get.

        Without a cache, because its processes share one clock: all of them jump at once.
        """
        find = self._server._binaries
        folder.mkdir()
        folder.chmod(0o755)
        program = folder / "postgres"

        def wrapped(account: Account) -> Path:
            program.write_text(
                f"#!/bin/sh\nLD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={self._clock} "
                "FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 "
                f'exec {find(account)}/postgres "$@"\n'
            )
            program.chmod(0o755)
            return folder

        self._server._binaries = wrapped  # type: ignore[method-assign]  # of this object only

    def shift_clock(self, seconds: int) -> None:
        """By so much more, for good."""
        self._shift += seconds
        self._clock.write_text(f"{self._shift:+d}")
        self._clock.chmod(0o644)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._server._server is not None
        return self._server._server

    @property
    def is_up(self) -> bool:
        return self._server._server is not None and self._server._server.poll() is None

    def crash(self) -> None:
        """As `pg_ctl stop -m immediate`: nothing is flushed, the next start recovers."""
        if self.is_up:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)

    def revive(self) -> None:
        """Start it if it is down; a start fails as long as its disk is full."""
        if not self.is_up:
            self.stop()
            self.start()

    def ask(self, query: LiteralString, *values: Any) -> list[Any]:
        """Like `rows`, but nothing while the server does not answer."""
        if self.is_frozen:
            return []
        try:
            return self.rows(query, *values)
        except psycopg.Error:
            if self._conn is not None:
                self._conn.close()
            return []


@dataclass(kw_only=True)
class Installation:
    plan: Plan
    folder: Path
    mounts: bool
    """Whether blobs and database are on small disks of their own."""
    postgres: Postgres
    provider: MoodyProvider
    site: Site
    receiver: Receiver
    firecrawl: FirecrawlServer
    disk: Path
    """Holds blobs and temporary files of all processes."""
    database_disk: Path
    processes: list[Process] = field(default_factory=list)
    exits: Counter[str] = field(default_factory=Counter)
    """Processes that ended by themselves, by command and exit code."""
    refused_for_space: int = 0
    """Answers to clients that said that the disk is full."""

    @property
    def api(self) -> Process:
        return self.processes[0]

    @property
    def workers(self) -> list[Process]:
        return self.processes[1:]

    @property
    def blobs(self) -> Path:
        return self.disk / "blobs"

    @property
    def temporary(self) -> Path:
        return self.disk / "tmp"

    def start(self, command: str, **env: str) -> Process:
        target = conninfo_to_dict(self.postgres.dsn)
        socket = Path(str(target["host"])) / f".s.PGSQL.{target['port']}"
        proxy = Proxy(socket)
        dsn = make_conninfo(
            self.postgres.dsn, host="127.0.0.1", port=proxy.port, sslmode="disable",
            gssencmode="disable",
        )  # fmt: skip
        settings = {
            **self.provider.env(),
            **self.firecrawl.env(),
            **_SETTINGS,
            "DATABASE_URL": dsn,
            "INGEST_STORAGE": f"file://{self.blobs}",
            "TMPDIR": str(self.temporary),
            **env,
        }
        process = Process(command, data=self.folder / "data", env=settings, proxy=proxy)
        self.processes.append(process)
        return process

    def tend(self) -> None:
        """Start again what ended, as systemd or Kubernetes would."""
        now = time.monotonic()
        for process in self.processes:
            code = process.process.poll()
            if code is None or process.is_down:
                continue
            if not process.restart_at:
                self.exits[f"{process.command} {code}"] += 1
                process.restart_at = now + 0.5
            elif now >= process.restart_at:
                process.restart()

    def close(self) -> None:
        for process in self.processes:
            process.end()
            process.proxy.close()
        self.postgres.stop()

    def is_ready(self) -> bool:
        """Whether the API answers and all workers are alive; `tend` starts those that ended."""
        self.tend()
        alive = {pid for (pid,) in self.postgres.ask(_ALIVE)}
        if not alive >= {worker.process.pid for worker in self.workers}:
            return False
        try:
            return self.api.http.get("/readyz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False


_ALIVE: Final = "select pid from rag.workers where heartbeat_at > now() - interval '3 seconds'"


@contextmanager
def installation(plan: Plan, folder: Path, *, mounts: bool) -> Iterator[Installation]:
    """Everything started and ready; all of it is ended and removed after the block."""
    (folder / "data").mkdir()
    with ExitStack() as stack:
        disk = stack.enter_context(host.small_disk(folder / "disk", megabytes=48, mount=mounts))
        database_disk = stack.enter_context(
            host.small_disk(folder / "database", megabytes=600, mount=mounts)
        )
        (disk / "tmp").mkdir()
        provider = MoodyProvider()
        stack.callback(provider.close)
        threading.Thread(target=provider.serve, daemon=True).start()
        site, receiver = Site(), Receiver()
        stack.callback(site.close)
        stack.callback(receiver.close)
        made = Installation(
            plan=plan,
            folder=folder,
            mounts=mounts,
            postgres=Postgres(
                database_disk / "server",
                has_clock=any(fault.kind.startswith("postgres clock") for fault in plan.faults),
            ),
            provider=provider,
            site=site,
            receiver=receiver,
            firecrawl=stack.enter_context(firecrawl_server()),
            disk=disk,
            database_disk=database_disk,
        )
        stack.callback(made.close)
        made.start("api")
        public = made.api.url
        for _ in range(plan.workers):
            made.start("worker", INGEST_PUBLIC_URL=public)
        until(made.is_ready, every=0.1)
        yield made


def keep_logs(folder: Path, target: Path) -> None:
    """Copy logs of services and of Postgres where they outlive the run."""
    target.mkdir(parents=True, exist_ok=True)
    for log in (*folder.glob("data/*.log"), *folder.glob("database/server/postgres/log*")):
        name = log.name if log.suffix == ".log" else f"postgres.{log.name}"
        with suppress(OSError):
            shutil.copy(log, target / name)
