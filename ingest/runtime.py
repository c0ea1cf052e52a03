"""Composition root: builds everything a process needs from its settings, and closes it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import structlog

from ingest.blobs.base import BlobStore
from ingest.blobs.factory import build_blob_store, build_disk_reserve
from ingest.disk_reserve import DiskReserve
from ingest.embedding.earlier_models import EarlierModels
from ingest.embedding.provider_watch import ProviderWatch
from ingest.embedding.service import EmbeddingService
from ingest.firecrawl_inbox import CHANNEL, Inbox
from ingest.formats import catalog
from ingest.governor import Governor
from ingest.handlers.context import Context
from ingest.handlers.documents.batched_lookups import Pacing
from ingest.handlers.registry import load_handlers
from ingest.model import NOT_JAILED, EmbeddingModel, JailStatus, MissingModule, OcrSettings
from ingest.page_views import PageViews
from ingest.postgres.database import Pool, transaction
from ingest.postgres.embedded.server import EmbeddedPostgres
from ingest.postgres.keepalives import with_keepalives
from ingest.postgres.listen import Listener
from ingest.postgres.migrations import migrate
from ingest.postgres.pools import open_pools
from ingest.postgres.server_check import check_server
from ingest.preview import Previews
from ingest.providers.embedders.factory import build_embedder, chunk_settings, endpoint_model
from ingest.providers.embedders.saved_settings import embedder_config
from ingest.providers.ocr.factory import choose as choose_ocr
from ingest.runtime_parts import (
    archive_limits,
    build_fork_server,
    build_mailer,
    build_page_views,
    build_previews,
    build_reranking,
    build_url_checks,
    build_web,
    build_worker_parsers,
    listen_dsn,
    provider_limits,
    rebuild_embedder,
    retention_of,
    whole_worker,
)
from ingest.sandbox.factory import build_check
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.installed_parsers import checking
from ingest.sandbox.jail import protect_memory
from ingest.search.parts import SearchParts
from ingest.settings.operator_key import OperatorKey, operator_key
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare
from ingest.store.documents.chunking import ChunkingDefaults
from ingest.store.embeddings import embedding_models, model_changes
from ingest.ticks.database_clock import DatabaseClock
from ingest.ticks.recovery import recover_stale_jobs
from ingest.ticks.schedule import build_ticks
from ingest.url_check import UrlChecks
from ingest.worker.cpu_ledger import CpuLedger
from ingest.worker.loop import Worker, lookups_every

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Objects that the API and the worker of a process share."""

    settings: Settings
    dsn: str
    pool: Pool
    """Across applications; `Pool.of` limits it to one."""
    listener: Listener
    blobs: BlobStore
    model: EmbeddingModel
    model_id: int
    operator_key: OperatorKey
    embedder: EmbeddingService
    search_parts: SearchParts
    governor: Governor
    previews: Previews
    page_views: PageViews
    url_checks: UrlChecks
    ocr: OcrSettings | None
    """OCR settings; None: OCR is off."""
    missing_parsers: tuple[MissingModule, ...] = ()
    """Optional modules that are not installed; files of their formats cannot be read."""
    jail: JailStatus = NOT_JAILED
    """The layers that confine parser processes."""
    disk: DiskReserve = field(default_factory=DiskReserve)
    lane: str | None = None
    """Lane of the embedding provider; None: the embedder runs in this process."""

    @property
    def chunking(self) -> ChunkingDefaults:
        """Installation defaults for chunking."""
        return ChunkingDefaults(
            chunking=chunk_settings(self.settings, self.model), largest=self.model.max_tokens
        )


