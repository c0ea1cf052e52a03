"""Runs at Firecrawl, as stored in the database, and events in the inbox."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from harness.patience import AGES
from ingest.blobs.base import BlobStore
from ingest.errors import Permanent
from ingest.firecrawl_inbox import Inbox
from ingest.handlers.context import Context, Outcome, Progress, Web
from ingest.handlers.firecrawl.pages import fetched_page
from ingest.handlers.firecrawl.run import ProviderEnd, start_id, step
from ingest.model import ChunkSettings
from ingest.payloads import StopCrawlPayload
from ingest.postgres.database import Connection, Pool
from ingest.postgres.listen import Listener
from ingest.providers.firecrawl.client import FirecrawlClient
from ingest.providers.firecrawl.events import CrawledPage
from ingest.store.crawl import crawl_pages, crawls, runs, webhook_events
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.runs import CrawlSettings, NewRun, StartedRun
from ingest.store.crawl.webhook_events import NewWebhookEvent
from ingest.store.queue import claims
from ingest.store.queue.jobs import ClaimedJob
from tests.servers.firecrawl_events import event
from tests.support.running_worker import until

SITE = "https://shop.test/"


async def start_run(
    conn: Connection, application_id: UUID, *, uri: str = SITE, limit: int = 100
) -> StartedRun:
    """Create a site with a new run, whose root job is queued."""
    new = NewRun(
        application_id=application_id,
        type="site",
        uri=uri,
        name=uri,
        settings=CrawlSettings(provider="firecrawl", limit=limit),
    )
    async with conn.transaction():
        return await runs.start(conn, new)


async def sent_run(
    conn: Connection, application_id: UUID, *, provider_id: str | None = None, limit: int = 100
) -> StartedRun:
    """A run whose start was sent to Firecrawl; without `provider_id`, the answer is missing."""
    run = await start_run(conn, application_id, limit=limit)
    await crawls.record_start_sent(conn, run.crawl_id)
    if provider_id is not None:
        await crawls.save_provider_id(conn, run.crawl_id, provider_id)
    return run


async def claim_root(conn: Connection) -> ClaimedJob:
    [job] = await claims.claim(
        conn, types=["site_crawl", "rescrape"], batch=1, worker=uuid4(), cursor=UUID(int=0)
    )
    return job


async def crawl_of(conn: Connection, run: StartedRun) -> Crawl:
    crawl = await crawls.get(conn, run.crawl_id)
    assert crawl is not None
    return crawl


async def told(conn: Connection, run: StartedRun) -> dict[str, str]:
    """The metadata of the start request, which Firecrawl repeats in every event."""
    crawl = await crawl_of(conn, run)
    assert crawl.start_sent_at is not None
    return {
        "crawlId": str(crawl.id),
        "knowledgeSourceId": str(crawl.source_id),
        "applicationId": str(crawl.application_id),
        "startId": str(start_id(crawl.id, crawl.start_sent_at)),
    }


@dataclass
class Post:
    """Stores events of one crawl in the inbox, as the API does."""

    conn: Connection
    crawl_id: str
    run: dict[str, str] = field(default_factory=dict)

    async def __call__(
        self,
        type: str,
        *data: dict[str, Any],
        error: str | None = None,
        run: dict[str, str] | None = None,
    ) -> int:
        body = event(
            type, id=self.crawl_id, data=data, error=error, run=self.run if run is None else run
        )
        return await post(self.conn, body)


async def post(conn: Connection, body: bytes, *, blob_key: str | None = None) -> int:
    new = NewWebhookEvent(
        provider="firecrawl",
        dedupe_key=hashlib.sha256(body).digest(),
        size_bytes=len(body),
        body=body if blob_key is None else None,
        blob_key=blob_key,
    )
    id = await webhook_events.add(conn, new)
    assert id is not None
    return id


def make_inbox(pool: Pool, blobs: BlobStore) -> Inbox:
    """An inbox that does not run in the background: call `drain`."""
    return Inbox(pool=pool, blobs=blobs, listener=Listener("", channels=(), pool=pool))


async def drain(inbox: Inbox) -> None:
    """Process events until none is waiting."""
    while (await inbox.process())[0]:
        pass


async def event_row(conn: Connection, id: int) -> dict[str, Any]:
    [row] = await _rows(conn, "select * from rag.webhook_events where id = %s", id)
    return row


async def page_rows(conn: Connection, run: StartedRun) -> dict[str, dict[str, Any]]:
    """The pages of a run by address, each with the status of its job as `job_status`."""
    rows = await _rows(
        conn,
        "select page.*, job.status as job_status from rag.crawl_pages as page "
        "left join rag.processing_jobs as job on job.id = page.job_id "
        "where page.crawl_id = %s order by page.uri",
        run.crawl_id,
    )
    return {row["uri"]: row for row in rows}


async def child_jobs(conn: Connection, run: StartedRun) -> list[dict[str, Any]]:
    return await _rows(
        conn, "select * from rag.processing_jobs where parent_job_id = %s", run.job_id
    )


async def stopped(conn: Connection) -> list[str]:
    """The ids of crawls at Firecrawl for which a stop is queued."""
    rows = await _rows(conn, "select payload from rag.processing_jobs where type = 'stop_crawl'")
    return [StopCrawlPayload.model_validate(row["payload"]).provider_crawl_id for row in rows]


async def _rows(conn: Connection, query: str, *values: Any) -> list[dict[str, Any]]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(query.encode(), values)
        return await cur.fetchall()


@dataclass(kw_only=True)
class Root:
    """The claimed root job of a run; a test runs it step by step."""

    conn: Connection
    ctx: Context
    run: StartedRun
    job: ClaimedJob

    def ask(self, client: object) -> None:
        """Use this client for Firecrawl from now on; None: Firecrawl is not configured."""
        cast(Any, self.ctx.web).firecrawl = client

    async def step(self) -> Outcome | ProviderEnd:
        crawl = await crawl_of(self.conn, self.run)
        return await step(self.job, crawl, self.ctx, Progress(self.job))

    async def wait(self) -> str:
        """Run one step, after which the job has to wait; returns the wait reason."""
        outcome = await self.step()
        assert isinstance(outcome, Outcome)
        assert outcome.wait is not None
        return outcome.wait.reason

    async def until_end(self) -> ProviderEnd:
        async def ended() -> ProviderEnd | None:
            now = await self.step()
            return now if isinstance(now, ProviderEnd) else None

        end = await until(ended)
        assert isinstance(end, ProviderEnd)
        return end

    async def until_failed(self) -> Permanent:
        error = (await self.until_end()).error
        assert error is not None
        return error

    async def statuses(self) -> dict[str, str | None]:
        """Error code by address; None for pages with content."""
        rows = await page_rows(self.conn, self.run)
        return {uri: row["error_code"] for uri, row in rows.items()}

    async def content(self, uri: str) -> CrawledPage:
        row = (await page_rows(self.conn, self.run))[uri]
        page = await crawl_pages.for_job(self.conn, row["id"])
        assert page is not None
        return await fetched_page(page, self.ctx)

    async def backdate(self, column: str, *, seconds: int) -> None:
        """Set this time of the run to `seconds` ago."""
        await self.conn.execute(
            f"update rag.crawls set {column} = now() - interval '{seconds} s'".encode()
        )


@asynccontextmanager
async def firecrawl_context(
    pool: Pool,
    blobs: BlobStore,
    *,
    url: str,
    key: str | None = None,
    webhook_url: str | None = None,
    silence: timedelta = timedelta(minutes=30),
) -> AsyncIterator[Context]:
    """A Context with only the parts that the root job of such a run uses."""
    client = FirecrawlClient(base_url=url, api_key=key, timeout=AGES)
    web = SimpleNamespace(
        firecrawl=client,
        webhook_url=webhook_url,
        crawl_poll=timedelta(seconds=30),
        crawl_silence=silence,
        removal_threshold=1.0,
    )
    try:
        yield cast(
            Context,
            SimpleNamespace(
                pool=pool,
                blobs=blobs,
                web=cast(Web, web),
                chunking=ChunkSettings(tokenizer="minilm", size=256, overlap=32),
                model=SimpleNamespace(max_tokens=256),
            ),
        )
    finally:
        await client.close()


def addresses(*paths: str) -> Sequence[str]:
    return [SITE + path for path in paths]
