"""The embedding service: jobs share requests, and each gets its own vectors or its own error."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from ingest.asynchronous.tasks import end
from ingest.embedding.batching import group
from ingest.embedding.caller import Caller, OnProgress, OnVectors, Rows, callers
from ingest.embedding.calls import RequestCounts
from ingest.embedding.lane import EmbeddingLane
from ingest.embedding.requests import EmbeddingRequests, refused_query
from ingest.errors import Transient
from ingest.governor import Governor
from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder

# A request that is not full waits for others no longer than this share of what the last one took,
# and no longer than so many seconds.
_SHARE_OF_LAST: Final = 0.5
_LONGEST_LINGER: Final = 0.1


@dataclass(frozen=True, slots=True)
class Embedded:
    vectors: Vectors
    """(texts, dimension); zeros where the text was refused."""
    refused: dict[int, str]
    """Index of each refused text, and why."""
    unusable: AbstractSet[int] = frozenset()
    """Of the refused texts, those for which the provider never gave a usable vector."""


class EmbeddingService:
    """Micro-batches the texts of concurrent callers up to the limits of the embedder.

    One per process: it bounds the requests under way; the governor those of all processes. Callers
    take turns, a request each, so that a small one need not wait for a large.
    """

    def __init__(
        self,
        embedder: Embedder,
        governor: Governor | None = None,
        *,
        linger: timedelta = timedelta(milliseconds=5),
    ) -> None:
        """`linger`: how long a request that is not full waits for other callers when none is under
        way. While one is, it waits for that to come back, if this does not take too long: each
        request costs its sender as much as some texts, and its provider may count them.
        """
        self.embedder = embedder
        self._requests = EmbeddingRequests(embedder, EmbeddingLane(governor, embedder.lane))
        self._linger = linger.total_seconds()
        self._last_took = 0.0
        self._active: set[Caller] = set()
        self._queue: deque[Caller] = deque()
        """Callers with texts that are in no request yet, in turn."""
        self._slots = embedder.concurrency
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def counts(self) -> RequestCounts:
        """What was asked so far."""
        return self._requests.counts

    async def ready(self) -> None:
        """Raises Snooze while the provider is not to be asked for longer than a request waits."""
        await self._requests.ready()

    async def embed(
        self,
        texts: Sequence[str],
        token_counts: Sequence[int],
        *,
        on_progress: OnProgress | None = None,
        on_vectors: OnVectors | None = None,
        is_urgent: bool = False,
    ) -> Embedded:
        """Vectors of all texts that the provider accepts; the others are named.

        Raises Transient or Permanent of any request that held one of the texts, after those already
        under way have ended and `on_vectors` has seen what they brought; Snooze when the provider
        has to be left alone for longer than a request waits. A request that was limited is sent
        again. What is urgent is in the next request that is sent, and that is sent at once if one
        may be.
        """
        if len(texts) != len(token_counts):
            raise ValueError("each text needs its token count")
        caller = self._caller(texts, token_counts, on_progress, on_vectors)
        if caller.waiting:
            if self._is_closed:
                raise _stopped()
            self._active.add(caller)
            if is_urgent:
                self._queue.appendleft(caller)
            else:
                self._queue.append(caller)
            self._schedule(is_urgent=is_urgent)
            try:
                await caller.done
            finally:
                caller.waiting.clear()
                self._active.discard(caller)
        if caller.error:
            raise caller.error
        return Embedded(caller.vectors, caller.refused, caller.unusable)

    async def check(self) -> None:
        """Ask the provider for one vector when the process starts, whatever happened before.

        A process that starts may have other settings, or the operator has mended something: if the
        provider answers, all that waited for it goes on.
        """
        await self._requests.check_at_start()

    async def watch(self) -> None:
        """Try a provider that failed, if its pause is over and nobody else tries."""
        await self._requests.watch()

    async def embed_query(self, text: str, token_count: int) -> Vectors:
        """The vector of a text that somebody waits for, (dimension,).

        Raises Transient within 5 seconds, with `retry_after` when the provider is not to be asked
        now.
        """
        if self._requests.is_limited:
            # Past the callers that wait for the provider in their slots.
            return await self._requests.query(text, token_count)
        answer = await self.embed([text], [token_count], is_urgent=True)
        if answer.refused:
            raise refused_query()
        vector: Vectors = answer.vectors[0]
        return vector

    async def close(self) -> None:
        """Break off what is under way, with a Transient for its callers; close the embedder."""
        self._is_closed = True
        self._queue.clear()
        for caller in self._active:
            caller.fail(_stopped())
        await end(*self._tasks)
        for caller in self._active:
            caller.settle()
        if self._timer:
            self._timer.cancel()
        await self.embedder.close()

    def _caller(
        self,
        texts: Sequence[str],
        token_counts: Sequence[int],
        on_progress: OnProgress | None,
        on_vectors: OnVectors | None,
    ) -> Caller:
        # Providers answer a blank text with an error for the whole request.
        present = [index for index, text in enumerate(texts) if text.strip()]
        runs = group(
            [token_counts[index] for index in present],
            max_items=self.embedder.max_items,
            max_tokens=self.embedder.max_request_tokens,
        )
        caller = Caller(
            texts=texts,
            token_counts=token_counts,
            vectors=np.zeros((len(texts), self.embedder.model.dimension), np.float32),
            waiting=deque([present[position] for position in run] for run in runs),
            done=asyncio.get_running_loop().create_future(),
            on_progress=on_progress,
            on_vectors=on_vectors,
        )
        for index in sorted(set(range(len(texts))).difference(present)):
            caller.refuse(index, "the text is blank")
        return caller

    def _schedule(self, *, is_urgent: bool) -> None:
        """Send what fills a request at once, anything less after lingering."""
        waiting = [index_run for caller in self._queue for index_run in caller.waiting]
        is_full = sum(map(len, waiting)) >= self.embedder.max_items
        if is_urgent or is_full or len(waiting) > len(self._queue):
            self._send()
        elif self._timer is None and self._slots:
            is_alone = self._slots == self.embedder.concurrency
            delay = self._linger if is_alone else self._longest_linger()
            self._timer = asyncio.get_running_loop().call_later(delay, self._send)

    def _longest_linger(self) -> float:
        """With a request under way, whose return sends what waits."""
        return max(self._linger, min(_SHARE_OF_LAST * self._last_took, _LONGEST_LINGER))

    def _send(self) -> None:
        """Start as many requests as there are slots and texts."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        while self._slots and (rows := self._next_rows()):
            self._slots -= 1
            task = asyncio.create_task(self._run(rows))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next_rows(self) -> Rows:
        """A run of the caller whose turn it is, and those of others that fit beside it."""
        rows: Rows = []
        tokens = 0
        served: list[Caller] = []
        passed_over: list[Caller] = []
        for caller in self._queue:
            if not caller.waiting:
                continue
            run = caller.waiting[0]
            more = sum(caller.token_counts[index] for index in run)
            fits = (
                len(rows) + len(run) <= self.embedder.max_items
                and tokens + more <= self.embedder.max_request_tokens
            )
            if rows and not fits:
                passed_over.append(caller)
                continue
            rows += [(caller, index) for index in caller.waiting.popleft()]
            tokens += more
            caller.under_way += 1
            if caller.waiting:
                served.append(caller)
        self._queue = deque(passed_over + served)
        return rows

    async def _run(self, rows: Rows) -> None:
        started = time.monotonic()
        try:
            try:
                answers = await self._requests.resolve(rows)
            finally:
                self._last_took = time.monotonic() - started
                self._slots += 1
                self._send()
            shares = [share for answer in answers for share in _shares(*answer)]
            await asyncio.gather(*(caller.receive(own, vectors) for caller, own, vectors in shares))
        finally:
            for caller in callers(rows):
                caller.under_way -= 1
                caller.settle()


def _stopped() -> Transient:
    return Transient("embedding was stopped", code="embedding_unavailable")


def _shares(rows: Rows, vectors: Vectors) -> Iterator[tuple[Caller, list[int], Vectors]]:
    """Whose the vectors are: for each caller the indices of its texts, and their vectors."""
    places: dict[Caller, list[int]] = defaultdict(list)
    for place, (caller, _) in enumerate(rows):
        places[caller].append(place)
    for caller, own in places.items():
        yield caller, [rows[place][1] for place in own], vectors[own]
