"""A single run: this project's API with a real worker, or the bare server."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.core.postgres import Server
from benchmarks.core.processes import own_cpu_seconds, resident_bytes
from benchmarks.live.audience import Heard, Piped, clients, heard, piped
from benchmarks.live.sources import Script, add_sources, set_members, told, wait_until_opened
from harness.service import KEY, Service, free_port, services


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    sources: int
    files: int
    """Files per source."""
    clients: int
    """Clients per source."""
    per_minute: int | None
    """Files that the worker may start per minute; None: no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    heard: Heard
    cpu_seconds: float
    """CPU time of the server process, from the first file to the last event."""
    bytes_per_client: float
    """Growth of the server process per client when the clients connected."""

    @property
    def cpu_per_thousand(self) -> float:
        """Milliseconds of CPU time per 1,000 deliveries."""
        return self.cpu_seconds * 1e6 / self.heard.deliveries


class Installation:
    """This project: `ingest api` and `ingest worker`."""

    def __init__(self, dsn: str, api: Service, worker: Service) -> None:
        self.api = api
        self._dsn = dsn
        self._worker = worker

    def measure(self, load: Load) -> tuple[Measured, Script]:
        """Measure one run; also returns the events, for the bare server to send.

        The archives are unpacked and the clients have subscribed before the first file starts.
        """
        set_members(self.api, isPaused=True, ratePerMinute=load.per_minute)
        ids = add_sources(self.api, count=load.sources, files=load.files)
        wait_until_opened(self._dsn, ids)
        audience = _audience(self.api.port, self.api.process.pid, ids * load.clients)
        with audience as connected:
            set_members(self.api, isPaused=False)
            measured = connected.until_done()
        script = told(self._dsn, measured.heard.began)
        # Each client has checked that its numbers have no gap, so these are all events.
        assert measured.heard.deliveries == len(script.events) * load.clients
        return measured, script

    def stop_working(self) -> None:
        self._worker.end()


@contextmanager
def installation(server: Server, **settings: str) -> Iterator[Installation]:
    with (
        server.database("live", migrated=True) as dsn,
        tempfile.TemporaryDirectory() as data,
        services(data=Path(data), env={"DATABASE_URL": dsn, **settings}) as start,
    ):
        api = start("api").wait_until_ready()
        yield Installation(dsn, api, start("worker"))


def of_bare_server(load: Load, script: Script) -> Measured:
    """The same frames at the same times, from a server that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.json"
        file.write_bytes(script.as_json())
        port = free_port()
        with piped("bare_server", str(port), str(file)) as bare:
            assert bare.line() == "ready"
            with _audience(port, bare.pid, [*script.began] * load.clients) as audience:
                bare.say("begin")
                measured = audience.until_done()
    assert measured.heard.deliveries == len(script.events) * load.clients
    return measured


class _Audience:
    """Connected clients, and the CPU time of their server since then."""

    def __init__(self, process: Piped, server_pid: int, *, bytes_per_client: float) -> None:
        self._process = process
        self._server_pid = server_pid
        self._bytes_per_client = bytes_per_client
        self._before = own_cpu_seconds(server_pid)

    def until_done(self) -> Measured:
        assert self._process.line() == "done"
        used = own_cpu_seconds(self._server_pid) - self._before
        return Measured(
            heard=heard(self._process),
            cpu_seconds=used,
            bytes_per_client=self._bytes_per_client,
        )


@contextmanager
def _audience(port: int, server_pid: int, sources: Sequence[str]) -> Iterator[_Audience]:
    before = resident_bytes(server_pid)
    headers = {"Authorization": f"Bearer {KEY}"}
    url = f"ws://127.0.0.1:{port}/api/ws"
    with clients(url, headers=headers, sources=sources) as process:
        grown = resident_bytes(server_pid) - before
        yield _Audience(process, server_pid, bytes_per_client=grown / len(sources))
