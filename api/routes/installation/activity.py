"""What was done when: ended attempts over time."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Query
from pydantic import AwareDatetime, Field

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, Viewer
from api.problems import FieldRejected
from api.schema.openapi import problems
from ingest.postgres.database import transaction
from ingest.store.overview import activity
from ingest.store.overview.activity import Activity
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/activity", tags=["management"])

_DEFAULT_RANGE: Final = timedelta(hours=1)
_LONGEST: Final = timedelta(days=400)
_MOST_STEPS: Final = 1500
# A chart has about a hundred bars.
_USUAL_STEPS: Final = 100
_STEPS: Final = tuple(
    timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60)
)
_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(3000, 1, 1, tzinfo=UTC)

Step = Annotated[int, Query(ge=60, le=86400, multiple_of=60, description="In seconds")]


class ActivityView(View):
    start: UtcTime = Field(serialization_alias="from")
    """Where the first step begins: at a multiple of the step since 1970."""
    to: UtcTime
    step_seconds: int
    items: list[Activity]
    """By start and outcome; steps in which nothing ended are left out."""


@router.get("", responses=problems(422))
async def get_activity(
    pool: PoolDep,
    key: Viewer,
    *,
    from_: Annotated[AwareDatetime | None, Query(alias="from")] = None,
    to: AwareDatetime | None = None,
    step: Step | None = None,
) -> ActivityView:
    """The application's ended attempts over time: by default, those of the last hour.

    Workers write what they have done every ten seconds. Minutes of more than two days ago are
    merged into hours, and count for the step in which their hour begins. What is not in it:
    attempts of workers that died, and what such a worker had not written yet.
    """
    until = _checked(to or datetime.now(UTC), "to")
    start = _checked(from_ or until - _DEFAULT_RANGE, "from")
    length = until - start
    if not timedelta(0) < length <= _LONGEST:
        raise FieldRejected("must be before `to`, at most 400 days", loc=("query", "from"))
    chosen = timedelta(seconds=step) if step is not None else _usual_step(length)
    if length / chosen > _MOST_STEPS:
        raise FieldRejected(f"more than {_MOST_STEPS} steps", loc=("query", "step"))
    first = start - (start - datetime.fromtimestamp(0, UTC)) % chosen
    async with transaction(pool) as conn:
        items = await activity.read(
            conn, application_id=key.application_id, start=first, end=until, step=chosen
        )
    return ActivityView(
        start=first, to=until, step_seconds=int(chosen.total_seconds()), items=list(items)
    )


def _checked(time: datetime, name: str) -> datetime:
    if not _FIRST <= time <= _LAST:
        raise FieldRejected("must be between the years 2000 and 3000", loc=("query", name))
    return time.astimezone(UTC)


def _usual_step(length: timedelta) -> timedelta:
    return next((step for step in _STEPS if length / step <= _USUAL_STEPS), _STEPS[-1])
