"""Stop a crawl at its provider after its run was cancelled or its source deleted."""

from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.registry import handler
from ingest.payloads import StopCrawlPayload
from ingest.store.queue.jobs import ClaimedJob


@handler("stop_crawl")
async def stop_crawl(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
    """Cancel the crawl; a crawl that has ended is fine. Skipped if no provider is configured."""
    if ctx.web.firecrawl is None:
        return Outcome(result={"skipped": "Firecrawl is not configured"})
    await ctx.web.firecrawl.cancel(StopCrawlPayload.of(job).provider_crawl_id)
    return Outcome(result={"cancelled": True})
