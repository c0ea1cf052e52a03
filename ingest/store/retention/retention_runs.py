"""Delete old crawl runs and their pages, except what later runs need to know about them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries
from ingest.web.crawl_completeness import HIDING

_SQL = load_queries("retention/retention_runs.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRun:
    id: UUID
    ended_at: datetime
    stays: bool
    """Whether it is the first, last complete, latest or current run of its source."""


async def old(
    conn: Connection, *, older_than: timedelta, after: OldRun | None, limit: int
) -> list[OldRun]:
    """Up to `limit` expired runs, in order of their end, starting after `after`."""
    async with conn.cursor(row_factory=class_row(OldRun)) as cur:
        await cur.execute(
            _SQL["old"],
            {
                "older_than": older_than,
                "after_time": after.ended_at if after else None,
                "after_id": after.id if after else None,
                "limit": limit,
            },
        )
        return await cur.fetchall()


async def forget_pages(conn: Connection, crawl_id: UUID, *, limit: int) -> int:
    """Delete up to `limit` pages of an old run that later runs do not need; returns how many."""
    values = {"crawl_id": crawl_id, "limit": limit, "hiding": list(HIDING)}
    return (await conn.execute(_SQL["forget_pages"], values)).rowcount


async def forget_run(conn: Connection, crawl_id: UUID) -> bool:
    """Delete an old run; False while it has pages."""
    return (await conn.execute(_SQL["forget_run"], {"crawl_id": crawl_id})).rowcount == 1
