"""A crawl that Firecrawl does for us, step by step, as the root job of its run sees it.

    not sent ──► sent, id unknown ──► running ──► reconciled: finishing
                  └─ an event, the start's answer, or the list of running crawls tells the id

Events bring the pages (ingest/webhook_inbox.py). This polls the crawl, so that it ends even if no
event ever comes, and at its end fetches what events did not bring. Every step is one attempt of the
root job, which then waits and gives the attempt back.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from ingest.errors import LeaseLost, Permanent, Transient
from ingest.handlers.context import Context, Outcome, Progress, Wait
from ingest.handlers.firecrawl.reconcile import reconcile
from ingest.postgres.database import Connection, transaction
from ingest.providers.firecrawl.answers import ActiveCrawl, CrawlStatus, StartCrawl
from ingest.providers.firecrawl.client import CrawlNotFound, FirecrawlClient, StartUnclear
from ingest.store.crawl import crawls, webhook_events
from ingest.store.crawl.crawls import Crawl
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.web import urls

_LOOK_AGAIN: Final = timedelta(seconds=5)
# So long a crawl whose start was not answered is looked for, or one that was started is unknown.
_PATIENCE: Final = timedelta(minutes=2)
# By so much the provider's clock may be behind the database's.
_CLOCK_SKEW: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEnd:
    """No further page will come from the provider."""

    error: Permanent | None
    """Why the run has failed, whatever pages it has."""


def start_id(crawl_id: UUID, start_sent_at: datetime) -> UUID:
    """Names one start of a run: events of an earlier one, that was given up, are not of this."""
    return uuid5(crawl_id, start_sent_at.astimezone(UTC).isoformat())


async def step(
    job: ClaimedJob, crawl: Crawl, ctx: Context, progress: Progress
) -> Outcome | ProviderEnd:
    """Go one step on with a run: what the root job waits for, or the end of the provider's part.

    Raises Transient `crawl_not_started`, `rate_limited` when the provider surely did not start the
    crawl, others when it has been out of reach for long, and LeaseLost.
    """
    progress.stage = "extract"
    if crawl.status == "finishing":
        return ProviderEnd(error=_remembered(crawl))
    client = ctx.web.firecrawl
    if client is None:
        error = Permanent("Firecrawl is not configured any more", code="crawl_not_started")
        return await _end(job, crawl, ctx, error)
    if crawl.provider_crawl_id is not None:
        return await _follow(job, crawl, crawl.provider_crawl_id, client, ctx)
    if crawl.start_sent_at is None:
        return await _start(job, crawl, client, ctx)
    return await _find(job, crawl, crawl.start_sent_at, client, ctx)


# ---------------------------------------------------------------- the start


async def _start(
    job: ClaimedJob, crawl: Crawl, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    # Committed before the request: if we die in it, the crawl is looked for, not started twice.
    async with _holding(job, ctx) as conn:
        await crawls.start_sent(conn, crawl.id)
        sent = await crawls.get(conn, crawl.id)
    if sent is None or sent.start_sent_at is None:
        raise LeaseLost(job.id)
    try:
        provider_crawl_id = await client.start(_request(sent, sent.start_sent_at, ctx))
    except StartUnclear:
        return _wait(_LOOK_AGAIN)
    except Transient:
        async with _holding(job, ctx) as conn:
            await crawls.start_refused(conn, crawl.id)
        raise
    except Permanent as error:
        return await _end(job, crawl, ctx, error)
    await _learn(job, sent, provider_crawl_id, ctx)
    return _wait(ctx.web.crawl_poll)


def _request(crawl: Crawl, start_sent_at: datetime, ctx: Context) -> StartCrawl:
    key = start_id(crawl.id, start_sent_at)
    return StartCrawl(
        url=crawl.start,
        limit=crawl.settings.limit,
        max_depth=crawl.settings.max_depth,
        include_paths=crawl.settings.include_paths,
        exclude_paths=crawl.settings.exclude_paths,
        run={
            "crawlId": str(crawl.id),
            "knowledgeSourceId": str(crawl.source_id),
            "applicationId": str(crawl.application_id),
            "startId": str(key),
        },
        webhook_url=ctx.web.webhook_url,
        idempotency_key=key,
    )


async def _find(
    job: ClaimedJob, crawl: Crawl, sent_at: datetime, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    """Look for a crawl whose start was not answered. It is never started a second time."""
    try:
        candidates = [one for one in await client.active() if _may_be(one, crawl, sent_at)]
    except Transient:
        candidates = []
    async with ctx.pool.connection() as conn:
        claimed = await crawls.claimed_by_others(conn, crawl.id, [one.id for one in candidates])
    unclaimed = [one.id for one in candidates if one.id not in claimed]
    if len(unclaimed) == 1:
        await _learn(job, crawl, unclaimed[0], ctx)
        return _wait(_LOOK_AGAIN)
    if (crawl.sent_seconds_ago or 0) < _PATIENCE.total_seconds():
        return _wait(_LOOK_AGAIN)
    error = Permanent(
        "Firecrawl did not answer the request to start the crawl, and no such crawl is running",
        code="crawl_not_started",
    )
    return await _end(job, crawl, ctx, error)


def _may_be(active: ActiveCrawl, crawl: Crawl, sent_at: datetime) -> bool:
    if active.created_at is None or active.created_at < sent_at - _CLOCK_SKEW:
        return False
    try:
        return urls.normalise(active.url) == crawl.uri
    except ValueError:
        return False


async def _learn(job: ClaimedJob, crawl: Crawl, provider_crawl_id: str, ctx: Context) -> None:
    """Note the provider's id, whoever holds the job now; LeaseLost when nobody wants it any more.

    A run that was cancelled, deleted or begun anew while Firecrawl answered is stopped there.
    """
    async with transaction(ctx.pool) as conn:
        if await _is_wanted(conn, crawl):
            await crawls.started(conn, crawl.id, provider_crawl_id)
            await webhook_events.take_up_again(conn, provider_crawl_id)
            return
        await jobs.enqueue(conn, [stop_job(crawl.application_id, provider_crawl_id)])
    raise LeaseLost(job.id)


async def _is_wanted(conn: Connection, crawl: Crawl) -> bool:
    try:
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=crawl.job_id)
    except LeaseLost:
        return False
    now = await crawls.get(conn, crawl.id)
    return (
        now is not None and now.status in crawls.OPEN and now.start_sent_at == crawl.start_sent_at
    )


def stop_job(application_id: UUID, provider_crawl_id: str) -> NewJob:
    """The job that ends a crawl at Firecrawl."""
    return NewJob(
        application_id=application_id,
        type="stop_crawl",
        payload={"providerCrawlId": provider_crawl_id},
    )


# ---------------------------------------------------------------- while it runs


async def _follow(
    job: ClaimedJob, crawl: Crawl, provider_crawl_id: str, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    """Ask how far it is; take what is there at its end, or when it has been silent too long."""
    is_silent = crawl.silent_seconds > ctx.web.crawl_silence.total_seconds()
    stop = None
    try:
        status = await client.status(provider_crawl_id)
        if status.status == "scraping":
            if await _gets_on(job, crawl, status, ctx) or not is_silent:
                return _wait(ctx.web.crawl_poll)
            stop = provider_crawl_id
        else:
            await _gets_on(job, crawl, status, ctx)  # its count says whether the limit was reached
        await reconcile(job, crawl, provider_crawl_id, status, client, ctx)
        error = _error_of(status, ctx)
    except CrawlNotFound as missing:
        if (crawl.sent_seconds_ago or 0) < _PATIENCE.total_seconds():
            return _wait(min(_LOOK_AGAIN, ctx.web.crawl_poll))
        error = Permanent(str(missing), code="crawl_failed")
    except Transient as trouble:
        # An outage of the provider costs the run nothing, unless it lasts.
        if not is_silent:
            return _wait(max(trouble.retry_after or timedelta(0), ctx.web.crawl_poll))
        if job.attempts < job.max_attempts:
            raise
        stop = provider_crawl_id
        error = Permanent(f"{_silence(ctx)}: {trouble}", code="crawl_failed")
    return await _end(job, crawl, ctx, error, stop=stop)


async def _gets_on(job: ClaimedJob, crawl: Crawl, status: CrawlStatus, ctx: Context) -> bool:
    """Note how far it is; whether that is further than before."""
    async with _holding(job, ctx) as conn:
        return await crawls.heard(conn, crawl.id, progress=status.completed)


def _error_of(status: CrawlStatus, ctx: Context) -> Permanent | None:
    match status.status:
        case "completed":
            return None
        case "failed":
            reason = f": {status.error}" if status.error else ""
            said = f"the crawl failed at Firecrawl{reason}"
        case "cancelled":
            said = "the crawl was cancelled at Firecrawl"
        case "scraping":
            said = _silence(ctx)
    return Permanent(said, code="crawl_failed")


def _silence(ctx: Context) -> str:
    return f"nothing came from Firecrawl for {ctx.web.crawl_silence}"


# ---------------------------------------------------------------- its end


async def _end(
    job: ClaimedJob,
    crawl: Crawl,
    ctx: Context,
    error: Permanent | None,
    *,
    stop: str | None = None,
) -> ProviderEnd:
    """Remember that no page will come, and why; `stop` a crawl at Firecrawl that goes on there."""
    async with _holding(job, ctx) as conn:
        await crawls.finishing(conn, crawl.id, error=error)
        if stop is not None:
            await jobs.enqueue(conn, [stop_job(crawl.application_id, stop)])
    return ProviderEnd(error=error)


def _remembered(crawl: Crawl) -> Permanent | None:
    if crawl.error_code is None:
        return None
    return Permanent(crawl.error_message or "the crawl failed", code=crawl.error_code)


def _wait(delay: timedelta) -> Outcome:
    # Not "pages": each page that ends would bring the job back, to ask Firecrawl again.
    return Outcome(wait=Wait(delay=delay, reason="provider"))


@asynccontextmanager
async def _holding(job: ClaimedJob, ctx: Context) -> AsyncIterator[Connection]:
    """A transaction in which the job is surely ours; LeaseLost."""
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        yield conn
