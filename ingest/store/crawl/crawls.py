"""State of runs of `url` and `site` sources, for their handlers. runs.py starts runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from ingest.errors import ErrorCode, LeaseLost, Permanent
from ingest.postgres.database import Connection, load_queries
from ingest.store.crawl.runs import CrawlProvider, CrawlSettings

_SQL = load_queries("crawl/crawls.sql")

CrawlStatus = Literal["pending", "running", "finishing", "completed", "failed", "cancelled"]
OPEN: frozenset[CrawlStatus] = frozenset({"pending", "running", "finishing"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    id: UUID
    application_id: UUID
    source_id: UUID
    job_id: UUID
    """The root job of the run."""
    provider: CrawlProvider
    settings: CrawlSettings
    status: CrawlStatus
    page_count: int
    """Pages counted towards the limit."""
    provider_crawl_id: str | None
    start_sent_at: datetime | None
    created_at: datetime
    error_code: ErrorCode | None
    """While `finishing`: why the run will end as failed, if so."""
    error_message: str | None
    uri: str
    """The source's uri."""
    source_type: str
    silent_seconds: float
    """Seconds since the last sign of progress, else since the start."""
    sent_seconds_ago: float | None
    """Seconds since the first attempt to start it."""

    @property
    def start(self) -> str:
        """The address fetched first."""
        return self.settings.start or self.uri


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedCrawl:
    """Fields of a run that can change unless its lock is held."""

    status: CrawlStatus
    page_count: int
    settings: CrawlSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOfEvent:
    id: UUID
    application_id: UUID
    source_id: UUID
    job_id: UUID
    status: CrawlStatus
    provider_crawl_id: str | None
    start_sent_at: datetime | None


async def get(conn: Connection, id: UUID) -> Crawl | None:
    """A run; None if its source was deleted."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["get"], {"id": id})
        row = await cur.fetchone()
    if row is None:
        return None
    return Crawl(**{**row, "settings": CrawlSettings.from_json(row["settings"])})


async def lock(conn: Connection, id: UUID, *, source_id: UUID, job_id: UUID) -> LockedCrawl:
    """Lock a run and its source before a job writes; raises LeaseLost if either is gone."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["lock"], {"id": id})
        row = await cur.fetchone()
        await cur.execute(_SQL["lock_source"], {"id": source_id})
        if row is None or await cur.fetchone() is None:
            raise LeaseLost(job_id)
    return LockedCrawl(**{**row, "settings": CrawlSettings.from_json(row["settings"])})


async def save_first_attempt(conn: Connection, id: UUID) -> None:
    """Record the time of the first attempt to start a run."""
    await conn.execute(_SQL["save_first_attempt"], {"id": id})


async def mark_running(conn: Connection, id: UUID) -> None:
    """Mark a run as `running`: it is finding pages."""
    await conn.execute(_SQL["mark_running"], {"id": id})


async def mark_finishing(conn: Connection, id: UUID, *, error: Permanent | None = None) -> None:
    """Mark a run as `finishing`: it finds no more pages, because of `error` if given."""
    await conn.execute(
        _SQL["mark_finishing"],
        {
            "id": id,
            "error_code": error.code if error else None,
            "error_message": str(error) if error else None,
        },
    )


async def end(
    conn: Connection,
    id: UUID,
    *,
    status: Literal["completed", "failed", "cancelled"],
    is_complete: bool,
    error_code: str | None = None,
    error_message: str | None = None,
) -> None:
    """End a run. `is_complete`: whether it saw every page of the site."""
    await conn.execute(
        _SQL["end"],
        {
            "id": id,
            "status": status,
            "is_complete": is_complete,
            "error_code": error_code,
            "error_message": error_message,
        },
    )


async def restart(conn: Connection, id: UUID) -> None:
    """Reset a failed run so that it starts over."""
    await conn.execute(_SQL["restart"], {"id": id})


async def add_skipped(conn: Connection, id: UUID, skipped: Mapping[str, int]) -> None:
    """Add to the counts of skipped links, by reason. The caller holds the lock of the run."""
    if skipped:
        await conn.execute(_SQL["add_skipped"], {"id": id, "skipped": Jsonb(dict(skipped))})


async def set_missing_counts(
    conn: Connection, id: UUID, *, at_least: Mapping[str, int], exactly: Mapping[str, int]
) -> None:
    """Raise counts of `skipped` to `at_least`; replace those in `exactly`."""
    await conn.execute(
        _SQL["set_missing_counts"],
        {"id": id, "at_least": Jsonb(dict(at_least)), "exactly": Jsonb(dict(exactly))},
    )


async def skipped(conn: Connection, id: UUID) -> dict[str, int]:
    """Counts of skipped links by reason."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["skipped"], {"id": id})
        counts: dict[str, int] = await cur.fetchone() or {}
        return counts


async def write_digest(
    conn: Connection, id: UUID, *, removed: int | None = None, held: int | None = None
) -> dict[str, Any]:
    """Store the summary of a run; None leaves a number unchanged."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["digest"], {"id": id, "removed": removed, "held": held})
        digest: dict[str, Any] = await cur.fetchone() or {}
        return digest


# ---------------------------------------------------------------- runs at a provider


async def record_start_sent(conn: Connection, id: UUID) -> bool:
    """Record the start request before sending it to the provider; False if already recorded."""
    return (await conn.execute(_SQL["record_start_sent"], {"id": id})).rowcount == 1


async def clear_start_sent(conn: Connection, id: UUID) -> None:
    """Undo start_sent: the provider has certainly not started the run."""
    await conn.execute(_SQL["clear_start_sent"], {"id": id})


async def save_provider_id(conn: Connection, id: UUID, provider_crawl_id: str) -> bool:
    """Store the provider's id of a run; False if it is already known."""
    values = {"id": id, "provider_crawl_id": provider_crawl_id}
    return (await conn.execute(_SQL["save_provider_id"], values)).rowcount == 1


async def note_progress(conn: Connection, id: UUID, *, progress: int) -> bool:
    """Record the provider's progress; if unchanged, return False and do not reset the silence."""
    done = await conn.execute(_SQL["note_progress"], {"id": id, "progress": progress})
    return done.rowcount == 1


async def record_event(conn: Connection, id: UUID) -> None:
    """Record that an event of the run arrived; resets the silence."""
    await conn.execute(_SQL["record_event"], {"id": id})


async def find_for_event(
    conn: Connection, *, id: UUID | None, provider_crawl_id: str | None
) -> RunOfEvent | None:
    """Find the run that an event names, by our id, else by the provider's."""
    async with conn.cursor(row_factory=class_row(RunOfEvent)) as cur:
        await cur.execute(
            _SQL["find_for_event"], {"id": id, "provider_crawl_id": provider_crawl_id}
        )
        return await cur.fetchone()


async def owned_by_other_runs(
    conn: Connection, id: UUID, provider_crawl_ids: Sequence[str]
) -> set[str]:
    """The provider's crawls that are known to belong to other runs."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["owned_by_other_runs"], {"id": id, "ids": list(provider_crawl_ids)})
        return set(await cur.fetchall())
