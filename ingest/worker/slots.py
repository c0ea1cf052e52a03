"""State of a job that occupies one of this worker's slots."""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry.trace import Span

from ingest.errors import Transient
from ingest.handlers.context import Progress
from ingest.store.queue.job_types import JobType
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.commit import Finished


@dataclass(slots=True, eq=False)
class Slot:
    """Exists from the claim until the outcome is committed or dropped."""

    job: ClaimedJob
    job_type: JobType
    progress: Progress
    task: asyncio.Task[Finished | None]
    span: Span | None
    started: float = field(default_factory=time.monotonic)
    stage_timeout_at: float = 0.0
    """When the attempt times out for lack of progress, by the monotonic clock."""
    timeout_at: float = 0.0
    """When the attempt exceeds its total time limit."""
    reported: tuple[str | None, int] = (None, 0)
    """Stage and percent last written."""
    finished: Finished | None = None
    """The outcome, once handed to the group commit, which checks the fence."""
    cancel_reason: Transient | Literal["stopping"] | None = None
    """Why the handler was cancelled: a timeout, or the worker is stopping."""
    is_lost: bool = False
    """The lease is lost: the outcome must be dropped."""
    has_failed_to_commit: bool = False
    """The database refused the outcome; a failure is being committed instead."""

    def __post_init__(self) -> None:
        self.timeout_at = self.started + self.job_type.timeout.total_seconds()
        self.stage_timeout_at = self.started + self.job_type.stage_timeout.total_seconds()
        self.progress.on_progress = self.reset_stage_timeout

    @property
    def is_finishing(self) -> bool:
        return self.finished is not None

    def reset_stage_timeout(self) -> None:
        """Progress: reset the stage timeout."""
        self.stage_timeout_at = time.monotonic() + self.job_type.stage_timeout.total_seconds()
