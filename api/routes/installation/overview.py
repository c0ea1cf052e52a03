"""The state of an application's work, in one answer."""

from fastapi import Request

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import PoolDep, RuntimeDep, Viewer
from api.middleware.in_use import in_use_of
from api.routes.installation.usage import UsageView, usage_of
from ingest.postgres.database import transaction
from ingest.store.limits import worker_config
from ingest.store.overview import counts
from ingest.store.overview.counts import BoundedCount, JobCounts, LaneView
from ingest.store.queue import workers
from ingest.store.view import View

router = KeyedRouter(prefix="/api/overview", tags=["management"])

# The rest of the failures are in `failed`.
_CODES = 20


class WaitingView(BoundedCount):
    """Jobs that cannot start now."""

    reason: str
    """`paused`, `max_concurrent`, `rate_limited`, `retry`, `scheduled`, `budget_exceeded`, or
    another reason of a handler, such as `pages`: it waits for its pages."""


class FailureView(BoundedCount):
    """`isMore`: only the newest 10,000 failures were counted."""

    code: str


class PausedType(View):
    type: str
    is_enabled: bool
    """False: disabled, not only paused."""


class WorkersView(View):
    """Workers of the installation, by their heartbeats."""

    alive: int
    draining: int
    silent_seconds: float | None
    """Since a worker was last alive; null: none ever was."""


class OverviewView(View):
    """Counts of jobs stop at 10,000."""

    ready: BoundedCount
    """Jobs that wait for a free worker."""
    running: BoundedCount
    waiting: list[WaitingView]
    """Largest count first."""
    failed: BoundedCount
    """Jobs that have failed within the last 24 hours, and were not retried since."""
    failures: list[FailureView]
    """The same by error code, largest count first, up to 20; of more than 10,000, the newest."""
    review_needed: BoundedCount
    oldest_ready_seconds: float | None
    """Age of the oldest job that waits for a free worker or a limit; null: there is none."""
    is_paused: bool
    """The operator has paused all work."""
    paused_types: list[PausedType]
    lanes: list[LaneView]
    """Providers that are paused or failing, whichever application uses them."""
    workers: WorkersView
    usage: UsageView


@router.get("")
async def get_overview(
    request: Request, runtime: RuntimeDep, pool: PoolDep, key: Viewer
) -> OverviewView:
    """What the application's jobs are doing, what holds them up, and what it uses.

    Costs the same with any number of jobs.
    """
    settings = runtime.settings
    async with transaction(pool) as conn:
        found = await counts.read(conn, key.application_id)
        lanes = await counts.lanes(conn)
        config = await worker_config.get(conn)
        alive = await workers.summary(conn, stale_after=settings.stale_after)
        used = await usage_of(conn, key.application_id, settings.quotas, in_use_of(request))
    return OverviewView(
        ready=BoundedCount.of(found.ready),
        running=BoundedCount.of(found.running),
        waiting=_waiting(found),
        failed=BoundedCount.of(found.failed),
        failures=[
            FailureView(
                code=each.code, count=each.jobs, is_more=found.failed > counts.LARGEST_COUNT
            )
            for each in found.failures[:_CODES]
        ],
        review_needed=BoundedCount.of(found.reviews),
        oldest_ready_seconds=found.oldest_seconds,
        is_paused=config.paused,
        paused_types=[
            PausedType(type=each.type, is_enabled=each.is_enabled)
            for each in found.types
            if each.is_paused or not each.is_enabled
        ],
        lanes=[_shown(lane, key) for lane in lanes],
        workers=WorkersView(
            alive=alive.alive, draining=alive.draining, silent_seconds=alive.silent_seconds
        ),
        usage=used,
    )


def _waiting(found: JobCounts) -> list[WaitingView]:
    bounded = {reason: BoundedCount.of(jobs) for reason, jobs in found.by_reason().items()}
    views = [
        WaitingView(reason=reason, count=jobs.count, is_more=jobs.is_more)
        for reason, jobs in bounded.items()
    ]
    return sorted(views, key=lambda view: (-view.count, view.reason))


def _shown(lane: LaneView, key: Key) -> LaneView:
    """Which keys and endpoints the installation uses is the operator's business."""
    if key.is_operator:
        return lane
    return lane.model_copy(update={"lane": lane.lane.partition("#")[0].partition("@")[0]})
