"""Liveness and readiness, for those who run the service. No key is needed."""

from functools import cache

import psycopg
from fastapi import APIRouter
from fastapi.responses import Response

from api.deps import RuntimeDep
from api.problems import problem
from api.wire import View
from ingest.migrate import load_migrations
from ingest.runtime import Runtime
from ingest.store import worker_config

router = APIRouter(tags=["health"])

# A probe has to fail before whoever asks gives up.
_PATIENCE_SECONDS = 2.0


class Health(View):
    status: str


class Readiness(View):
    status: str
    database: bool
    pending_migrations: int
    listener: bool
    """False while notifications are out of reach: progress then comes by polling, late but all."""


@router.get("/healthz")
async def healthz() -> Health:
    """The process answers."""
    return Health(status="ok")


@router.get("/readyz", response_model=Readiness)
async def readyz(runtime: RuntimeDep) -> Readiness | Response:
    """The database answers and has the schema that this version needs."""
    state = await _state(runtime)
    if state.database and state.pending_migrations == 0:
        return state
    why = "migrations are pending" if state.database else "the database does not answer"
    checks = state.model_dump(by_alias=True, exclude={"status"})
    return problem(503, code="not_ready", detail=why, checks=checks)


async def _state(runtime: Runtime) -> Readiness:
    try:
        async with runtime.pool.connection(timeout=_PATIENCE_SECONDS) as conn:
            applied = await worker_config.applied_migrations(conn)
    except psycopg.errors.UndefinedTable:
        applied = set()
    except psycopg.OperationalError:
        applied = None
    pending = len(_known_versions() - applied) if applied is not None else 0
    return Readiness(
        status="ready",
        database=applied is not None,
        pending_migrations=pending,
        listener=runtime.listener.is_connected,
    )


@cache
def _known_versions() -> frozenset[int]:
    return frozenset(migration.version for migration in load_migrations())
