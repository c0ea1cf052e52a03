"""How many workers are wanted: what an autoscaler asks."""

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
    """Workers that live and are not stopping."""
    ready: int
    """Jobs that could start now or within a minute; those held back by a limit or a pause are not
    among them."""
    paused: int
    """Jobs that wait because their type, or everything, is paused or disabled."""
    oldest_seconds: float
    reason: Reason
    """`paused`: what there is to do is paused; `age`: the oldest ready job waits too long;
    `running`: jobs that run keep their workers; `cooling_down`, `warming_up`: fewer or more are
    wanted, but not for long enough yet."""


@router.get("/desired")
async def get_desired_workers(request: Request, key: Viewer) -> Desired:
    """The wanted number of workers, for the whole installation; read at most every 5 seconds."""
    overview = await overviews_of(request.app).get()
    return Desired.model_validate(overview.workers)
