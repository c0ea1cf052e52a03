"""Parts of the runtime that only their settings decide."""

from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Final

from ingest import page_views
from ingest.blobs.base import BlobStore
from ingest.governor import Governor
from ingest.handlers.context import ArchiveLimits, Web
from ingest.machine import processors
from ingest.model import OcrSettings
from ingest.page_views import PageViews
from ingest.postgres.database import Pool
from ingest.postgres.keepalives import with_keepalives
from ingest.postgres.pools import connections_for_jobs
from ingest.preview import RESERVE, Previews
from ingest.providers.embedders.base import Embedder
from ingest.providers.embedders.factory import build_embedder
from ingest.providers.embedders.saved_settings import settings_of_model
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.firecrawl.client import HOSTED, FirecrawlClient
from ingest.providers.notify.mail import Mailer
from ingest.providers.rerank import Reranker
from ingest.sandbox.factory import build_parsers
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.pool import OnCost, ParserPool
from ingest.search.rerank import Reranking
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.limits.worker_config import LaneLimits
from ingest.store.retention.retention_jobs import JobRetention
from ingest.ticks.retention import Retention
from ingest.url_check import UrlChecks
from ingest.worker.loop import reserved_slots

_PREVIEWS_AT_ONCE: Final = 2
_PAGES_AT_ONCE: Final = 2
_CHECKED_FETCH_SECONDS: Final = 10
_LARGEST_CHECKED_PAGE: Final = 10 * 1024 * 1024


def connections_of(shares: Iterable[WorkerShare]) -> int:
    """The most connections that worker processes open."""
    return sum(connections_for_jobs(share.slots) for share in shares)


def whole_worker(settings: Settings) -> WorkerShare:
    """What a worker may use that shares the settings with no other."""
    slots = settings.worker_concurrency
    return WorkerShare(slots=slots, parsers=min(slots, processors()))


def build_fork_server(settings: Settings, stack: AsyncExitStack) -> PoolServer:
    """It loads the parsers once, for the check of the installation and for the worker."""
    server = PoolServer(mode=settings.sandbox)
    stack.push_async_callback(server.close)
    return server


def build_worker_parsers(
    settings: Settings,
    share: WorkerShare,
    *,
    ocr: OcrSettings | None,
    server: PoolServer | None,
    on_cost: OnCost,
) -> ParserPool:
    reserve = min(reserved_slots(share.slots), max(1, share.parsers // 4))
    return build_parsers(
        settings, size=share.parsers, reserve=reserve, ocr=ocr, server=server, on_cost=on_cost
    )


def build_previews(settings: Settings, ocr: OcrSettings | None) -> Previews:
    return Previews(
        lambda: build_parsers(settings, size=_PREVIEWS_AT_ONCE, reserve=RESERVE, ocr=ocr),
        at_once=_PREVIEWS_AT_ONCE,
        max_pages=settings.max_pages,
        timeout=2 * settings.parser_timeout,
        ocr=ocr,
    )


def build_page_views(settings: Settings, pool: Pool, blobs: BlobStore) -> PageViews:
    return PageViews(
        lambda: build_parsers(settings, size=_PAGES_AT_ONCE, reserve=page_views.RESERVE, ocr=None),
        pool=pool,
        blobs=blobs,
        at_once=_PAGES_AT_ONCE,
        keep=settings.page_image_cache > 0,
    )


def build_url_checks(settings: Settings, previews: Previews, stack: AsyncExitStack) -> UrlChecks:
    fetcher = Fetcher(
        allow=settings.fetch_allow,
        user_agent=settings.user_agent,
        timeout=min(timedelta(seconds=_CHECKED_FETCH_SECONDS), settings.fetch_timeout),
        max_bytes=min(_LARGEST_CHECKED_PAGE, settings.largest_fetch),
    )
    stack.push_async_callback(fetcher.close)
    web = Web(
        fetcher=fetcher,
        user_agent=settings.user_agent,
        fetch_timeout=settings.fetch_timeout,
        crawl_delay=settings.crawl_delay,
        crawl_concurrency=settings.crawl_concurrency,
        removal_threshold=settings.rescrape_max_removed,
    )
    return UrlChecks(web, previews)


def provider_limits(settings: Settings, lane: str | None) -> dict[str, LaneLimits]:
    if lane is None:
        return {}
    limits = LaneLimits(
        requests_per_minute=settings.embedding_requests_per_minute,
        tokens_per_minute=settings.embedding_tokens_per_minute,
    )
    return {lane: limits}


def build_reranking(
    settings: Settings, governor: Governor, stack: AsyncExitStack
) -> Reranking | None:
    if settings.rerank_url is None:
        return None
    key = settings.rerank_key
    reranker = Reranker(
        str(settings.rerank_url),
        key=key.get_secret_value() if key else None,
        model=settings.rerank_model,
        timeout=settings.rerank_timeout,
    )
    stack.push_async_callback(reranker.close)
    return Reranking(reranker, governor, candidates=settings.rerank_candidates)


def retention_of(settings: Settings) -> Retention:
    """Retention periods from the settings."""
    return Retention(
        jobs=JobRetention(jobs=settings.keep_jobs, failed_jobs=settings.keep_failed_jobs),
        events=settings.keep_events,
        answers=settings.keep_answers,
        deliveries=settings.keep_deliveries,
        deleted=settings.keep_deleted,
        runs=settings.keep_runs,
        activity=settings.keep_activity,
    )


async def rebuild_embedder(settings: Settings, model: StoredModel) -> Embedder:
    """Build the embedder of a model that was configured before. Raises SetupError."""
    before = settings_of_model(settings, provider=model.provider, config=model.config)
    return await build_embedder(before, known_dimension=model.dimension)


def build_web(settings: Settings, stack: AsyncExitStack) -> Web:
    fetcher = Fetcher(
        allow=settings.fetch_allow,
        user_agent=settings.user_agent,
        timeout=settings.fetch_timeout,
        max_bytes=settings.largest_fetch,
    )
    stack.push_async_callback(fetcher.close)
    firecrawl = None
    if settings.firecrawl_api_key or settings.firecrawl_api_url:
        key = settings.firecrawl_api_key
        firecrawl = FirecrawlClient(
            base_url=settings.firecrawl_api_url or HOSTED,
            api_key=key.get_secret_value() if key else None,
        )
        stack.push_async_callback(firecrawl.close)
    has_events = settings.public_url and settings.firecrawl_secrets
    return Web(
        fetcher=fetcher,
        user_agent=settings.user_agent,
        fetch_timeout=settings.fetch_timeout,
        crawl_delay=settings.crawl_delay,
        crawl_concurrency=settings.crawl_concurrency,
        removal_threshold=settings.rescrape_max_removed,
        firecrawl=firecrawl,
        webhook_url=f"{settings.public_url}/api/webhooks/firecrawl" if has_events else None,
        crawl_poll=settings.crawl_poll,
        crawl_silence=settings.crawl_silence,
    )


def archive_limits(settings: Settings) -> ArchiveLimits:
    return ArchiveLimits(
        members=settings.archive_members,
        total_bytes=settings.archive_bytes,
        member_bytes=settings.max_file_bytes,
        depth=settings.archive_depth,
    )


def build_mailer(settings: Settings) -> Mailer | None:
    if settings.smtp_server is None or settings.email_from is None:
        return None
    return Mailer(server=settings.smtp_server, sender=settings.email_from)


def listen_dsn(settings: Settings) -> str | None:
    """Where to listen, if not where queries go: poolers pass no notifications on."""
    url = settings.listen_url
    return None if url is None else with_keepalives(url.get_secret_value())
