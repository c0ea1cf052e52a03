"""Start, repeat and cancel runs of `url` and `site` sources.

All functions work in the caller's transaction; start() and rescrape() take the application's lock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from ingest.errors import Conflict
from ingest.payloads import RunPayload, StopCrawlPayload
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.quotas import DEFAULTS, Quotas
from ingest.store.limits import usage
from ingest.store.queue import job_control, jobs
from ingest.store.sources import events
from ingest.store.tenants import applications

_SQL = load_queries("crawl/runs.sql")

CrawlProvider = Literal["builtin", "firecrawl"]

# Lower than requests that a person is waiting for.
RESCRAPE_PRIORITY = -10


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings:
    """Start address, limits and provider of a run."""

    start: str | None = field(default=None, compare=False)
    """The source's address as the user wrote it; None: its uri."""
    limit: int = 1000
    """Maximum pages."""
    max_depth: int | None = None
    """Maximum links from the start; None: unlimited."""
    include_paths: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    variants: int = 100
    """Maximum pages of one URL pattern (differing in query or date): more suggest a calendar."""
    provider: CrawlProvider = "builtin"
    accept_losses: bool = False
    """Accept the current content even if most of a page's text is gone."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "CrawlSettings":
        lists = {name: tuple(value[name]) for name in ("include_paths", "exclude_paths")}
        return cls(**{**value, **lists})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """An address to fetch. `uri` is normalised and identifies the source."""

    application_id: UUID
    type: Literal["url", "site"]
    uri: str
    name: str
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    stated: frozenset[str] | None = None
    """Settings in the request; a known source keeps its values for the rest. None: all."""
    metadata: dict[str, Any] | None = None
    """None: a known source keeps its metadata."""
    priority: int = 0
    quotas: Quotas = DEFAULTS
    """The installation's, which the application's settings override."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedRun:
    source_id: UUID
    job_id: UUID
    crawl_id: UUID
    is_new: bool = True
    """False: an existing open run is reused."""


async def start(conn: Connection, new: NewRun) -> StartedRun:
    """Create the source if needed and queue a run.

    An open run with the same settings is reused; one with different settings is cancelled and
    replaced. Raises QuotaExceeded if the application has too many sources or jobs.
    """
    await applications.lock_sources(conn, new.application_id)
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(
            _SQL["existing"],
            {"application_id": new.application_id, "type": new.type, "uri": new.uri},
        )
        known = await cur.fetchone()
    if known is None:
        await usage.require(conn, new.application_id, new.quotas, sources=1, jobs=1)
        return await _insert_source(conn, new)
    new = replace(new, settings=_merged(known["crawl_settings"], new))
    metadata = None if new.metadata is None else Jsonb(new.metadata)
    if known["is_open"] and CrawlSettings.from_json(known["crawl_settings"]) == new.settings:
        if metadata is not None:
            await conn.execute(_SQL["update_metadata"], {"id": known["id"], "metadata": metadata})
        return StartedRun(
            source_id=known["id"],
            job_id=known["job_id"],
            crawl_id=known["crawl_id"],
            is_new=False,
        )
    await usage.require(conn, new.application_id, new.quotas, jobs=1)
    job_type = "url" if new.type == "url" else "site_crawl"
    return await _replace_open(conn, new, known["id"], job_type=job_type, metadata=metadata)


def _merged(known: Mapping[str, Any], new: NewRun) -> CrawlSettings:
    if new.stated is None:
        return new.settings
    stated = {name: getattr(new.settings, name) for name in new.stated}
    return replace(CrawlSettings.from_json(known), **stated)


