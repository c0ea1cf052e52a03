"""What providers are asked: the end of a pause that nobody needs to wait for."""

from fastapi import APIRouter

from api.dependencies import Operator, RuntimeDep
from api.keyed_route import KeyedRoute
from api.schema.json_model import View

router = APIRouter(route_class=KeyedRoute, prefix="/api/worker/provider", tags=["management"])


class Resumed(View):
    lanes: list[str]
    """Those that were paused."""
    job_count: int
    """How many jobs waited and go on."""


@router.post("/resume")
async def resume_provider(runtime: RuntimeDep, key: Operator) -> Resumed:
    """End the pauses of all providers and let go on what waits for them, after they were mended.

    A provider that still fails pauses its lane again at the first request, and no attempt is lost.
    """
    lanes = await runtime.governor.end_pauses()
    return Resumed(lanes=lanes, job_count=await runtime.governor.release(all=True))
