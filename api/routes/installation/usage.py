"""What an application uses, beside its quotas."""

from uuid import UUID

from fastapi import Request

from api.authenticated_route import KeyedRouter
from api.dependencies import PoolDep, RuntimeDep, Viewer
from api.middleware.in_use import InUse, in_use_of
from ingest.errors import NotFound
from ingest.postgres.database import Connection, transaction
from ingest.quotas import Quotas
from ingest.store.limits import cpu_usage, token_budgets, usage
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/usage", tags=["management"])


class QuotaView(View):
    used: int
    limit: int


class TokensView(View):
    used: int
    """Tokens that were embedded today (UTC), including reserved ones."""
    used_this_month: int
    """The same since the first day of the month (UTC)."""
    per_day: int | None
    """The application's budget; null: no limit."""
    renews_at: UtcTime


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
    tokens: TokensView
    cpu_seconds: float
    """Of its files today (UTC), in parsers and a local embedder. It has no limit."""


@router.get("")
async def get_usage(request: Request, runtime: RuntimeDep, pool: PoolDep, key: Viewer) -> UsageView:
    """What the application uses and may use; the operator names it in `X-Application-Id`."""
    async with transaction(pool) as conn:
        return await usage_of(conn, key.application_id, runtime.settings.quotas, in_use_of(request))


async def usage_of(
    conn: Connection, application_id: UUID, defaults: Quotas, in_use: InUse
) -> UsageView:
    """Read what an application uses. Raises NotFound if it was deleted meanwhile."""
    room = await usage.room(conn, application_id, defaults)
    budget = await token_budgets.state(conn, application_id)
    if budget is None:
        raise NotFound("application")
    used, quotas = room.used, room.quotas
    return UsageView(
        stored_bytes=QuotaView(used=used.stored_bytes, limit=quotas.stored_bytes),
        staged_bytes=QuotaView(used=used.staged_bytes, limit=quotas.staged_bytes),
        sources=QuotaView(used=used.sources, limit=quotas.sources),
        pending_jobs=QuotaView(used=used.pending_jobs, limit=quotas.pending_jobs),
        uploads=QuotaView(
            used=in_use.of_application("uploads", application_id), limit=quotas.uploads
        ),
        sockets=QuotaView(
            used=in_use.of_application("sockets", application_id), limit=quotas.sockets
        ),
        tokens=TokensView(
            used=budget.used,
            used_this_month=budget.used_this_month,
            per_day=budget.per_day,
            renews_at=budget.renews_at,
        ),
        cpu_seconds=await cpu_usage.today(conn, application_id),
    )
