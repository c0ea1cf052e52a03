"""Resume providers: end their pauses early."""

from fastapi import APIRouter

from api.authenticated_route import AuthenticatedRoute
from api.dependencies import Operator, RuntimeDep
from ingest.store.view import View

router = APIRouter(
    route_class=AuthenticatedRoute, prefix="/api/worker/provider", tags=["management"]
)


class Resumed(View):
    lanes: list[str]
    """The lanes that were paused."""
    job_count: int
    """Number of jobs that were resumed."""


@router.post("/resume")
async def resume_provider(runtime: RuntimeDep, key: Operator) -> Resumed:
    """End the pauses of all providers and resume the jobs that wait for them.

    A provider that still fails pauses its lane again at the first request. No attempt is used up.
    """
    lanes = await runtime.governor.end_pauses()
    return Resumed(lanes=lanes, job_count=await runtime.governor.release(all=True))