@contextmanager
def database(settings: Settings, *, join: bool, more_connections: int = 0) -> Iterator[str]:
    """Yield the DSN of a checked, migrated database: DATABASE_URL, else the embedded one.

    `more_connections`: that the embedded one allows, beyond the usual number. Raises SetupError
    with a one-line instruction. Call it from the main thread, before the event loop starts.
    """
    if settings.database_url is not None:
        dsn = settings.database_url.get_secret_value()
        check_server(dsn)
        migrate(dsn)
        yield with_keepalives(dsn)
        return
    postgres = EmbeddedPostgres(
        settings.data_dir, memory=settings.postgres_memory, more_connections=more_connections
    )
    dsn = postgres.start(join=join)
    try:
        migrate(dsn)
        yield dsn
    finally:
        postgres.stop()


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    dsn: str,
    *,
    work: bool,
    serve: bool = True,
    share: WorkerShare | None = None,
    worker_id: UUID | None = None,
) -> AsyncIterator[Runtime]:
    """Start everything: `work` the worker and ticks, `serve` live events. Stop in reverse order.

    `share`: of the worker, if it is one of several that share the settings; None: all.
    """
    if settings.sandbox != "off":  # then debuggers may attach
        protect_memory()
    catalog.load_extensions(settings.formats)
    async with AsyncExitStack() as stack:
        server = build_fork_server(settings, stack) if work else None
        check = await stack.enter_async_context(
            checking(build_check(settings, server=server), mode=settings.sandbox)
        )
        pools = await open_pools(
            dsn,
            stack,
            slots=settings.worker_concurrency if share is None else share.slots,
            work=work,
            serve=serve,
            is_ours=settings.database_url is None,
        )
        pool = pools.requests
        blobs = build_blob_store(settings)
        stack.push_async_callback(blobs.close)
        await blobs.check()
        async with transaction(pool) as conn:
            known = await embedding_models.last_dimension(conn, "openai", endpoint_model(settings))
        embedder = await build_embedder(settings, known_dimension=known)
        governor = Governor(pool, limits=provider_limits(settings, embedder.lane))
        embedding = EmbeddingService(embedder, governor)
        stack.push_async_callback(embedding.close)
        ocr = await asyncio.to_thread(choose_ocr, settings)
        previews = build_previews(settings, ocr)
        stack.push_async_callback(previews.close)
        page_views = build_page_views(settings, pool, blobs)
        stack.push_async_callback(page_views.close)
        # Outside of the role of transactions, which may not create an index.
        async with pool.session() as conn, conn.transaction():
            model_id = await embedding_models.register(
                conn, embedder.model, config=embedder_config(settings)
            )
        earlier = EarlierModels(partial(rebuild_embedder, settings), governor)
        stack.push_async_callback(earlier.close)
        async with transaction(pool) as conn:
            outdated = await model_changes.outdated_applications(conn, model_id)
        if outdated:  # until `ingest reembed`, searches ask their earlier models too
            log.warning("embedding_model.changed", applications=len(outdated))
        channels = ["rag_jobs", *(["rag_events"] if serve else []), *([CHANNEL] if work else [])]
        listener = Listener(listen_dsn(settings) or dsn, channels=channels, pool=pool)
        stack.push_async_callback(listener.close)
        checked = await check
        runtime = Runtime(
            settings=settings,
            dsn=dsn,
            pool=pool,
            listener=listener,
            blobs=blobs,
            model=embedder.model,
            model_id=model_id,
            operator_key=operator_key(settings),
            embedder=embedding,
            search_parts=SearchParts(
                pool=pools.searches,
                embedder=embedding,
                model_id=model_id,
                model=embedder.model,
                reranking=build_reranking(settings, governor, stack),
                earlier=earlier,
            ),
            governor=governor,
            previews=previews,
            page_views=page_views,
            url_checks=build_url_checks(settings, previews, stack),
            ocr=ocr,
            missing_parsers=checked.missing,
            jail=checked.jail,
            disk=build_disk_reserve(settings),
            lane=embedder.lane,
        )
        if work:
            await _start_worker(
                runtime, pools.jobs, server, stack, share or whole_worker(settings), worker_id
            )
        listener.start()
        watch = ProviderWatch(embedding)
        watch.start()
        stack.push_async_callback(watch.close)
        yield runtime


async def _start_worker(
    runtime: Runtime,
    pool: Pool,
    server: PoolServer | None,
    stack: AsyncExitStack,
    share: WorkerShare,
    worker_id: UUID | None,
) -> None:
    settings = runtime.settings
    ledger = await stack.enter_async_context(CpuLedger(pool))
    runtime.embedder.on_cost = ledger.add
    parser = build_worker_parsers(
        settings, share, ocr=runtime.ocr, server=server, on_cost=ledger.add
    )
    stack.push_async_callback(parser.close)
    context = Context(
        pool=pool,
        blobs=runtime.blobs,
        parser=parser,
        embedder=runtime.embedder,
        governor=runtime.governor,
        model=runtime.model,
        model_id=runtime.model_id,
        chunking=runtime.chunking.chunking,
        max_pages=settings.max_pages,
        ocr=runtime.ocr,
        web=build_web(settings, stack),
        pacing=Pacing(
            every=lookups_every(settings.worker_concurrency),
            enough=max(1, share.slots // 2),  # while others are read
            is_more_expected=lambda: parser.is_busy,
        ),
        mailer=build_mailer(settings),
        quotas=settings.quotas,
        archives=archive_limits(settings),
    )
    worker = Worker(
        dsn=runtime.dsn,
        pool=pool,
        listener=runtime.listener,
        context=context,
        handlers=load_handlers(settings.handlers),
        concurrency=share.slots,
        heartbeat=settings.heartbeat,
        stale_after=settings.stale_after,
        id=worker_id,
    )
    clock = DatabaseClock()
    await clock.set(pool)
    ticks = build_ticks(
        pool=pool,
        blobs=runtime.blobs,
        wake=worker.wake,
        tick=settings.tick,
        stale_after=settings.stale_after,
        rescrape=settings.nightly,
        retention=retention_of(settings),
        clock=clock,
        page_image_cache=settings.page_image_cache,
    )
    await recover_stale_jobs(pool, stale_after=settings.stale_after)
    await worker.start()
    stack.push_async_callback(worker.stop)
    inbox = Inbox(pool=pool, blobs=runtime.blobs, listener=runtime.listener)
    inbox.start()
    stack.push_async_callback(inbox.close)
    ticks.start()
    stack.push_async_callback(ticks.close)
