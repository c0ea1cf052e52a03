"""The inbox: turn webhook events of a provider into pages of their runs.

An event may arrive before the response to the start request, twice, after the end, or for a run
that is not ours. It is checked against the database in the transaction that applies it. Each event
is processed once, and the result is stored with it.
"""

import asyncio
import re
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
import structlog

from ingest.asynchronous.tasks import cancel_all, is_set_within
from ingest.blobs.base import BlobStore
from ingest.errors import BlobMissing, LeaseLost
from ingest.handlers.firecrawl.pages import body_of, pages_out_of_scope, to_provider_pages
from ingest.handlers.firecrawl.run import start_id, stop_job
from ingest.postgres.database import Connection, Pool, transaction
from ingest.postgres.listen import Listener
from ingest.providers.firecrawl.events import FirecrawlEvent, parse_event
from ingest.scheduling.backoff import backoff
from ingest.store.crawl import crawls, frontier, provider_pages, webhook_events
from ingest.store.crawl.crawls import CrawlStatus, RunOfEvent
from ingest.store.crawl.webhook_events import WebhookEvent
from ingest.store.queue import jobs
from ingest.web.crawl_completeness import NOT_SCRAPED

log = structlog.get_logger()

CHANNEL: Final = "rag_inbox"

# Notifications can be lost.
_POLL: Final = timedelta(seconds=5)
_POLL_NOT_LISTENING: Final = timedelta(seconds=1)
# Pause while all visible events are held by other processes.
_CONTENDED_SECONDS: Final = 0.1
_AT_ONCE: Final = 4
_RETRY_BASE: Final = timedelta(seconds=2)
_RETRY_CAP: Final = timedelta(minutes=5)
_PROVIDER_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LONGEST_ERROR: Final = 300
_DELETED: Final = "the knowledge source was deleted"
# A `finishing` run has been reconciled: later events bring nothing new.
_OPEN: Final[frozenset[CrawlStatus]] = frozenset({"pending", "running"})


class Inbox:
    """Processes events until closed. Several processes may run it; each event goes to one."""

    def __init__(
        self, *, pool: Pool, blobs: BlobStore, listener: Listener, poll: timedelta = _POLL
    ) -> None:
        self._pool = pool
        self._blobs = blobs
        self._poll = poll
        self._listener = listener
        self._wake = asyncio.Event()
        self._one_large = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        listener.subscribe(CHANNEL, lambda _: self._wake.set())
        listener.on_reconnect(self._wake.set)

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="inbox")

    async def close(self) -> None:
        """Stop; another process will process an event that was interrupted."""
        if self._task is not None:
            await cancel_all(self._task)

    async def process(self) -> tuple[int, int]:
        """Process a few waiting events; returns how many were seen, and how many handled here."""
        async with transaction(self._pool) as conn:
            waiting = await webhook_events.list_waiting(conn, limit=_AT_ONCE)
        taken = await asyncio.gather(*[self._process_or_retry(event) for event in waiting])
        return len(waiting), sum(taken)

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                seen, taken = await self.process()
            except psycopg.Error as error:
                log.warning("inbox.not_read", error=type(error).__name__)
                seen = taken = 0
            except Exception as error:
                log.error("inbox.failed", exc_info=error)
                seen = taken = 0
            if not taken:
                await is_set_within(self._wake, _CONTENDED_SECONDS if seen else self._pause())

    def _pause(self) -> float:
        """Seconds until the next poll."""
        deaf = not self._listener.is_connected
        return (min(self._poll, _POLL_NOT_LISTENING) if deaf else self._poll).total_seconds()

    async def _process_or_retry(self, waiting: WebhookEvent) -> bool:
        """Process one event; False if another process holds it."""
        try:
            return await self._process(waiting)
        except Exception as error:
            # Database errors too: otherwise an event that it rejects would be retried without end.
            log.warning("inbox.failed", event_id=waiting.id, error=type(error).__name__)
            return await self._retry_later(waiting, type(error).__name__)

    async def _retry_later(self, waiting: WebhookEvent, reason: str) -> bool:
        delay = backoff(waiting.attempts + 1, base=_RETRY_BASE, cap=_RETRY_CAP)
        try:
            async with transaction(self._pool) as conn:
                if not await webhook_events.hold(conn, waiting.id):
                    return False
                await webhook_events.mark_failed(conn, waiting.id, error=reason, delay=delay)
        except psycopg.Error as error:
            log.warning("inbox.not_noted", error=type(error).__name__)
            return False
        return True

    async def _process(self, waiting: WebhookEvent) -> bool:
        try:
            event = await self._read(waiting)
        except (ValueError, BlobMissing) as error:
            return await self._refuse(waiting, str(error))
        async with transaction(self._pool) as conn:
            if not await webhook_events.hold(conn, waiting.id):
                return False
            run = await _run_of_event(conn, event)
            verdict = run if isinstance(run, str) else await _apply(conn, run, event, waiting.id)
            await webhook_events.mark_processed(
                conn,
                waiting.id,
                type=event.kind,
                provider_crawl_id=_provider_id(event),
                crawl_id=None if isinstance(run, str) else run.id,
                error=verdict,
            )
        return True

    async def _read(self, waiting: WebhookEvent) -> FirecrawlEvent:
        if waiting.body is not None:
            return await asyncio.to_thread(parse_event, waiting.body)
        async with self._one_large:  # one at a time: tens of MB, several times that when parsed
            body = await body_of(self._blobs, None, waiting.blob_key)
            return await asyncio.to_thread(parse_event, body)

    async def _refuse(self, waiting: WebhookEvent, reason: str) -> bool:
        async with transaction(self._pool) as conn:
            if not await webhook_events.hold(conn, waiting.id):
                return False
            await webhook_events.mark_processed(
                conn,
                waiting.id,
                type=None,
                provider_crawl_id=None,
                crawl_id=None,
                error=reason[:_LONGEST_ERROR],
            )
        return True


