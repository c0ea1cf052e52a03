"""Liveness and readiness, for operators. No key is needed."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Final, Literal

import psycopg
from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.dependencies import RuntimeDep
from api.problems import problem
from api.schema.openapi import Problem
from api.worker_processes.supervisor import WorkerProcesses
from ingest.model import SandboxMode
from ingest.postgres.database import Connection, is_timed_out, transaction
from ingest.postgres.listen import ListenerProblem
from ingest.postgres.migrations import load_migrations
from ingest.runtime import Runtime
from ingest.store.limits import provider_lanes, worker_config
from ingest.store.queue import queue_stats, workers
from ingest.store.queue.workers import Workers
from ingest.store.view import UtcTime, View

router = APIRouter(tags=["health"])

# A probe must fail before its caller gives up.
_PATIENCE_SECONDS: Final = 2.0


class Health(View):
    status: str


class MissingParser(View):
    """A module that is not installed."""

    module: str
    formats: list[str]
    """File name extensions that cannot be read without it."""


class Sandbox(View):
    """What confines the parser processes of this process (INGEST_SANDBOX)."""

    mode: SandboxMode
    landlock: int | None
    """The kernel's ABI version; null: not applied."""
    landlock_problem: str | None = None
    """Why not, as the system says it."""
    seccomp: bool


class ProviderFailure(View):
    """Why the embedding provider fails; meanwhile searches use keywords only, and files wait."""

    code: str
    http_status: int | None
    message: str
    since: UtcTime


class WorkerProcessesCheck(View):
    """The worker processes of `ingest serve` (INGEST_WORKER_PROCESSES)."""

    configured: int
    running: int
    """Those that are ready to work; the others start, or wait until they are started again."""
    restarts: int
    """How many have ended and were started again."""


class Checks(View):
    """What was checked; without a database, `database`, `listener` and `listener_problem` only."""

    database: bool
    pending_migrations: int = 0
    listener: bool
    """False while notifications do not arrive: polling then delivers all progress, but later."""
    listener_problem: ListenerProblem | None = None
    """Why not: no connection; one through a pooler in transaction mode, which delivers none (set
    INGEST_LISTEN_URL); or `not_delivered`: INGEST_LISTEN_URL may name another database."""
    workers: int | None = None
    """Workers with a live heartbeat, in all processes."""
    worker_silent_seconds: float | None = None
    """Since any worker was alive; null if none ever was."""
    jobs_unattended: bool = False
    """A job is ready and no worker is alive, both for at least INGEST_WORKER_SILENCE."""
    worker_processes: WorkerProcessesCheck | None = None
    """Null: this process has none."""
    paused: bool = False
    """An operator has paused the workers: see `ingest resume`, PUT /api/worker/config."""
    provider: ProviderFailure | None = None
    """Null while the embedding provider responds, or if it runs in this process."""
    low_disks: Sequence[str] = ()
    """Disks with less free space than INGEST_DISK_RESERVE, so that uploads are refused: `files`,
    `database`."""
    heartbeat: bool | None = None
    """Whether the heartbeat of this worker process is live. Null in other processes."""
    missing_parsers: Sequence[MissingParser] = ()
    """Modules that this process did not find when it started."""

    sandbox: Sandbox | None = None


class NotReady(Problem):
    checks: Checks


class Readiness(Checks):
    status: Literal["ready", "degraded"]
    """`degraded`: requests are served, but without listener, workers, provider or some parsers, or
    without room for uploads."""


@router.get("/healthz")
async def healthz() -> Health:
    """The process is alive."""
    return Health(status="ok")


@router.get(
    "/readyz",
    response_model=Readiness,
    responses={503: {"description": "The process cannot serve requests", "model": NotReady}},
)
async def readyz(request: Request, runtime: RuntimeDep) -> Readiness | Response:
    """Check that the database responds and has the schema that this version needs."""
    processes: WorkerProcesses | None = request.app.state.worker_processes
    return _readiness(await _check(runtime, processes=processes))


