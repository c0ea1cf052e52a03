"""What a handler gets and gives: the whole of its world, so that tests can pass fakes."""

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, Self

from ingest.blobs.base import BlobStore
from ingest.embedding.service import Embedded
from ingest.governor import Governor
from ingest.handlers.documents.batched_lookups import Loads
from ingest.model import Chunk, ChunkSettings, EmbeddingModel, OcrSettings, ReviewReason, Stage
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.providers.firecrawl.client import FirecrawlClient
from ingest.providers.notify.mail import Mailer
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    RechunkRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.store.documents.documents import NewDocument
from ingest.store.queue.job_logs import LogLine
from ingest.store.queue.jobs import ClaimedJob

Write = Callable[[Connection], Awaitable[None]]
"""A handler's result, still to be written: the worker commits it together with the job's end."""


class GroupedWrite(Protocol):
    """What many jobs write in the same way: with a few statements for all of them."""

    @classmethod
    async def write_all(cls, conn: Connection, writes: Sequence[Self]) -> None:
        """In the transaction that ends the jobs. The rows of their sources are locked."""
        ...


class Parser(Protocol):
    """Reads files that may be hostile (sandbox/pool.py)."""

    async def parse(
        self, path: Path, request: ParseRequest, *, on_page: Callable[[], None] | None = None
    ) -> Parsed: ...

    async def unpack(self, path: Path, request: UnpackRequest) -> Unpacked: ...

    async def rechunk(self, text: str, request: RechunkRequest) -> list[Chunk]: ...


class Embed(Protocol):
    """Turns texts into vectors, sharing requests between jobs (embedding/service.py)."""

    async def ready(self) -> None:
        """Raises Snooze while the provider is to be left alone: before work that might be vain."""
        ...

    async def embed(
        self,
        texts: Sequence[str],
        token_counts: Sequence[int],
        *,
        on_progress: Callable[[int, int], None] | None = None,
        on_vectors: Callable[[Sequence[int], Any], Awaitable[None]] | None = None,
    ) -> Embedded: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """How pages of web sites are had."""

    fetcher: Fetcher
    user_agent: str
    fetch_timeout: timedelta
    crawl_delay: timedelta
    """Between the starts of two requests to a host, unless its robots.txt wants more."""
    crawl_concurrency: int
    """Requests to one host at a time, of all workers together."""
    removal_threshold: float
    """Share of a source's pages above which their removal needs a person's word."""
    firecrawl: FirecrawlClient | None = None
    webhook_url: str | None = None
    """Where Firecrawl may send its events; None: it is only polled."""
    crawl_poll: timedelta = timedelta(seconds=30)
    crawl_silence: timedelta = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """What may be inside of one uploaded file, all archives in archives together."""

    members: int = 10_000
    total_bytes: int = 4 * 1024**3
    member_bytes: int = 1024**3
    depth: int = 4
    """Archives in one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Built once by the composition root; shared by all jobs of a worker."""

    pool: Pool
    blobs: BlobStore
    parser: Parser
    embedder: Embed
    governor: Governor
    """Rate limits and pauses of other providers that a handler asks."""
    model: EmbeddingModel
    model_id: int
    chunking: ChunkSettings
    max_pages: int
    web: Web
    mailer: Mailer | None = None
    """None: no mail server is set."""
    ocr: OcrSettings | None = None
    """None: text in pictures is not recognised."""
    archives: ArchiveLimits = ArchiveLimits()
    loads: Loads = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "loads", Loads(self.pool, model_id=self.model_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The job is not done: it goes on later, and its attempt is given back."""

    delay: timedelta
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person has to say whether the job may do the rest (store/queue/reviews.py).

    Documents of such an outcome are held back if they name the job in `held_by`.
    """

    message: str
    reason: ReviewReason


@dataclass(slots=True, kw_only=True)
class Outcome:
    """An attempt that did what it could: by default, the job is completed.

    Not frozen: there is one for every job, and it would cost thrice.
    """

    wait: Wait | None = None
    review: Review | None = None
    write: Write | None = None
    grouped: Sequence[GroupedWrite] = ()
    """Written with those of other jobs that end at the same time."""
    documents: Sequence[NewDocument] = ()
    """Replace what is stored of them; the worker writes those of many jobs at once."""
    result: dict[str, Any] | None = None
    """A few facts for the job's record: counts, never content."""
    embedding_config: dict[str, Any] | None = None


@dataclass(slots=True)
class Progress:
    """How far one attempt is; written to the database by the worker, in batches."""

    job: ClaimedJob
    percent: int = 0
    lines: list[LogLine] = field(default_factory=list)
    on_move: Callable[[], None] | None = None
    """Called with each new stage and each higher percent."""
    _stage: Stage | None = None

    @property
    def stage(self) -> Stage | None:
        return self._stage

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self._stage = stage
        self._moved()

    @property
    def is_under_way(self) -> bool:
        """Whether there is anything to say about it yet."""
        return self.percent > 0 or self._stage is not None

    def reached(self, percent: float) -> None:
        """Percent never falls within an attempt."""
        if (now := min(100, int(percent))) > self.percent:
            self.percent = now
            self._moved()

    def still_here(self) -> None:
        """The attempt gets on although neither stage nor percent has moved."""
        self._moved()

    def _moved(self) -> None:
        if self.on_move is not None:
            self.on_move()

    @contextmanager
    def entered(self, stage: Stage, *, at: float) -> Iterator[dict[str, Any]]:
        """Run a stage that begins at `at` percent; its duration and details go to the log.

        Yields the details, to be filled in.
        """
        self.stage = stage
        self.reached(at)
        details: dict[str, Any] = {}
        started = time.monotonic()
        yield details
        self.note(stage, timedelta(seconds=time.monotonic() - started), details)

    def note(self, stage: Stage, duration: timedelta, details: dict[str, Any]) -> None:
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

    def note_parsed(self, parsed: Parsed) -> None:
        """Add what a parser did with a file to the job's log."""
        document = parsed.document
        details: dict[str, Any] = {
            "extractor": document.extractor,
            "mediaType": document.media_type,
        }
        if document.skipped:
            details["skippedSteps"] = [asdict(skipped) for skipped in document.skipped]
        self.note("extract", timedelta(seconds=parsed.extract_seconds), details)
        seconds = timedelta(seconds=parsed.chunk_seconds)
        self.note("chunk", seconds, {"chunks": len(parsed.chunks)})
