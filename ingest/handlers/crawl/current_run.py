"""The run that a job belongs to."""

from uuid import UUID

from ingest.errors import Permanent
from ingest.handlers.context import Context
from ingest.postgres.database import transaction
from ingest.store.crawl import crawls
from ingest.store.crawl.crawls import Crawl


async def current_run(crawl_id: UUID, ctx: Context) -> Crawl:
    """Read the current state of the run; raises Permanent if its source was deleted."""
    async with transaction(ctx.pool) as conn:
        crawl = await crawls.get(conn, crawl_id)
    if crawl is None:
        raise Permanent("the knowledge source was deleted", code="source_deleted")
    return crawl
