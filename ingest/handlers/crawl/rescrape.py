"""A later run of a source. It runs the same code as the first."""

from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.crawl.current_run import current_run
from ingest.handlers.crawl.site_crawl import crawl_site
from ingest.handlers.crawl.url import ingest_url
from ingest.handlers.registry import handler
from ingest.payloads import RunPayload
from ingest.store.queue.jobs import ClaimedJob


@handler("rescrape")
async def rescrape(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Fetch a page or a site again."""
    crawl = await current_run(RunPayload.of(job).crawl_id, ctx)
    ingest_again = crawl_site if crawl.source_type == "site" else ingest_url
    return await ingest_again(job, ctx, progress)
