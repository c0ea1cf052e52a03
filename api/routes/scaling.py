"""The desired number of workers, for an autoscaler."""

from fastapi import APIRouter, Request

from api.dependencies import Viewer
from api.installation_state import overviews_of
from api.keyed_route import KeyedRoute
from api.schema.json_model import View
from ingest.autoscaling import Reason

router = APIRouter(route_class=KeyedRoute, prefix="/api/worker", tags=["management"])


class Desired(View):
    desired: int
    current: int
    """Workers that are alive and not stopping."""
    ready: int
    """Jobs that can start now or within a minute; not those held back by a limit or a pause."""
    paused: int
    """Jobs that wait because their type, or everything, is paused or disabled."""
    oldest_seconds: float
    reason: Reason
    """`paused`: all work is paused; `age`: the oldest ready job has waited too long; `running`:
    running jobs keep their workers; `cooling_down`, `warming_up`: fewer or more workers are
    needed, but not for long enough yet."""


@router.get("/desired")
async def get_desired_workers(request: Request, key: Viewer) -> Desired:
    """The desired number of workers of the installation; computed at most every 5 seconds."""
    overview = await overviews_of(request.app).get()
    return Desired.model_validate(overview.workers)