worker_router = APIRouter(tags=["health"])
worker_router.add_api_route("/healthz", healthz)


@worker_router.get("/readyz", response_model=Readiness)
async def worker_readyz(runtime: RuntimeDep) -> Readiness | Response:
    """As for the API; a worker process also needs a live heartbeat."""
    return _readiness(await _check(runtime, works=True))


def _readiness(checks: Checks) -> Readiness | Response:
    why = _why_not_ready(checks)
    if why is not None:
        return problem(503, code="not_ready", detail=why, checks=checks.model_dump(by_alias=True))
    processes = checks.worker_processes
    is_whole = (
        (processes is None or processes.running == processes.configured)
        and checks.listener
        and not checks.jobs_unattended
        and not checks.missing_parsers
        and not checks.low_disks
        and checks.provider is None
    )
    status: Literal["ready", "degraded"] = "ready" if is_whole else "degraded"
    return Readiness(**checks.model_dump(), status=status)


def _why_not_ready(checks: Checks) -> str | None:
    if not checks.database:
        return "the database is not available"
    if checks.pending_migrations:
        return "migrations are pending"
    if checks.heartbeat is False:
        return "the worker's heartbeat has stopped"
    return None


async def _check(
    runtime: Runtime, *, works: bool = False, processes: WorkerProcesses | None = None
) -> Checks:
    listener, problem = runtime.listener.is_connected, runtime.listener.problem
    try:
        async with transaction(runtime.pool, wait_seconds=_PATIENCE_SECONDS) as conn:
            pending = await _pending_migrations(conn)
            if pending:
                return Checks(
                    database=True,
                    pending_migrations=pending,
                    listener=listener,
                    listener_problem=problem,
                )
            state = await workers.summary(conn, stale_after=runtime.settings.stale_after)
            config = await worker_config.get(conn)
            unattended = await _is_unattended(conn, runtime, state)
            provider = await _provider(conn, runtime)
    except psycopg.OperationalError as error:
        # A slow statement is no reason to route requests elsewhere.
        return Checks(database=is_timed_out(error), listener=listener, listener_problem=problem)
    return Checks(
        database=True,
        listener=listener,
        listener_problem=problem,
        workers=state.alive,
        worker_silent_seconds=state.silent_seconds,
        jobs_unattended=unattended,
        worker_processes=processes and WorkerProcessesCheck(**asdict(processes.state)),
        paused=config.paused,
        provider=provider,
        low_disks=await runtime.disk.low(),
        heartbeat=state.is_here if works else None,
        missing_parsers=[
            MissingParser(module=item.module, formats=list(item.formats))
            for item in runtime.missing_parsers
        ],
        sandbox=Sandbox(
            mode=runtime.settings.sandbox,
            landlock=runtime.jail.landlock,
            landlock_problem=runtime.jail.landlock_problem,
            seccomp=runtime.jail.seccomp,
        ),
    )


async def _provider(conn: Connection, runtime: Runtime) -> ProviderFailure | None:
    state = None if runtime.lane is None else await provider_lanes.state(conn, runtime.lane)
    if state is None or state.failing_since is None or state.cause is None:
        return None
    return ProviderFailure(
        code=state.cause.code,
        http_status=state.cause.status,
        message=state.cause.message,
        since=state.failing_since,
    )


async def _is_unattended(conn: Connection, runtime: Runtime, state: Workers) -> bool:
    # No alarm for a job that was just queued while the service is scaled to zero.
    limit = runtime.settings.worker_silence
    silent = state.silent_seconds
    if silent is not None and silent < limit.total_seconds():
        return False
    age = await queue_stats.oldest_ready(conn)
    return age is not None and age >= limit


async def _pending_migrations(conn: Connection) -> int:
    try:
        applied = await worker_config.applied_migrations(conn)
    except psycopg.errors.UndefinedTable:
        applied = set()
    return len(_known_versions() - applied)


@cache
def _known_versions() -> frozenset[int]:
    return frozenset(migration.version for migration in load_migrations())
