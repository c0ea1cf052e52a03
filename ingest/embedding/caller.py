"""What the embedding service remembers of one of its callers."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from ingest.model import Vectors
from ingest.observability import tracing

OnProgress = Callable[[int, int], None]
"""Texts done, of how many."""
OnVectors = Callable[[Sequence[int], Vectors], Awaitable[None]]
"""Indices of texts and their vectors, (len(indices), dimension): paid for, so worth keeping."""


@dataclass(eq=False)
class Caller:
    """One call of `EmbeddingService.embed` that is under way.

    What its own `on_progress` and `on_vectors` raise fails this call and no other.
    """

    texts: Sequence[str]
    vectors: Vectors
    token_counts: Sequence[int]
    waiting: deque[list[int]]
    """Runs of indices, each of at most a request, that are in no request yet."""
    done: asyncio.Future[None]
    on_progress: OnProgress | None
    on_vectors: OnVectors | None
    traceparent: str | None = field(default_factory=tracing.traceparent)
    """The span of whoever called."""
    refused: dict[int, str] = field(default_factory=dict)
    unusable: set[int] = field(default_factory=set)
    """Of the refused texts, those whose answers never fit."""
    finished: int = 0
    """Texts with a vector or a refusal."""
    under_way: int = 0
    """Requests that hold texts of this caller."""
    error: BaseException | None = None

    @property
    def gone(self) -> bool:
        """Whether another request for it would be wasted."""
        return self.error is not None or self.done.done()

    async def receive(self, indices: list[int], vectors: Vectors) -> None:
        """Take in what a request brought."""
        try:
            self.vectors[indices] = vectors
            if self.on_vectors and not self.done.done():
                await self.on_vectors(indices, vectors)
            self.advance(len(indices))
        except Exception as error:
            self.fail(error)

    def refuse(self, index: int, reason: str) -> None:
        self.refused[index] = reason
        self.advance(1)

    def advance(self, texts: int) -> None:
        self.finished += texts
        if self.on_progress and not self.gone:
            try:
                self.on_progress(self.finished, len(self.texts))
            except Exception as error:
                self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.waiting.clear()

    def settle(self) -> None:
        """Wake the caller once nothing of it is waiting or under way, whatever came of it."""
        if self.waiting or self.under_way or self.done.done():
            return
        if self.error:
            self.done.set_exception(self.error)
        else:
            self.done.set_result(None)


Rows = list[tuple[Caller, int]]
"""The texts of a request: whose, and at which index."""


def callers(rows: Rows) -> list[Caller]:
    """Each once, in the order of their texts."""
    return list(dict.fromkeys(caller for caller, _ in rows))
