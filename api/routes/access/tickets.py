"""Tickets: let a browser open a WebSocket or an event stream, where it cannot send a header."""

from api.authenticated_route import KeyedRouter
from api.dependencies import Reader, RuntimeDep
from ingest.postgres.database import transaction
from ingest.store.tenants import api_keys
from ingest.store.view import UtcTime, View

router = KeyedRouter(prefix="/api/tickets", tags=["access"])


class Ticket(View):
    ticket: str
    expires_at: UtcTime


@router.post("", status_code=201)
async def add_ticket(runtime: RuntimeDep, key: Reader) -> Ticket:
    """Create a ticket for `?ticket=`, valid for one connection within 60 seconds."""
    # Not by PoolDep, which only reads for a limited key.
    async with transaction(runtime.pool.of(key.application_id)) as conn:
        ticket, expires_at = await api_keys.add_ticket(
            conn,
            application_id=key.application_id,
            role=key.role,
            key_id=key.id,
            session_hash=key.session_hash,
        )
    return Ticket(ticket=ticket, expires_at=expires_at)