async def rescrape(
    conn: Connection,
    *,
    application_id: UUID,
    source_id: UUID,
    priority: int = 0,
    accept_losses: bool = False,
) -> StartedRun | None:
    """Queue another run of a source with its stored settings; None if the source is missing.

    An open run is reused. Raises Conflict for a file, which has no address.
    """
    await applications.lock_sources(conn, application_id)
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["again"], {"application_id": application_id, "id": source_id})
        known = await cur.fetchone()
    if known is None:
        return None
    if known["type"] == "file":
        raise Conflict("a file cannot be fetched again: it has no URL", code="not_rescrapable")
    if known["is_open"]:
        return StartedRun(
            source_id=source_id,
            job_id=known["job_id"],
            crawl_id=known["crawl_id"],
            is_new=False,
        )
    new = NewRun(
        application_id=application_id,
        type=known["type"],
        uri=known["uri"],
        name=known["uri"],
        settings=CrawlSettings.from_json(known["crawl_settings"]),
        priority=priority,
    )
    run_settings = replace(new.settings, accept_losses=accept_losses)
    return await _replace_open(
        conn, new, source_id, job_type="rescrape", metadata=None, run_settings=run_settings
    )


async def end_open(
    conn: Connection, *, job_ids: Sequence[UUID] = (), source_ids: Sequence[UUID] = ()
) -> None:
    """Cancel open runs of these root jobs or sources; queue jobs that stop them at the provider."""
    cursor = await conn.execute(
        _SQL["end_open"], {"job_ids": list(job_ids), "source_ids": list(source_ids)}
    )
    await jobs.enqueue(
        conn,
        [
            jobs.NewJob(
                application_id=application_id,
                type="stop_crawl",
                payload=StopCrawlPayload(provider_crawl_id=provider_crawl_id),
            )
            for application_id, provider, provider_crawl_id in await cursor.fetchall()
            if provider == "firecrawl" and provider_crawl_id is not None
        ],
    )


async def _insert_source(conn: Connection, new: NewRun) -> StartedRun:
    run = StartedRun(source_id=new_id(), job_id=new_id(), crawl_id=new_id())
    await conn.execute(
        _SQL["insert_source"],
        {
            "id": run.source_id,
            "application_id": new.application_id,
            "type": new.type,
            "name": new.name,
            "uri": new.uri,
            "metadata": Jsonb(new.metadata or {}),
            "job_id": run.job_id,
            "settings": Jsonb(new.settings.to_json()),
        },
    )
    await _queue(conn, new, run, job_type="url" if new.type == "url" else "site_crawl")
    return run


async def _replace_open(
    conn: Connection,
    new: NewRun,
    source_id: UUID,
    *,
    job_type: str,
    metadata: Jsonb | None,
    run_settings: CrawlSettings | None = None,
) -> StartedRun:
    await job_control.cancel(
        conn,
        application_id=new.application_id,
        source_ids=[source_id],
        reason="superseded by a newer run",
    )
    await end_open(conn, source_ids=[source_id])
    run = StartedRun(source_id=source_id, job_id=new_id(), crawl_id=new_id())
    await conn.execute(
        _SQL["update_source"],
        {
            "id": source_id,
            "job_id": run.job_id,
            "metadata": metadata,
            "settings": Jsonb(new.settings.to_json()),
        },
    )
    if run_settings is not None:
        new = replace(new, settings=run_settings)
    await _queue(conn, new, run, job_type=job_type)
    return run


async def _queue(conn: Connection, new: NewRun, run: StartedRun, *, job_type: str) -> None:
    await conn.execute(
        _SQL["insert_crawl"],
        {
            "id": run.crawl_id,
            "application_id": new.application_id,
            "source_id": run.source_id,
            "job_id": run.job_id,
            "provider": new.settings.provider,
            "settings": Jsonb(new.settings.to_json()),
        },
    )
    job = jobs.NewJob(
        id=run.job_id,
        application_id=new.application_id,
        type=job_type,
        source_id=run.source_id,
        priority=new.priority,
        payload=RunPayload(crawl_id=run.crawl_id),
    )
    await jobs.enqueue(conn, [job])
    event = events.NewEvent(
        source_id=run.source_id,
        type="source",
        data={"status": "pending", "jobId": str(run.job_id), "percent": 0},
    )
    await events.emit(conn, [event])
