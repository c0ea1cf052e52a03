"""What an application uses, beside its quotas."""

from fastapi import APIRouter, Request

from api.authenticated_route import AuthenticatedRoute
from api.dependencies import PoolDep, RuntimeDep, Viewer
from api.middleware.in_use import in_use_of
from ingest.postgres.database import transaction
from ingest.store.limits import cpu_usage, usage
from ingest.store.view import View

router = APIRouter(route_class=AuthenticatedRoute, prefix="/api/usage", tags=["management"])


class QuotaView(View):
    used: int
    limit: int


class UsageView(View):
    stored_bytes: QuotaView
    """Files of knowledge sources, and the text of their documents."""
    staged_bytes: QuotaView
    """Files that wait, are being processed, have failed, or wait for a review."""
    sources: QuotaView
    pending_jobs: QuotaView
    """Jobs that wait or run."""
    uploads: QuotaView
    """At once, in the process that answers; so are `sockets`."""
    sockets: QuotaView
    cpu_seconds: float
    """Of its files today (UTC), in parsers and a local embedder. It has no limit."""


@router.get("")
async def get_usage(request: Request, runtime: RuntimeDep, pool: PoolDep, key: Viewer) -> UsageView:
    """What the application uses and may use; the operator names it in `X-Application-Id`."""
    async with transaction(pool) as conn:
        room = await usage.room(conn, key.application_id, runtime.settings.quotas)
        cpu_seconds = await cpu_usage.today(conn, key.application_id)
    in_use = in_use_of(request)
    used, quotas = room.used, room.quotas
    return UsageView(
        stored_bytes=QuotaView(used=used.stored_bytes, limit=quotas.stored_bytes),
        staged_bytes=QuotaView(used=used.staged_bytes, limit=quotas.staged_bytes),
        sources=QuotaView(used=used.sources, limit=quotas.sources),
        pending_jobs=QuotaView(used=used.pending_jobs, limit=quotas.pending_jobs),
        uploads=QuotaView(
            used=in_use.of_application("uploads", key.application_id), limit=quotas.uploads
        ),
        sockets=QuotaView(
            used=in_use.of_application("sockets", key.application_id), limit=quotas.sockets
        ),
        cpu_seconds=cpu_seconds,
    )
