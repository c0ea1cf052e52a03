"""When pages and sites are fetched again: by schedules of their own, nightly, and by ticks."""

from datetime import datetime, timedelta
from typing import Annotated, Final

from fastapi import Query

from api.authenticated_route import KeyedRouter
from api.dependencies import Operator, PoolDep, Reader, RuntimeDep
from api.schema import pagination, schedules
from api.schema.json_model import Text
from api.schema.pagination import Cursor, Limit, Page
from api.schema.schedules import Schedule
from ingest.postgres.database import transaction
from ingest.scheduling import recurrence
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl import crawl_views
from ingest.store.crawl.crawl_views import ScheduledSource
from ingest.store.limits import schedules as firings
from ingest.store.limits.schedules import LastFiring
from ingest.store.sources.source_views import ScheduleView
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/schedules", tags=["knowledge sources"])

_SHOWN: Final = 3


class NextTimes(View):
    next: list[UtcTime]
    """The next times, in order. A run starts up to half an hour later: sources are spread out."""


class Nightly(NextTimes):
    schedule: ScheduleView | None
    """When all sources without a schedule of their own are fetched; null: never."""


class Ticks(View):
    items: list[LastFiring]


@router.get("")
async def list_schedules(
    pool: PoolDep, key: Reader, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[ScheduledSource]:
    """Pages and sites with a schedule of their own, the next one first."""
    async with transaction(pool) as conn:
        rows = await crawl_views.list_scheduled(
            conn,
            application_id=key.application_id,
            limit=limit + 1,
            after=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.next_rescrape_at, row.id))


@router.get("/next")
async def preview_schedule(
    pool: PoolDep,
    key: Reader,
    *,
    cron: Annotated[
        Text, Query(min_length=1, max_length=recurrence.MAX_LENGTH, description="5 or 6 fields")
    ],
    timezone: Annotated[Text, Query(min_length=1, max_length=100)] = "UTC",
) -> NextTimes:
    """The next times of a schedule, before it is saved."""
    schedule = schedules.parse(Schedule(cron=cron, timezone=timezone), loc=("query",))
    async with transaction(pool) as conn:
        now = await firings.now(conn)
    return NextTimes(next=_next_times(schedule, now))


@router.get("/nightly")
async def get_nightly(runtime: RuntimeDep, pool: PoolDep, key: Reader) -> Nightly:
    """When sources without a schedule of their own are fetched again (INGEST_RESCRAPE)."""
    cron = runtime.settings.nightly
    if cron is None:
        return Nightly(schedule=None, next=[])
    async with transaction(pool) as conn:
        now = await firings.now(conn)
    schedule = Recurrence(cron=cron, timezone="UTC")
    return Nightly(
        schedule=ScheduleView(cron=cron, timezone="UTC"), next=_next_times(schedule, now)
    )


@router.get("/ticks")
async def list_ticks(pool: PoolDep, key: Operator) -> Ticks:
    """The latest firing of each tick that one worker runs for all, within the last week."""
    async with transaction(pool) as conn:
        return Ticks(items=await firings.last_firings(conn))


def _next_times(schedule: Recurrence, now: datetime) -> list[datetime]:
    times: list[datetime] = []
    while len(times) < _SHOWN:
        after = times[-1] if times else now
        times.append(recurrence.next_run(schedule, after=after, jitter=timedelta(0)))
    return times
