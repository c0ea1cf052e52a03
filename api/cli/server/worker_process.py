"""Run a worker in this process until a signal or its parent ends it, or run the migrations.

Without FastAPI, whose import takes as long as all the rest: only a worker with a port needs it.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from threading import Thread

import structlog
import typer

from api.cli.exits import FAILED
from api.cli.output import out, print_error, print_json
from api.cli.server.listen_socket import bind_socket, local_url
from api.cli.server.shutdown import StopRequest
from api.cli.server.startup import handle_signals, prepare, run
from api.worker_processes.order import READY, WorkerOrder
from ingest.errors import NoConnections
from ingest.observability.metrics import REGISTRY, exposition
from ingest.observability.tracing import exported
from ingest.parent_death import die_with
from ingest.runtime import Runtime, database, open_runtime
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare


def run_worker(*, as_json: bool) -> None:
    """Run until a signal. Raises SetupError."""
    settings = prepare()
    with (
        handle_signals() as stop,
        _worker_port(settings) as listener,
        exported(),
        database(settings, join=True) as dsn,
    ):
        run(_work(settings, dsn, listener, stop, as_json=as_json))


def run_migrations(*, as_json: bool) -> None:
    """Run the pending migrations. Raises SetupError."""
    with handle_signals(), database(prepare(), join=True):
        if as_json:
            print_json({"migrated": True})
        else:
            out().print("the database is up to date")


def _worker_port(settings: Settings) -> AbstractContextManager[socket.socket | None]:
    if settings.worker_port is None:
        return nullcontext()
    return bind_socket(settings.host, settings.worker_port, variable="INGEST_WORKER_PORT")


def run_worker_process(channel: int) -> None:
    """Run as one of the worker processes of `ingest serve`, which is at the end of a socket.

    `channel`: the descriptor of the socket (api/worker_processes/order.py). Raises SetupError.
    """
    parent = socket.socket(fileno=channel)
    parent.set_inheritable(False)  # it must end with us, not with our parsers
    order = WorkerOrder.receive(parent)
    if order is None:  # the parent has ended already
        return
    die_with(order.parent)
    Thread(target=_answer, args=[parent], name="parent", daemon=True).start()
    settings = prepare()
    # Its lines are among those of the others.
    structlog.contextvars.bind_contextvars(pid=os.getpid())
    try:
        with handle_signals(repeats_exit=False) as stop, exported():
            run(_work_for(parent, settings, order, stop))
    except NoConnections as error:
        print_error(str(error))
        raise typer.Exit(FAILED) from None  # it may pass: our parent tries again


def _answer(parent: socket.socket) -> None:
    """Answer requests for metrics until the parent has ended; then exit at once.

    In a thread: a busy event loop must not hide what it is busy with.
    """
    with suppress(OSError):
        while requests := parent.recv(4096):
            for _ in range(requests.count(b"\n")):
                text = exposition(REGISTRY)
                parent.sendall(b"%d\n%b" % (len(text), text))
    os._exit(os.EX_UNAVAILABLE)


async def _work_for(
    parent: socket.socket, settings: Settings, order: WorkerOrder, stop: StopRequest
) -> None:
    share = WorkerShare(slots=order.slots, parsers=order.parsers)
    opened = open_runtime(
        settings, order.dsn, work=True, serve=False, share=share, worker_id=order.worker_id
    )
    async with opened:
        stopped = _stopped(stop)
        parent.sendall(READY)
        await stopped.wait()


async def _work(
    settings: Settings,
    dsn: str,
    listener: socket.socket | None,
    stop: StopRequest,
    *,
    as_json: bool,
) -> None:
    async with open_runtime(settings, dsn, work=True, serve=False) as runtime:
        stopped = _stopped(stop)
        async with _metrics_server(runtime, listener):
            _print_ready(settings, listener, as_json=as_json)
            await stopped.wait()


def _stopped(stop: StopRequest) -> asyncio.Event:
    """An event that the first signal sets."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def set_it() -> None:
        loop.call_soon_threadsafe(stopped.set)  # a signal alone does not wake the event loop

    stop.on_stop(set_it)
    return stopped


@asynccontextmanager
async def _metrics_server(runtime: Runtime, listener: socket.socket | None) -> AsyncIterator[None]:
    """Serve the metrics and health of the worker, if a port is set for them."""
    if listener is None:
        yield
        return
    from api.cli.server.http_server import HttpServer
    from api.worker_app import create_worker_app

    is_ready = asyncio.Event()
    server = HttpServer(create_worker_app(runtime), ready=is_ready.set)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="worker port")
    try:
        await is_ready.wait()
        yield
    finally:
        server.request_stop()
        await serving


def _print_ready(settings: Settings, listener: socket.socket | None, *, as_json: bool) -> None:
    url = None if listener is None else local_url(listener)
    if as_json:
        print_json({"ready": True} | ({} if url is None else {"url": url}))
        return
    at = "" if url is None else f"; metrics and health at {url}"
    out().print(f"the worker is ready: up to {settings.worker_concurrency} jobs at a time{at}")
