"""Sources that were fetched, and when they are due again."""

from datetime import datetime
from uuid import UUID

from ingest.postgres.database import Connection
from ingest.scheduling.recurrence import Recurrence
from ingest.store.crawl import rescrapes
from ingest.store.crawl.runs import StartedRun
from tests.support.crawl.crawl_sources import end, start
from tests.support.queue_builders import source_row

WEEKLY = Recurrence(cron="30 4 * * 1", timezone="Europe/Berlin")


async def fetched(
    conn: Connection, application_id: UUID, uri: str = "https://a.example/"
) -> StartedRun:
    """A source whose first run has ended."""
    run = await start(conn, application_id, uri)
    await end(conn, run)
    return run


async def make_due(conn: Connection, run: StartedRun, *, ago: str = "1 minute") -> None:
    await conn.execute(
        "update rag.knowledge_sources set next_rescrape_at = now() - %s::interval where id = %s",
        [ago, run.source_id],
    )


async def set_schedule(
    conn: Connection, application_id: UUID, source_id: UUID, schedule: Recurrence | None
) -> bool:
    async with conn.transaction():
        return await rescrapes.set_schedule(
            conn, application_id=application_id, source_id=source_id, schedule=schedule
        )


async def next_time(conn: Connection, run: StartedRun) -> datetime | None:
    time: datetime | None = (await source_row(conn, run.source_id))["next_rescrape_at"]
    return time