async def _run_of_event(conn: Connection, event: FirecrawlEvent) -> RunOfEvent | str:
    """The run of an event, or the reason why it has none."""
    named, provider_id = _named_run(event), _provider_id(event)
    if named is None and provider_id is None:
        return "the event names no crawl"
    run = await crawls.find_for_event(conn, id=named, provider_crawl_id=provider_id)
    if run is None:
        return "unknown crawl"
    if _contradicts(event, run):
        return "the ids of the event contradict its run"
    is_learning = run.provider_crawl_id is None and provider_id is not None
    if is_learning and await crawls.owned_by_other_runs(conn, run.id, [provider_id or ""]):
        return "the crawl of the event belongs to another run"
    return run


def _contradicts(event: FirecrawlEvent, run: RunOfEvent) -> bool:
    """Whether the event's ids contradict the run.

    The signature does not prove that it matches: the secret signs all crawls of the account.
    """
    sent = run.start_sent_at
    ours = {
        "crawlId": str(run.id),
        "knowledgeSourceId": str(run.source_id),
        "applicationId": str(run.application_id),
        "startId": None if sent is None else str(start_id(run.id, sent)),
    }
    if any(event.run.get(name, value) != value for name, value in ours.items()):
        return True
    known = run.provider_crawl_id
    return known is not None and _provider_id(event) not in (known, None)


async def _apply(
    conn: Connection, run: RunOfEvent, event: FirecrawlEvent, event_id: int
) -> str | None:
    """Apply an event; returns the reason if it was not applied."""
    if event.kind in ("completed", "failed", "cancelled") and run.status in _OPEN:
        # Wake the root job, which verifies this and reconciles.
        await jobs.resume(conn, run.job_id)
    crawl = await crawls.get(conn, run.id)
    if crawl is None:
        return _DELETED
    others = await pages_out_of_scope(event.pages, crawl)  # before the lock: may be slow
    try:
        locked = await crawls.lock(conn, run.id, source_id=run.source_id, job_id=run.job_id)
    except LeaseLost:
        return _DELETED
    is_open = locked.status in _OPEN
    if event.unscraped and locked.status in crawls.OPEN:
        # Even after reconciliation: the run must not count as complete.
        await crawls.add_skipped(conn, run.id, {NOT_SCRAPED: event.unscraped})
    await _save_provider_id(conn, run, _provider_id(event), is_open=is_open)
    if not is_open:
        return "the run accepts no more pages"
    await crawls.record_event(conn, run.id)
    await frontier.add_seen(conn, run.id, run.source_id, list(others.values()))
    pages = to_provider_pages(event.pages, leave_out=others.keys())
    if pages:
        owner = await provider_pages.owner_of(conn, run)
        await provider_pages.insert(conn, owner, pages, locked=locked, event_id=event_id)
    return None


async def _save_provider_id(
    conn: Connection, run: RunOfEvent, provider_id: str | None, *, is_open: bool
) -> None:
    """Store the provider's crawl id if the start request has not returned it yet."""
    if provider_id is None or not await crawls.save_provider_id(conn, run.id, provider_id):
        return
    if is_open:
        await webhook_events.requeue_for_crawl(conn, provider_id)
    else:
        # The run ended before its crawl id was known: stop the crawl now.
        await jobs.enqueue(conn, [stop_job(run.application_id, provider_id)])


def _named_run(event: FirecrawlEvent) -> UUID | None:
    try:
        return UUID(event.run.get("crawlId", ""))
    except ValueError:
        return None


def _provider_id(event: FirecrawlEvent) -> str | None:
    id = event.provider_crawl_id
    return id if id is not None and _PROVIDER_ID.fullmatch(id) else None
