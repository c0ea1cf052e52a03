"""A crawl at Firecrawl, driven step by step by the root job of its run.

    not sent ──► sent, id unknown ──► running ──► reconciled: finishing
                  └─ an event, the start's response, or the list of running crawls gives the id

Events deliver the pages (ingest/firecrawl_inbox.py). This module polls the crawl, so that it ends
even if no event arrives, and at its end fetches pages that no event delivered. Every step is one
attempt of the root job, which is refunded while the job waits.
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
from ingest.payloads import StopCrawlPayload
from ingest.postgres.database import Connection, across_applications, transaction
from ingest.providers.firecrawl.answers import ActiveCrawl, CrawlStatus, StartCrawl
from ingest.providers.firecrawl.client import CrawlNotFound, FirecrawlClient, StartUnclear
from ingest.store.crawl import crawls, webhook_events
from ingest.store.crawl.crawls import Crawl
from ingest.store.queue import jobs
from ingest.store.queue.jobs import ClaimedJob, NewJob
from ingest.web import urls

_START_POLL: Final = timedelta(seconds=5)
# How long to look for a crawl whose start got no response, and to accept "not found" after a start.
_START_TIMEOUT: Final = timedelta(minutes=2)
# How far the provider's clock may be behind the database's.
_CLOCK_SKEW: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEnd:
    """The provider will deliver no further pages."""

    error: Permanent | None
    """Why the run failed, even if it has pages; None if it did not fail."""


def start_id(crawl_id: UUID, start_sent_at: datetime) -> UUID:
    """Identifies one start of a run, to reject events of an earlier, abandoned start."""
    return uuid5(crawl_id, start_sent_at.astimezone(UTC).isoformat())


async def step(
    job: ClaimedJob, crawl: Crawl, ctx: Context, progress: Progress
) -> Outcome | ProviderEnd:
    """Advance a run by one step; returns a wait, or ProviderEnd after the provider's part.

    Raises Transient `crawl_not_started` or `rate_limited` if the provider certainly did not start
    the crawl, other Transient errors if it has been unreachable for long, and LeaseLost.
    """
    progress.stage = "extract"
    if crawl.status == "finishing":
        return ProviderEnd(error=_stored_error(crawl))
    client = ctx.web.firecrawl
    if client is None:
        error = Permanent("Firecrawl is no longer configured", code="crawl_not_started")
        return await _end(job, crawl, ctx, error)
    if crawl.provider_crawl_id is not None:
        return await _follow(job, crawl, crawl.provider_crawl_id, client, ctx)
    if crawl.start_sent_at is None:
        return await _start(job, crawl, client, ctx)
    return await _find_started_crawl(job, crawl, crawl.start_sent_at, client, ctx)


# ---------------------------------------------------------------- the start


async def _start(
    job: ClaimedJob, crawl: Crawl, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    # Commit before the request: after a crash, the crawl is looked for and not started twice.
    async with _lease(job, ctx) as conn:
        await crawls.record_start_sent(conn, crawl.id)
        sent = await crawls.get(conn, crawl.id)
    if sent is None or sent.start_sent_at is None:
        raise LeaseLost(job.id)
    try:
        provider_crawl_id = await client.start(_request(sent, sent.start_sent_at, ctx))
    except StartUnclear:
        return _wait(_START_POLL)
    except Transient:
        async with _lease(job, ctx) as conn:
            await crawls.clear_start_sent(conn, crawl.id)
        raise
    except Permanent as error:
        return await _end(job, crawl, ctx, error)
    await _store_provider_id(job, sent, provider_crawl_id, ctx)
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


async def _find_started_crawl(
    job: ClaimedJob, crawl: Crawl, sent_at: datetime, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    """Look for a crawl whose start got no response. A crawl is never started a second time."""
    try:
        candidates = [one for one in await client.active() if _matches(one, crawl, sent_at)]
    except Transient:
        candidates = []
    # Applications share the account at Firecrawl: a crawl may belong to a run of another one.
    async with transaction(across_applications(ctx.pool.connections)) as conn:
        claimed = await crawls.owned_by_other_runs(conn, crawl.id, [one.id for one in candidates])
    unclaimed = [one.id for one in candidates if one.id not in claimed]
    if len(unclaimed) == 1:
        await _store_provider_id(job, crawl, unclaimed[0], ctx)
        return _wait(_START_POLL)
    if (crawl.sent_seconds_ago or 0) < _START_TIMEOUT.total_seconds():
        return _wait(_START_POLL)
    error = Permanent(
        "Firecrawl did not respond to the request to start the crawl, and no such crawl is running",
        code="crawl_not_started",
    )
    return await _end(job, crawl, ctx, error)


def _matches(active: ActiveCrawl, crawl: Crawl, sent_at: datetime) -> bool:
    if active.created_at is None or active.created_at < sent_at - _CLOCK_SKEW:
        return False
    try:
        return urls.normalise(active.url) == crawl.uri
    except ValueError:
        return False


async def _store_provider_id(
    job: ClaimedJob, crawl: Crawl, provider_crawl_id: str, ctx: Context
) -> None:
    """Store the provider's id, even if another worker holds the job now.

    If the run was cancelled, deleted or restarted meanwhile, stops the crawl at Firecrawl and
    raises LeaseLost.
    """
    async with transaction(ctx.pool) as conn:
        if await _is_wanted(conn, crawl):
            await crawls.save_provider_id(conn, crawl.id, provider_crawl_id)
            await webhook_events.requeue_for_crawl(conn, provider_crawl_id)
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
    """The job that stops a crawl at Firecrawl."""
    return NewJob(
        application_id=application_id,
        type="stop_crawl",
        payload=StopCrawlPayload(provider_crawl_id=provider_crawl_id),
    )


# ---------------------------------------------------------------- while it runs


async def _follow(
    job: ClaimedJob, crawl: Crawl, provider_crawl_id: str, client: FirecrawlClient, ctx: Context
) -> Outcome | ProviderEnd:
    """Poll the crawl; reconcile when it has ended or made no progress for too long."""
    is_silent = crawl.silent_seconds > ctx.web.crawl_silence.total_seconds()
    stop = None
    try:
        status = await client.status(provider_crawl_id)
        if status.status == "scraping":
            if await _store_progress(job, crawl, status, ctx) or not is_silent:
                return _wait(ctx.web.crawl_poll)
            stop = provider_crawl_id
        else:
            # The final count shows whether the limit was reached.
            await _store_progress(job, crawl, status, ctx)
        await reconcile(job, crawl, provider_crawl_id, status, client, ctx)
        error = _error_of(status, ctx)
    except CrawlNotFound as missing:
        if (crawl.sent_seconds_ago or 0) < _START_TIMEOUT.total_seconds():
            return _wait(min(_START_POLL, ctx.web.crawl_poll))
        error = Permanent(str(missing), code="crawl_failed")
    except Transient as trouble:
        # A short outage of the provider costs no attempt.
        if not is_silent:
            return _wait(max(trouble.retry_after or timedelta(0), ctx.web.crawl_poll))
        if job.attempts < job.max_attempts:
            raise
        stop = provider_crawl_id
        error = Permanent(f"{_silence(ctx)}: {trouble}", code="crawl_failed")
    return await _end(job, crawl, ctx, error, stop=stop)


async def _store_progress(job: ClaimedJob, crawl: Crawl, status: CrawlStatus, ctx: Context) -> bool:
    """Store the crawl's progress; returns whether it has advanced."""
    async with _lease(job, ctx) as conn:
        return await crawls.note_progress(conn, crawl.id, progress=status.completed)


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
    return f"Firecrawl has reported nothing for {ctx.web.crawl_silence}"


