"""`ingest serve`, `api`, `worker` and `migrate`: the processes of the service."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

# Imported by the commands that need it: importing the service takes seconds, and `ingest search`
# does without.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document when it is ready")]


@contextmanager
def _fast_imports() -> Iterator[None]:
    """Import faster: garbage collection takes a fifth of the time and finds almost nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def serve(*, as_json: Json = False) -> None:
    """Run everything: HTTP API, worker and, unless DATABASE_URL is set, Postgres itself."""
    with _fast_imports():
        from api.cli.server import api_process

    api_process.run_api(join=False, work=None, as_json=as_json)


def api(*, as_json: Json = False) -> None:
    """Run the HTTP API without a worker; any number of processes may share a database."""
    with _fast_imports():
        from api.cli.server import api_process

    api_process.run_api(join=True, work=False, as_json=as_json)


def worker(*, as_json: Json = False) -> None:
    """Run a worker without the HTTP API; any number of processes may share a database."""
    with _fast_imports():
        from api.cli.server import worker_process

    worker_process.run_worker(as_json=as_json)


def worker_process(channel: int) -> None:
    """Run a worker for `ingest serve`, which starts it."""
    with _fast_imports():
        from api.cli.server import worker_process

    worker_process.run_worker_process(channel)


def migrate(*, as_json: Json = False) -> None:
    """Run pending database migrations and exit."""
    with _fast_imports():
        from api.cli.server import worker_process

    worker_process.run_migrations(as_json=as_json)
