"""A job in a slot of this worker."""

import asyncio
from dataclasses import dataclass

from ingest.handlers.context import Progress
from ingest.store.jobs import ClaimedJob


@dataclass(slots=True)
class Slot:
    job: ClaimedJob
    progress: Progress
    task: asyncio.Task[None]
    reported: tuple[str | None, int] = (None, 0)
    """Stage and percent as last written."""
    is_finishing: bool = False
    """The attempt has ended and its outcome is with the finisher, which checks the fence."""
    is_lost: bool = False
    """Somebody else decides over the job now: whatever we have must be dropped."""

    def lose(self) -> None:
        """Stop working on the job, and write nothing."""
        self.is_lost = True
        self.task.cancel()