# ---------------------------------------------------------------- its end


async def _end(
    job: ClaimedJob,
    crawl: Crawl,
    ctx: Context,
    error: Permanent | None,
    *,
    stop: str | None = None,
) -> ProviderEnd:
    """Record that no more pages will come, and why. `stop`: id of a crawl still running there."""
    async with _lease(job, ctx) as conn:
        await crawls.mark_finishing(conn, crawl.id, error=error)
        if stop is not None:
            await jobs.enqueue(conn, [stop_job(crawl.application_id, stop)])
    return ProviderEnd(error=error)


def _stored_error(crawl: Crawl) -> Permanent | None:
    if crawl.error_code is None:
        return None
    return Permanent(crawl.error_message or "the crawl failed", code=crawl.error_code)


def _wait(delay: timedelta) -> Outcome:
    # With reason="pages", every finished page would wake this job, and each wake-up polls
    # Firecrawl.
    return Outcome(wait=Wait(delay=delay, reason="provider"))


@asynccontextmanager
async def _lease(job: ClaimedJob, ctx: Context) -> AsyncIterator[Connection]:
    """Open a transaction that holds the job's lease; raises LeaseLost."""
    async with transaction(ctx.pool) as conn:
        if not await jobs.hold(conn, [job]):
            raise LeaseLost(job.id)
        yield conn
