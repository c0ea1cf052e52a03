"""The inputs and results of a handler. Tests pass fakes for all of them."""

import copy
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, Self
from uuid import UUID

from ingest.blobs.base import BlobStore
from ingest.embedding.service import EmbeddingResult
from ingest.governor import Governor
from ingest.handlers.crawl.soft_404_memory import Soft404Memory
from ingest.handlers.documents.batched_lookups import AT_ONCE, BatchedLookups, Pacing
from ingest.handlers.documents.token_budget import TokenReservations
from ingest.model import ChunkSettings, EmbeddingModel, OcrSettings, ReviewReason, Sitemap, Stage
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.firecrawl.client import FirecrawlClient
from ingest.providers.notify.mail import Mailer
from ingest.quotas import DEFAULTS, Quotas
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.store.documents.documents import NewDocument
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob

Write = Callable[[Connection], Awaitable[None]]
"""Writes a handler's result. The worker commits it in the transaction that ends the job."""


class GroupedWrite(Protocol):
    """A write that many jobs share, so that a few statements serve all of them."""

    @classmethod
    async def write_all(cls, conn: Connection, writes: Sequence[Self]) -> None:
        """Runs in the transaction that ends the jobs; the rows of their sources are locked."""
        ...


class Parser(Protocol):
    """Reads files that may be hostile (sandbox/pool.py)."""

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed: ...

    async def unpack(self, path: Path, request: UnpackRequest, *, owner: UUID) -> Unpacked: ...

    async def rechunk(self, text: str, request: RechunkRequest, *, owner: UUID) -> Rechunked: ...

    async def read_sitemap(
        self, path: Path, request: SitemapRequest, *, owner: UUID
    ) -> Sitemap: ...


class SiteReader(Protocol):
    """What robots.txt and sitemaps are read with: a Context, or the reader of a dry run."""

    @property
    def pool(self) -> Pool: ...

    @property
    def web(self) -> "Web": ...

    @property
    def parser(self) -> "SitemapParser": ...


class SitemapParser(Protocol):
    async def read_sitemap(
        self, path: Path, request: SitemapRequest, *, owner: UUID
    ) -> Sitemap: ...


class Embed(Protocol):
    """Turns texts into vectors, sharing requests between jobs (embedding/service.py)."""

    async def ready(self) -> None:
        """Call before work that needs vectors. Raises Snooze while the provider is paused."""
        ...

    async def embed(
        self,
        texts: Sequence[str],
        token_counts: Sequence[int],
        *,
        owner: UUID,
        on_progress: Callable[[int, int], None] | None = None,
        on_vectors: Callable[[Sequence[int], Any], Awaitable[None]] | None = None,
    ) -> EmbeddingResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """How web pages are fetched."""

    fetcher: Fetcher
    user_agent: str
    fetch_timeout: timedelta
    crawl_delay: timedelta
    """Time between the starts of two requests to a host; robots.txt may ask for more."""
    crawl_concurrency: int
    """Concurrent requests to one host, over all workers."""
    removal_threshold: float
    """Share of a source's pages above which a person must approve their removal."""
    firecrawl: FirecrawlClient | None = None
    webhook_url: str | None = None
    """Where Firecrawl sends its events; None: it is only polled."""
    crawl_poll: timedelta = timedelta(seconds=30)
    crawl_silence: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Limits on what one uploaded file contains, nested archives included."""

    members: int = 10_000
    total_bytes: int = 4 * 1024**3
    member_bytes: int = 1024**3
    depth: int = 4
    """Levels of nested archives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Built once by the composition root; each job gets it for its application."""

    pool: Pool
    """In a handler: its transactions see only rows of the job's application."""
    blobs: BlobStore
    parser: Parser
    embedder: Embed
    governor: Governor
    """Rate limits and pauses for other providers that a handler calls."""
    model: EmbeddingModel
    model_id: int
    chunking: ChunkSettings
    max_pages: int
    web: Web
    mailer: Mailer | None = None
    """None: no mail server is configured."""
    ocr: OcrSettings | None = None
    """None: OCR is off."""
    archives: ArchiveLimits = ArchiveLimits()
    quotas: Quotas = DEFAULTS
    """The installation's, which settings of an application override."""
    soft_404_memory: Soft404Memory = field(default_factory=Soft404Memory)
    token_reservations: TokenReservations = field(default_factory=TokenReservations)
    pacing: InitVar[Pacing] = AT_ONCE
    lookups: BatchedLookups = field(init=False)

    def __post_init__(self, pacing: Pacing) -> None:
        lookups = BatchedLookups(self.pool, model_id=self.model_id, pacing=pacing)
        object.__setattr__(self, "lookups", lookups)


