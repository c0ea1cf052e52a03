"""The desired number of workers, for an autoscaler."""

from fastapi import Request

from api.authenticated_route import KeyedRouter
from api.dependencies import Viewer
from api.installation_state import overview_cache_of
from ingest.store.limits.desired_workers import Desired

router = KeyedRouter(prefix="/api/worker", tags=["management"])


@router.get("/desired")
async def get_desired_workers(request: Request, key: Viewer) -> Desired:
    """The desired number of workers of the installation; computed at most every 5 seconds."""
    return (await overview_cache_of(request.app).get()).workers
