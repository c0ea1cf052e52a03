"""Fair sharing: which application's jobs are claimed next. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from ingest.store.queue.jobs import ClaimedJob

_ID_SPACE = 1 << 128


class WeightedRoundRobin:
    """Weighted round robin in the order of application ids; a turn is `weight` jobs.

    The next claim starts after the id `cursor`. It is random at first, so that workers do not all
    start with the same application.
    """

    def __init__(self, cursor: UUID | None = None) -> None:
        self.cursor = cursor or uuid4()
        self._current: UUID | None = None
        self._served = 0

    def advance(self, claimed: Sequence[ClaimedJob], weights: Mapping[UUID, int]) -> None:
        """Move past the last application of a claim, or stay there until its turn is used up."""
        if not claimed:
            return
        # By number first: hash and comparison of a UUID are Python code.
        numbers = Counter(job.application_id.int for job in claimed)
        counts = {UUID(int=number): count for number, count in numbers.items()}
        last = max(counts, key=self._distance)
        if last != self._current:
            self._current, self._served = last, 0
        self._served += counts[last]
        if self._served < weights.get(last, 1):
            self.cursor = UUID(int=(last.int - 1) % _ID_SPACE)
        else:
            self.cursor, self._current = last, None

    def jump(self) -> None:
        """Jump to a random position: other workers are claiming the ready jobs here."""
        self.cursor, self._current = uuid4(), None

    def _distance(self, application_id: UUID) -> int:
        """Distance after the cursor in claim order; the cursor's own application is last."""
        return (application_id.int - self.cursor.int - 1) % _ID_SPACE
