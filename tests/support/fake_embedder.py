"""A fake embedder, which satisfies the protocol of the real ones."""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import Refused


class FakeEmbedder:
    """Derives vectors from a hash: equal texts get equal vectors. Records all requests."""

    def __init__(
        self,
        *,
        dimension: int = 8,
        max_items: int = 4,
        max_request_tokens: int = 1000,
        concurrency: int = 1,
        lane: str | None = None,
    ) -> None:
        self.model = EmbeddingModel(
            provider="local",
            name="fake",
            dimension=dimension,
            max_tokens=256,
            tokenizer="cl100k_base",
        )
        self.max_items = max_items
        self.max_request_tokens = max_request_tokens
        self.concurrency = concurrency
        self.lane = lane
        self.requests: list[list[str]] = []
        self.failures: list[Exception | None] = []
        """Errors to raise, one per request; None, or the end of the list, means success."""
        self.refuses: set[str] = set()
        """A request that contains one of these texts is refused."""
        self.answers: list[Vectors] = []
        """Vectors to return instead of the right ones, one item per request."""
        self.moods: dict[str, Any] = {}
        """By text: an error to raise, or vectors to return, for every request that contains it."""
        self.mood: Exception | None = None
        """An error to raise for every request."""
        self.delay = timedelta(0)
        self.gate: asyncio.Event | None = None
        """If set, requests wait until it opens."""
        self.under_way = self.most_under_way = 0
        self.closed = False

    @property
    def calls(self) -> int:
        return len(self.requests)

    @property
    def tokens(self) -> int:
        """Tokens of all requests, counting each word as one."""
        return sum(len(text.split()) for request in self.requests for text in request)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.requests.append(list(texts))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._answer(texts)
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        self.closed = True

    def vector(self, text: str) -> Vectors:
        """The vector of this text, of shape (dimension,)."""
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        numbers = np.random.default_rng(seed).standard_normal(self.model.dimension)
        unit: Vectors = (numbers / np.linalg.norm(numbers)).astype(np.float32)
        return unit

    async def _answer(self, texts: Sequence[str]) -> Vectors:
        failure = self.failures.pop(0) if self.failures else None
        await asyncio.sleep(self.delay.total_seconds())
        if self.gate:
            await self.gate.wait()
        if failure:
            raise failure
        # Each text has a context in front.
        if any(text.rpartition("\n\n")[2] in self.refuses for text in texts):
            raise Refused("HTTP 400")
        if self.mood:
            raise self.mood
        for mood in [self.moods[text] for text in texts if text in self.moods]:
            if isinstance(mood, Exception):
                raise mood
            answer: Vectors = mood
            return answer
        if self.answers:
            return self.answers.pop(0)
        return np.stack([self.vector(text) for text in texts])


class FakeQueryEmbedder(FakeEmbedder):
    """Knows questions from passages."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.queries: list[list[str]] = []

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.queries.append(list(texts))
        return await self.embed(texts)