def within(context: Context, application_id: UUID) -> Context:
    """The context for a job of this application; look-ups stay shared with other jobs."""
    own = copy.copy(context)
    object.__setattr__(own, "pool", context.pool.of(application_id))
    return own


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The job is not done. It continues later, and no attempt is spent."""

    delay: timedelta
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person must decide whether the job continues (store/queue/reviews.py).

    Documents of this outcome that name the job in `held_by_job_id` stay hidden until then.
    """

    message: str
    reason: ReviewReason


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The result of an attempt that did not raise. By default, the job is completed.

    Not frozen: every job builds one, and a frozen dataclass is three times slower to build.
    """

    wait: Wait | None = None
    review: Review | None = None
    write: Write | None = None
    grouped: Sequence[GroupedWrite] = ()
    """Written together with those of other jobs that end at the same time."""
    documents: Sequence[NewDocument] = ()
    """Replace the stored versions. The worker writes the documents of many jobs at once."""
    result: dict[str, Any] | None = None
    """Facts for the job's record: counts, never content."""
    embedding_config: dict[str, Any] | None = None


@dataclass(slots=True)
class Progress:
    """Progress of one attempt; the worker writes it to the database in batches."""

    job: ClaimedJob
    percent: int = 0
    lines: list[LogLine] = field(default_factory=list)
    on_progress: Callable[[], None] | None = None
    """Called with each new stage, each higher percent and each `touch`."""
    _stage: Stage | None = None

    @property
    def stage(self) -> Stage | None:
        return self._stage

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self._stage = stage
        self._notify()

    @property
    def is_under_way(self) -> bool:
        """Whether there is progress to report yet."""
        return self.percent > 0 or self._stage is not None

    def advance_to(self, percent: float) -> None:
        """Raise the percent; it never falls within an attempt."""
        if (now := min(100, int(percent))) > self.percent:
            self.percent = now
            self._notify()

    def touch(self) -> None:
        """Reset the stage timeout although stage and percent are unchanged."""
        self._notify()

    def _notify(self) -> None:
        if self.on_progress is not None:
            self.on_progress()

    @contextmanager
    def run_stage(self, stage: Stage, *, at: float) -> Iterator[dict[str, Any]]:
        """Run a stage that begins at `at` percent; log its duration and details.

        Yields the dictionary of details for the caller to fill in.
        """
        self.stage = stage
        self.advance_to(at)
        details: dict[str, Any] = {}
        started = time.monotonic()
        yield details
        self.log_stage(stage, timedelta(seconds=time.monotonic() - started), details)

    def log_stage(self, stage: Stage, duration: timedelta, details: dict[str, Any]) -> None:
        """Add a finished stage to the job's log."""
        self.lines.append(
            LogLine(
                job_id=self.job.id,
                attempt=self.job.attempts,
                stage=stage,
                message=f"{stage} done",
                details=details,
                duration=duration,
            )
        )

    def log_parsed(self, parsed: Parsed) -> None:
        """Add the extract and chunk stages of a parsed file to the job's log."""
        document = parsed.document
        details: dict[str, Any] = {
            "extractor": document.extractor,
            "mediaType": document.media_type,
        }
        if document.skipped:
            details["skippedSteps"] = [asdict(skipped) for skipped in document.skipped]
        self.log_stage("extract", timedelta(seconds=parsed.extract_seconds), details)
        seconds = timedelta(seconds=parsed.chunk_seconds)
        self.log_stage("chunk", seconds, {"chunks": len(parsed.chunks)})
