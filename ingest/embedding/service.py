"""The embedding service: jobs share requests; each gets its own vectors or its own error."""

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import numpy as np

from ingest.asynchronous.tasks import cancel_all
from ingest.embedding.caller_state import Caller, OnProgress, OnVectors, Rows, callers, group
from ingest.embedding.lane import EmbeddingLane
from ingest.embedding.one_request import RequestCounts
from ingest.embedding.retry_and_split import EmbeddingRequests, refused_query
from ingest.errors import Transient
from ingest.governor import Governor
from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder, NarrowEmbedder

# A request that is not full waits for more texts for at most this share of the last request's
# duration, and at most this many seconds.
_SHARE_OF_LAST: Final = 0.5
_LONGEST_LINGER: Final = 0.1


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    vectors: Vectors
    """(texts, dimension); zeros where the text was refused."""
    refused: dict[int, str]
    """Index of each refused text, and why."""
    unusable: AbstractSet[int] = frozenset()
    """The refused texts for which the provider never returned a usable vector."""


class EmbeddingService:
    """Micro-batches the texts of concurrent callers up to the limits of the embedder.

    One per process. It limits concurrent requests of the process; the governor limits all
    processes. Applications take turns, and so do the calls of each, one request at a time: small
    calls do not wait for large ones, nor for many of another application.
    """

    def __init__(
        self,
        embedder: Embedder,
        governor: Governor | None = None,
        *,
        linger: timedelta = timedelta(milliseconds=5),
        on_cost: Callable[[UUID, float], None] | None = None,
    ) -> None:
        """`linger`: how long a request with room waits for more texts if no other is running.

        While another request is running, it waits until that one returns, within a limit: each
        request costs as much as several texts, and the provider may limit requests.

        `on_cost`: called with the seconds that an application's texts took in an embedder of this
        process.
        """
        self.embedder = embedder
        self.unrelated = embedder.unrelated if isinstance(embedder, NarrowEmbedder) else 0.0
        """About the cosine of texts that have nothing in common."""
        self._requests = EmbeddingRequests(embedder, EmbeddingLane(governor, embedder))
        self._linger = linger.total_seconds()
        self.on_cost = on_cost
        self._last_took = 0.0
        self._active: set[Caller] = set()
        self._queue: deque[Caller] = deque()
        """Callers with texts not yet in a request, in the order of their turns."""
        self._slots = embedder.concurrency
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def counts(self) -> RequestCounts:
        """Requests, texts and tokens so far."""
        return self._requests.counts

    async def ready(self) -> None:
        """Raises Snooze while the provider is paused for longer than a request waits."""
        await self._requests.ready()

    async def embed(
        self,
        texts: Sequence[str],
        token_counts: Sequence[int],
        *,
        owner: UUID | None = None,
        on_progress: OnProgress | None = None,
        on_vectors: OnVectors | None = None,
        is_query: bool = False,
    ) -> EmbeddingResult:
        """Embed all texts that the provider accepts; refused texts are listed.

        Raises the Transient or Permanent of any request that held one of the texts, after running
        requests have ended and `on_vectors` has received their vectors. Raises Snooze while the
        provider is paused for longer than a request waits. A rate-limited request is sent again.
        A query goes into the next request, which is sent at once if a slot is free.
        """
        if len(texts) != len(token_counts):
            raise ValueError("each text needs its token count")
        caller = self._caller(texts, token_counts, on_progress, on_vectors)
        caller.owner, caller.is_query = owner, is_query
        if caller.waiting:
            if self._is_closed:
                raise _stopped()
            self._active.add(caller)
            if is_query:
                self._queue.appendleft(caller)
            else:
                self._enqueue(caller)
            self._schedule(is_urgent=is_query)
            try:
                await caller.done
            finally:
                caller.waiting.clear()
                self._active.discard(caller)
        if caller.error:
            raise caller.error
        return EmbeddingResult(caller.vectors, caller.refused, caller.unusable)

    async def check(self) -> None:
        """Check the provider when the process starts, even during a pause for failures.

        The settings may be new, or the operator may have fixed the cause: if the provider responds,
        all waiting jobs resume.
        """
        await self._requests.check_at_start()

    async def watch(self) -> None:
        """Try a provider that failed if its pause is over and no other process is trying it."""
        await self._requests.watch()

    async def embed_query(self, text: str, token_count: int) -> Vectors:
        """Return the vector of a query, (dimension,).

        Raises Transient within 5 seconds, with `retry_after` while the provider is paused.
        """
        if self._requests.is_limited:
            # Bypass the slots, which may be taken by requests that wait for the provider.
            return await self._requests.query(text, token_count)
        await self._requests.check_not_stopped()
        answer = await self.embed([text], [token_count], is_query=True)
        if answer.refused:
            raise refused_query()
        vector: Vectors = answer.vectors[0]
        return vector

    async def close(self) -> None:
        """Cancel running requests, with a Transient for their callers; close the embedder."""
        self._is_closed = True
        self._queue.clear()
        for caller in self._active:
            caller.fail(_stopped())
        await cancel_all(*self._tasks)
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
        # Leave out blank texts, because one makes a provider reject the whole request.
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

    def _enqueue(self, caller: Caller) -> None:
        """Queue a caller before those that have more calls of their application ahead of them."""
        ahead = sum(queued.owner == caller.owner for queued in self._queue)
        seen: Counter[UUID | None] = Counter()
        for place, queued in enumerate(self._queue):
            seen[queued.owner] += 1
            if seen[queued.owner] > ahead + 1:
                self._queue.insert(place, caller)
                return
        self._queue.append(caller)

    def _schedule(self, *, is_urgent: bool) -> None:
        """Send a full request at once, anything less after lingering."""
        waiting = [index_run for caller in self._queue for index_run in caller.waiting]
        is_full = sum(map(len, waiting)) >= self.embedder.max_items
        if is_urgent or is_full or len(waiting) > len(self._queue):
            self._send()
        elif self._timer is None and self._slots:
            is_alone = self._slots == self.embedder.concurrency
            delay = self._linger if is_alone else self._longest_linger()
            self._timer = asyncio.get_running_loop().call_later(delay, self._send)

    def _longest_linger(self) -> float:
        """Maximum linger while a request is running; when that returns, waiting texts are sent."""
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
        """The next run of the first caller in the queue, plus runs of other callers that fit."""
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
                and (not rows or caller.is_query == rows[0][0].is_query)
            )
            if rows and not fits:
                passed_over.append(caller)
                continue
            rows += [(caller, index) for index in caller.waiting.popleft()]
            tokens += more
            caller.in_flight += 1
            if caller.waiting:
                served.append(caller)
        self._queue = deque(passed_over)
        for caller in served:
            self._enqueue(caller)
        return rows

    async def _run(self, rows: Rows) -> None:
        started = time.monotonic()
        try:
            try:
                answers = await self._requests.resolve(rows)
            finally:
                self._last_took = time.monotonic() - started
                self._charge(rows, self._last_took)
                self._slots += 1
                self._send()
            shares = [share for answer in answers for share in _shares(*answer)]
            await asyncio.gather(*(caller.receive(own, vectors) for caller, own, vectors in shares))
        finally:
            for caller in callers(rows):
                caller.in_flight -= 1
                caller.settle()

    def _charge(self, rows: Rows, seconds: float) -> None:
        """Charge a request to the applications, by their shares of its tokens."""
        if self.on_cost is None or self.embedder.lane is not None:
            return
        tokens: Counter[UUID | None] = Counter()
        for caller, index in rows:
            tokens[caller.owner] += caller.token_counts[index]
        for owner, count in tokens.items():
            if owner is not None:
                self.on_cost(owner, seconds * count / max(tokens.total(), 1))


def _stopped() -> Transient:
    return Transient("embedding was stopped", code="embedding_unavailable")


def _shares(rows: Rows, vectors: Vectors) -> Iterator[tuple[Caller, list[int], Vectors]]:
    """Split the vectors by caller: for each, the indices of its texts and their vectors."""
    places: dict[Caller, list[int]] = defaultdict(list)
    for place, (caller, _) in enumerate(rows):
        places[caller].append(place)
    for caller, own in places.items():
        yield caller, [rows[place][1] for place in own], vectors[own]
