"""Whether what a job adds fits the quotas of its application."""

from uuid import UUID

from ingest.errors import Permanent
from ingest.handlers.context import Context
from ingest.postgres.database import Connection, transaction
from ingest.store.limits import usage


async def require_room(
    ctx: Context,
    application_id: UUID,
    *,
    conn: Connection | None = None,
    text: str = "",
    staged_bytes: int = 0,
    jobs: int = 0,
) -> None:
    """Raise Permanent `quota_exceeded` unless it fits.

    `conn`: a connection in use; None: a new one. `text`: of a new document.
    """
    if conn is None:
        async with transaction(ctx.pool) as own:
            room = await usage.room(own, application_id, ctx.quotas)
    else:
        room = await usage.room(conn, application_id, ctx.quotas)
    excess = room.excess(stored_bytes=len(text.encode()), staged_bytes=staged_bytes, jobs=jobs)
    if excess is not None:
        raise Permanent(str(excess), code="quota_exceeded")
