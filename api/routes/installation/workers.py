"""The workers of the installation."""

from uuid import UUID

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, RuntimeDep, Viewer
from api.schema import pagination
from api.schema.pagination import Cursor, Limit, Page
from ingest.postgres.database import transaction
from ingest.store.queue import workers
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/workers", tags=["management"])


class WorkerView(View):
    id: UUID
    host: str | None
    """Only for the operator, as is `pid`."""
    pid: int | None
    started_at: UtcTime
    heartbeat_at: UtcTime
    silent_seconds: float
    """Since its last heartbeat."""
    is_alive: bool
    """False: silent for INGEST_STALE_AFTER, so that its jobs go back to the queue."""
    is_draining: bool
    """It is stopping: it runs its jobs to the end and starts no others."""
    running: int
    """Jobs that it runs, of all applications."""
    slots: int | None
    """Jobs that it runs at once, apart from the reserve; null: a worker of an earlier version."""


@router.get("")
async def list_workers(
    runtime: RuntimeDep, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[WorkerView]:
    """Workers of the last day, newest first. All applications share them."""
    async with transaction(pool) as conn:
        rows = await workers.list_workers(
            conn,
            stale_after=runtime.settings.stale_after,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    views = [WorkerView.model_validate(row) for row in rows]
    if not key.is_operator:
        views = [view.model_copy(update={"host": None, "pid": None}) for view in views]
    return pagination.page(views, limit, key=lambda view: (view.started_at, view.id))
