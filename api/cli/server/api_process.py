"""Run the service in this process: HTTP API, worker, database, until a signal ends it."""

import shlex
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path

from rich.text import Text

from api.cli import data_folder
from api.cli.output import out, print_json
from api.cli.server.http_server import HttpServer
from api.cli.server.listen_socket import bind_socket, local_url
from api.cli.server.shutdown import StopRequest
from api.cli.server.startup import handle_signals, prepare, run
from api.dashboard.pages import STATIC
from api.main import create_app
from api.worker_processes.supervisor import WorkerProcesses
from ingest.machine import processors, total_memory
from ingest.observability.tracing import exported
from ingest.postgres.database import transaction
from ingest.runtime import Runtime, database, open_runtime
from ingest.runtime_parts import connections_of
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare, worker_shares
from ingest.store.tenants import applications, sessions


def run_api(*, join: bool, work: bool | None, as_json: bool) -> None:
    """Serve HTTP until a signal. `work`: also run a worker; None: INGEST_WORKER decides.

    Without `join`, an embedded database that another process holds is an error. Raises SetupError.
    """
    settings = prepare()
    work = settings.worker if work is None else work
    shares = _worker_shares(settings) if work else ()
    # Bind the port first, so that a port in use is detected before a database is started.
    with (
        handle_signals() as stop,
        bind_socket(settings.host, settings.port, variable="INGEST_PORT") as listener,
        exported(),
        database(settings, join=join, more_connections=connections_of(shares)) as dsn,
    ):
        run(_serve(settings, dsn, listener, stop, work=work, shares=shares, as_json=as_json))


def _worker_shares(settings: Settings) -> Sequence[WorkerShare]:
    return worker_shares(settings, processors=processors(), memory=total_memory())


async def _serve(
    settings: Settings,
    dsn: str,
    listener: socket.socket,
    stop: StopRequest,
    *,
    work: bool,
    shares: Sequence[WorkerShare],
    as_json: bool,
) -> None:
    # The runtime is opened here and not by the application: so a setup error is one line and not a
    # logged traceback, and the worker ends after the last request.
    async with open_runtime(settings, dsn, work=work and not shares) as runtime:
        code = await _sign_in_code(runtime)
        processes = WorkerProcesses(
            shares, dsn=dsn, pool=runtime.pool, on_failed=lambda: server.request_stop()
        )
        with ExitStack() as announcement:

            def ready() -> None:
                url = local_url(listener)
                announcement.enter_context(data_folder.announced(settings.data_dir, url))
                _print_ready(runtime, url, code, work=work, shares=shares, as_json=as_json)

            app = create_app(
                lambda: nullcontext(runtime),
                has_docs=settings.docs,
                dashboard=STATIC if settings.dashboard else None,
                root_path=settings.root_path,
                worker_processes=processes if shares else None,
            )
            server = HttpServer(app, ready=ready)

            def request_stop() -> None:
                processes.expect_stop()
                server.request_stop()

            stop.on_stop(request_stop)
            async with processes:
                await server.serve(sockets=[listener])
        processes.raise_failure()


async def _sign_in_code(runtime: Runtime) -> str | None:
    """A code for the dashboard, if it will be read on a terminal; other people may read a log."""
    if not (sys.stdout.isatty() and runtime.settings.dashboard):
        return None
    async with transaction(runtime.pool) as conn:
        code, _ = await sessions.add_code(
            conn,
            application_id=await applications.default_id(conn),
            seal=runtime.operator_key.seal,
        )
    return code


def _print_ready(
    runtime: Runtime,
    url: str,
    code: str | None,
    *,
    work: bool,
    shares: Sequence[WorkerShare] = (),
    as_json: bool,
) -> None:
    """Print the URL, the key, and what to type next."""
    settings = runtime.settings
    is_generated = settings.admin_key is None
    # Do not print the key unless to a terminal: other people may read a log.
    shown = runtime.operator_key.current if sys.stdout.isatty() else None
    file = data_folder.key_file(settings.data_dir).absolute()
    if as_json:
        ready = {"url": url, "worker": work, "ocr": _ocr(runtime)}
        if shares:
            ready["workerProcesses"] = len(shares)
        if is_generated:
            ready |= {"keyFile": str(file)} | ({} if shown is None else {"key": shown})
        if code is not None:
            ready["signInUrl"] = f"{url}/#login={code}"
        print_json(ready)
        return
    command = _command_name()
    console = out()
    docs = f"   (API: {url}/docs)" if settings.docs else ""
    console.print(Text(f"rag-ingest is ready: {url}{docs}"))
    if code is not None:
        link = Text(f"  open  {url}/#login={code}   (signs in, once, within 10 minutes)")
        console.print(link, soft_wrap=True)
    if is_generated:
        if shown is not None:
            console.print(Text(f"  key   {shown}"))
        label = "        stored" if shown is not None else "  key   stored"
        console.print(Text(f"{label} in {file}, where commands run in this folder find it"))
    else:
        console.print(Text("  key   the value of INGEST_ADMIN_KEY"))
    if shares:
        console.print(Text(f"  work  in worker processes of its own: {len(shares)}"))
    elif not work:
        console.print(Text(f"  work  no worker in this process; start one with: {command} worker"))
    off = "off: text in images and scans is not read (docs/operations.md)"
    console.print(Text(f"  ocr   {_ocr(runtime) or off}"))
    console.print(Text(f"  next  {command} upload FOLDER"))
    sys.stdout.flush()


def _ocr(runtime: Runtime) -> str | None:
    """The engine that reads text in images, with its languages."""
    if runtime.ocr is None:
        return None
    return " ".join([runtime.ocr.engine, "+".join(runtime.ocr.languages)]).strip()


def _command_name() -> str:
    """The command to type: `ingest`, or the path by which it was called."""
    name = sys.argv[0]
    return shlex.quote(name) if Path(name).name == "ingest" else "ingest"
