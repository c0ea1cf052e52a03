"""A hub of its own, with what it hears and how often it polls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from api.live.hub import Hub
from harness.patience import PATIENCE
from ingest.postgres.database import Pool
from ingest.postgres.listen import Listener

NEVER = timedelta(hours=1)
SOON = timedelta(milliseconds=50)


@asynccontextmanager
async def running(
    pool: Pool, dsn: str, *, poll: timedelta = NEVER, hears: bool = True, newest: int = 1000
) -> AsyncIterator[Hub]:
    """A hub; one that does not hear has only its polls."""
    listener = Listener(dsn, channels=["rag_events"], pool=pool)
    hub = Hub(pool, listener, poll=poll, newest=newest)
    if hears:
        connected = asyncio.Event()
        listener.on_reconnect(connected.set)
        listener.start()
        await asyncio.wait_for(connected.wait(), timeout=PATIENCE)
    hub.start()
    try:
        yield hub
    finally:
        await hub.close()
        await listener.close()
