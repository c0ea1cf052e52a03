"""State that the embedding service keeps for one caller."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from ingest.model import Vectors
from ingest.observability import tracing

OnProgress = Callable[[int, int], None]
"""Called with the number of texts done, and of all texts."""
OnVectors = Callable[[Sequence[int], Vectors], Awaitable[None]]
"""Called with text indices and their vectors, (len(indices), dimension), to save paid work."""


@dataclass(eq=False)
class Caller:
    """One running call of `EmbeddingService.embed`.

    An exception in its `on_progress` or `on_vectors` fails only this call.
    """

    texts: Sequence[str]
    vectors: Vectors
    token_counts: Sequence[int]
    waiting: deque[list[int]]
    """Runs of indices not yet in a request; each run fits into one request."""
    done: asyncio.Future[None]
    on_progress: OnProgress | None
    on_vectors: OnVectors | None
    owner: UUID | None = None
    """The application; None: a query, or of no application."""
    is_query: bool = False
    traceparent: str | None = field(default_factory=tracing.traceparent)
    """The caller's span."""
    refused: dict[int, str] = field(default_factory=dict)
    unusable: set[int] = field(default_factory=set)
    """The refused texts for which the provider never returned a usable vector."""
    finished: int = 0
    """Texts with a vector or a refusal."""
    in_flight: int = 0
    """Running requests that contain texts of this caller."""
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Whether the call has failed or ended, so that further requests would be wasted."""
        return self.error is not None or self.done.done()

    async def receive(self, indices: list[int], vectors: Vectors) -> None:
        """Store the vectors of a finished request."""
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
        if self.on_progress and not self.is_over:
            try:
                self.on_progress(self.finished, len(self.texts))
            except Exception as error:
                self.fail(error)

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.waiting.clear()

    def settle(self) -> None:
        """Wake the caller, with its error if any, once none of its texts wait or are running."""
        if self.waiting or self.in_flight or self.done.done():
            return
        if self.error:
            self.done.set_exception(self.error)
        else:
            self.done.set_result(None)


Rows = list[tuple[Caller, int]]
"""The texts of a request: caller, and index into its texts."""


def callers(rows: Rows) -> list[Caller]:
    """The distinct callers of the rows, in order."""
    return list(dict.fromkeys(caller for caller, _ in rows))


def group(token_counts: Sequence[int], *, max_items: int, max_tokens: int) -> list[range]:
    """Split texts 0 … n-1 into runs, each within both limits of a request.

    Order is kept and each index is in exactly one run. A text longer than `max_tokens` gets its
    own run: the provider decides what to do with it.
    """
    if max_items < 1:
        raise ValueError("a request holds at least one text")
    groups: list[range] = []
    start = tokens = 0
    for index, count in enumerate(token_counts):
        if index > start and (index - start == max_items or tokens + count > max_tokens):
            groups.append(range(start, index))
            start, tokens = index, 0
        tokens += count
    if start < len(token_counts):
        groups.append(range(start, len(token_counts)))
    return groups
