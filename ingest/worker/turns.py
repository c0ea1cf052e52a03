"""Whose turn it is when slots are few. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from ingest.store.queue.jobs import ClaimedJob

_RING = 1 << 128


class Turns:
    """Applications take turns in the order of their ids; a turn is as many jobs as their weight.

    `cursor` is where the next claim goes on: behind that id. It starts at random, so that workers
    do not all begin with the same application.
    """

    def __init__(self, cursor: UUID | None = None) -> None:
        self.cursor = cursor or uuid4()
        self._whose: UUID | None = None
        self._served = 0

    def served(self, claimed: Sequence[ClaimedJob], weights: Mapping[UUID, int]) -> None:
        """Move on behind the last application of a claim, or stay there while its turn lasts."""
        if not claimed:
            return
        counts = Counter(job.application_id for job in claimed)
        last = max(counts, key=self._distance)
        if last != self._whose:
            self._whose, self._served = last, 0
        self._served += counts[last]
        if self._served < weights.get(last, 1):
            self.cursor = UUID(int=(last.int - 1) % _RING)
        else:
            self.cursor, self._whose = last, None

    def skip(self) -> None:
        """Go on somewhere else: what is ready here, others are claiming."""
        self.cursor, self._whose = uuid4(), None

    def _distance(self, application_id: UUID) -> int:
        """How far behind the cursor a claim meets it; the cursor's own application comes last."""
        return (application_id.int - self.cursor.int - 1) % _RING
