"""Run the service in this process: HTTP API, worker, database, until a signal ends it."""

import asyncio
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from pathlib import Path
from typing import Final

import typer
import uvicorn
from fastapi import FastAPI
from rich.text import Text

from api.cli import local
from api.cli.bound import bound, url_of
from api.cli.output import out, print_json
from api.cli.stopping import StopRequest, stop_request
from api.live import LARGEST_MESSAGE
from api.logging import set_up_logging
from api.main import create_app
from api.worker_app import create_worker_app
from ingest.config import Settings, load_settings
from ingest.runtime import Runtime, database, open_runtime
from ingest.tracing import exported

# For requests that are being answered at a stop; streams, which never end, are cut off then.
_GRACE_SECONDS: Final = 5
_BACKLOG: Final = 2048
_INTERRUPTED: Final = 130


def run_api(*, join: bool, work: bool | None, as_json: bool) -> None:
    """Serve HTTP until a signal; with `work` a worker too, None: as INGEST_WORKER says.

    Without `join`, an embedded database that another process holds is an error. Raises SetupError.
    """
    settings = _prepare()
    work = settings.worker if work is None else work
    # The port first: to find it taken must not cost the start of a database.
    with (
        _stoppable() as stop,
        bound(settings.host, settings.port, variable="INGEST_PORT") as listener,
        exported(),
        database(settings, join=join) as dsn,
    ):
        asyncio.run(_serve(settings, dsn, listener, stop, work=work, as_json=as_json))


def run_worker(*, as_json: bool) -> None:
    """Work until a signal. Raises SetupError."""
    settings = _prepare()
    with (
        _stoppable() as stop,
        _worker_port(settings) as listener,
        exported(),
        database(settings, join=True) as dsn,
    ):
        asyncio.run(_work(settings, dsn, listener, stop, as_json=as_json))


def run_migrations(*, as_json: bool) -> None:
    """Bring the database up to date. Raises SetupError."""
    with _stoppable(), database(_prepare(), join=True):
        if as_json:
            print_json({"migrated": True})
        else:
            out().print("the database is up to date")


def _prepare() -> Settings:
    settings = load_settings()
    set_up_logging(settings)
    return settings


@contextmanager
def _stoppable() -> Iterator[StopRequest]:
    """Signals under control; one that comes before the service runs ends the command quietly."""
    with stop_request() as stop:
        try:
            yield stop
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None


async def _serve(
    settings: Settings,
    dsn: str,
    listener: socket.socket,
    stop: StopRequest,
    *,
    work: bool,
    as_json: bool,
) -> None:
    # The runtime is opened here and not by the application, so what is wrong with the set-up is
    # one line and not a traceback in a log, and the worker ends after the last request.
    async with open_runtime(settings, dsn, work=work) as runtime:
        with ExitStack() as announcement:

            def ready() -> None:
                url = url_of(listener)
                announcement.enter_context(local.announced(settings.data_dir, url))
                _greet(runtime, url, work=work, as_json=as_json)

            server = _Server(create_app(lambda: nullcontext(runtime)), ready=ready)
            stop.instead(server.ask_to_stop)
            await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Uvicorn, with our handling of signals; calls `ready` when it answers."""

    def __init__(self, app: FastAPI, *, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                backlog=_BACKLOG,
                ws_ping_interval=20,
                ws_max_size=LARGEST_MESSAGE,
                # Else each event would be compressed once for every socket.
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._ready = ready

    def ask_to_stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        # The base class is decorated with contextmanager, whose type is narrower than its use.
        return nullcontext()


def _worker_port(settings: Settings) -> AbstractContextManager[socket.socket | None]:
    if settings.worker_port is None:
        return nullcontext()
    return bound(settings.host, settings.worker_port, variable="INGEST_WORKER_PORT")


async def _work(
    settings: Settings,
    dsn: str,
    listener: socket.socket | None,
    stop: StopRequest,
    *,
    as_json: bool,
) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask_to_stop() -> None:
        loop.call_soon_threadsafe(stopped.set)  # a signal does not wake the loop by itself

    async with open_runtime(settings, dsn, work=True, serve=False) as runtime:
        stop.instead(ask_to_stop)
        async with _observable(runtime, listener):
            _tell_ready(settings, listener, as_json=as_json)
            await stopped.wait()


@asynccontextmanager
async def _observable(runtime: Runtime, listener: socket.socket | None) -> AsyncIterator[None]:
    """Answer for the worker's metrics and health, where it has a port for them."""
    if listener is None:
        yield
        return
    answers = asyncio.Event()
    server = _Server(create_worker_app(runtime), ready=answers.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="worker port")
    try:
        await answers.wait()
        yield
    finally:
        server.ask_to_stop()
        await serving


def _tell_ready(settings: Settings, listener: socket.socket | None, *, as_json: bool) -> None:
    url = None if listener is None else url_of(listener)
    if as_json:
        print_json({"ready": True} | ({} if url is None else {"url": url}))
        return
    at = "" if url is None else f"; metrics and health at {url}"
    out().print(f"the worker is ready, {settings.worker_concurrency} jobs at a time{at}")


def _greet(runtime: Runtime, url: str, *, work: bool, as_json: bool) -> None:
    """Where it is, the key, and what to type next."""
    settings = runtime.settings
    is_ours = settings.admin_key is None
    file = local.key_file(settings.data_dir).absolute()
    if as_json:
        key = {"key": runtime.operator_key, "keyFile": str(file)} if is_ours else {}
        print_json({"url": url, "worker": work, **key})
        return
    command = _typed()
    console = out()
    console.print(Text(f"rag-ingest is ready: {url}   (API: {url}/docs)"))
    if is_ours:
        console.print(Text(f"  key   {runtime.operator_key}"))
        console.print(Text(f"        kept in {file}; commands in this folder find it there"))
    else:
        console.print(Text("  key   the value of INGEST_ADMIN_KEY"))
    if not work:
        console.print(Text(f"  work  is done by other processes: {command} worker"))
    console.print(Text(f"  next  {command} upload FOLDER"))
    sys.stdout.flush()


def _typed() -> str:
    """The command as it was typed: `ingest`, or with the way to its environment."""
    name = sys.argv[0]
    return shlex.quote(name) if Path(name).name == "ingest" else "ingest"
